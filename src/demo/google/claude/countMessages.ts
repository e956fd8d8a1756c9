// Answers `count-tokens:rawPredict`, which counts the tokens of a messages body; the body names the model.
// Must not depend on sockets or credentials.

import { errorAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"
import { publisherModelMissing } from "../shared/errors.ts"
import type { Call, Operation } from "../shared/operation.ts"
import { claudeError, claudeId, claudeJson } from "./answers.ts"
import { isServedClaude } from "./models.ts"
import { claudeTokens } from "./usage.ts"
import { validateCountMessages } from "./validate.ts"

const answer = (call: Call): Answer => {
  const { route, headers, body, serial, now, acceptForeignSignatures, day } = call
  const requestId = claudeId("req_vrtx_011C", `${serial} ${now}`)
  const verdict = validateCountMessages(body, { betaHeader: headers["anthropic-beta"], acceptForeignSignatures, day })
  if (!verdict.accepted) return claudeError("invalid_request_error", verdict.message, requestId)
  const { model } = verdict.request
  // This operation does not accept aliases of the newest version.
  if (!isServedClaude(model, call) || /[@-](latest|default)$/.test(model)) {
    return errorAnswer(
      publisherModelMissing({ ...route, target: { kind: "model", publisher: "anthropic", id: model } }),
      false
    )
  }
  return claudeJson(200, { input_tokens: claudeTokens(verdict.request) })
}

export const countMessages: Operation = {
  matches: ({ target, service, operation }) =>
    service === "vertex" &&
    target.kind === "model" &&
    target.publisher === "anthropic" &&
    target.id === "count-tokens" &&
    operation === "rawPredict",
  answer
}
