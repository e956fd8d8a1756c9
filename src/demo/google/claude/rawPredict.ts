// Answers rawPredict and streamRawPredict of Claude on Vertex AI, and count-tokens:rawPredict, whose body names the model.
// It must not depend on sockets or credentials.
import {
  type Answer,
  type Call,
  errorAnswer,
  refuse,
  type GoogleError,
  type Operation,
  publisherModelMissing
} from "../shared/answers.ts"
import { applyFault, type FaultWire } from "../shared/faults.ts"
import {
  claudeBody,
  claudeError,
  claudeErrorValue,
  claudeEvents,
  claudeFrame,
  claudeId,
  claudeJson,
  claudeStream
} from "./answers.ts"
import { claudeFacts, isServedClaude, modelInAnswers } from "./models.ts"
import { claudeReply } from "./replies.ts"
import { claudeTokens, type MessagesRequest } from "./request.ts"
import { type ClaudeVerdict, validateCountMessages, validateMessages } from "./validate.ts"

/** Accepts any body from which a reply can be made. */
const unchecked = (body: unknown): ClaudeVerdict<MessagesRequest> => {
  const usable =
    typeof body === "object" &&
    body !== null &&
    "messages" in body &&
    Array.isArray(body.messages) &&
    "max_tokens" in body
  return usable
    ? { accepted: true, request: body as MessagesRequest } // The shape is checked above.
    : { accepted: false, message: "messages: Field required" }
}

/** Google's front end refuses in Google's form; the model servers and errors inside a stream use Anthropic's form. */
const faultWire = (requestId: string): FaultWire => {
  const typeOf = (error: GoogleError) => (error.status === "UNAVAILABLE" ? "overloaded_error" : "api_error")
  const textOf = (error: GoogleError) => (error.status === "UNAVAILABLE" ? "Overloaded" : "Internal server error")
  return {
    refusal: (error) => errorAnswer(error, false),
    modelRefusal: (error) => claudeError(typeOf(error), textOf(error), requestId),
    errorEvent: (error) => claudeFrame(claudeErrorValue(typeOf(error), textOf(error), requestId)),
    lineEvent: (text) => claudeFrame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    begun: 5
  }
}

const answer = (call: Call): Answer => {
  const { route, headers, callNumber } = call
  const model = route.target.id
  if (!isServedClaude(model, call)) return refuse(route, publisherModelMissing(route))
  const seed = `${call.serial} ${call.now}`
  const requestId = claudeId("req_vrtx_011C", seed)
  const verdict = call.checkRequests
    ? validateMessages(call.body, {
        model,
        betaHeader: headers["anthropic-beta"],
        acceptForeignSignatures: call.acceptForeignSignatures,
        day: call.day
      })
    : unchecked(call.body)
  if (!verdict.accepted) return claudeError("invalid_request_error", verdict.message, requestId)
  // The method of the path and `stream` of the body must agree, as on Vertex AI.
  const streaming = verdict.request.stream === true
  if (streaming !== (route.operation === "streamRawPredict")) {
    const message = streaming
      ? "stream: rawPredict does not stream, use streamRawPredict"
      : "stream: streamRawPredict needs `stream` to be true"
    return claudeError("invalid_request_error", message, requestId)
  }
  const reply = claudeReply(verdict.request, model)
  const { detailed } = claudeFacts(model)
  const identity = {
    id: claudeId("msg_vrtx_01", seed),
    model: modelInAnswers(model),
    detailed,
    vertexEvent: callNumber % 2 === 0
  }
  const good = streaming
    ? claudeStream(claudeEvents(reply, identity), call.tokensPerSecond)
    : claudeJson(200, claudeBody(reply, identity))
  return applyFault(model, good, { callNumber, streaming, sse: true, wire: faultWire(requestId) })
}

export const rawPredict: Operation = {
  matches: ({ target, service, operation }) =>
    service === "vertex" &&
    target.kind === "model" &&
    target.publisher === "anthropic" &&
    /^(rawPredict|streamRawPredict)$/.test(operation),
  answer
}

const countAnswer = (call: Call): Answer => {
  const { route, headers, body, serial, now, acceptForeignSignatures, day } = call
  const requestId = claudeId("req_vrtx_011C", `${serial} ${now}`)
  const verdict = validateCountMessages(body, { betaHeader: headers["anthropic-beta"], acceptForeignSignatures, day })
  if (!verdict.accepted) return claudeError("invalid_request_error", verdict.message, requestId)
  const { model } = verdict.request
  // This operation does not accept aliases of the newest version.
  if (!isServedClaude(model, call) || /[@-](latest|default)$/.test(model)) {
    return refuse(
      route,
      publisherModelMissing({ ...route, target: { kind: "model", publisher: "anthropic", id: model } })
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
  answer: countAnswer
}
