// The operation countTokens, in the form of each service.
// It must not know sockets or credentials.

import { errorAnswer, jsonAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import { isGeminiTarget, serviceOf, unknownModel } from "./gemini.ts"
import type { Call, Operation } from "./operations.ts"
import { billableCharacters, promptTokens, totalOf } from "./usage.ts"
import { validateCount } from "./validate.ts"

const answer = (call: Call): Answer => {
  const { route } = call
  const missing = unknownModel(route)
  if (missing !== undefined) return errorAnswer(missing, false)
  const service = serviceOf(route)
  const verdict = validateCount(call.body, { service, model: route.target.id, acceptForeignSignatures: call.acceptForeignSignatures })
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  const counted = verdict.request.generateContentRequest ?? verdict.request
  const promptTokensDetails = promptTokens(counted)
  const totalTokens = totalOf(promptTokensDetails)
  return service.backend === "google"
    ? jsonAnswer(200, { totalTokens, promptTokensDetails })
    : jsonAnswer(200, { totalTokens, totalBillableCharacters: billableCharacters(counted), promptTokensDetails })
}

export const countTokens: Operation = {
  matches: (route) => isGeminiTarget(route) && route.operation === "countTokens",
  answer
}
