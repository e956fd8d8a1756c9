// Answers generateContent and streamGenerateContent in the form of each service.
// Must not depend on sockets or credentials.

import { createHash } from "node:crypto"
import { errorAnswer, jsonAnswer, sseEvent, streamAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"
import { badRequest } from "../shared/errors.ts"
import { applyFault } from "../shared/faults.ts"
import type { FaultWire } from "../shared/faults.ts"
import type { GenerateRequest } from "../shared/generateRequest.ts"
import type { Call, Operation } from "../shared/operation.ts"
import { streamChunks, unaryBody } from "./chunks.ts"
import type { GeminiIdentity } from "./chunks.ts"
import { replyTo } from "./replies.ts"
import { isGoogleTarget, modelOf, serviceOf, unknownModel } from "./targets.ts"
import { validateGenerate } from "./validate.ts"
import type { Verdict } from "./validate.ts"

/** Accepts any body from which a reply can be made. */
const unchecked = (body: unknown): Verdict<GenerateRequest> => {
  const usable = typeof body === "object" && body !== null && "contents" in body && Array.isArray(body.contents)
  if (usable) return { accepted: true, request: body as GenerateRequest } // The shape is checked above.
  return {
    accepted: false,
    error: badRequest([{ field: "contents", description: "contents: required field is not set" }])
  }
}

const identityOf = (call: Call): GeminiIdentity => {
  const { route } = call
  const serial = createHash("sha256").update(`response ${call.serial} ${call.now}`).digest("base64url")
  return {
    backend: serviceOf(route).backend,
    model: route.target.kind === "endpoint" ? route.target.id : modelOf(call),
    responseId: serial.slice(0, 22),
    createTime: new Date(call.now).toISOString().replace("Z", "000Z")
  }
}

const faultWire = (streaming: boolean, sse: boolean): FaultWire => ({
  refusal: (error) => errorAnswer(error, streaming && !sse),
  errorEvent: (error) => (sse ? sseEvent({ error }) : `${JSON.stringify([{ error }], null, 2)}\n`),
  lineEvent: (text, isFirst) => {
    const event = { candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] }
    return sse ? sseEvent(event) : `${isFirst ? "[" : ",\r\n"}${JSON.stringify(event, null, 2)}`
  }
})

const answer = (call: Call): Answer => {
  const { route } = call
  const model = modelOf(call)
  const streaming = route.operation === "streamGenerateContent"
  const inArray = streaming && !route.sse
  const missing = unknownModel(call, ["chat"])
  if (missing !== undefined) return errorAnswer(missing, inArray)
  const service = serviceOf(route)
  const verdict = call.checkRequests
    ? validateGenerate(call.body, { service, model, acceptForeignSignatures: call.acceptForeignSignatures })
    : unchecked(call.body)
  if (!verdict.accepted) return errorAnswer(verdict.error, inArray)
  const reply = replyTo(verdict.request, { backend: service.backend, model })
  const identity = identityOf(call)
  const rate = call.tokensPerSecond
  const good = streaming
    ? streamAnswer(
        streamChunks(reply, identity).map(({ value, tokens }) => ({
          value,
          pauseMillis: rate > 0 ? (tokens * 1000) / rate : 0
        })),
        route.sse
      )
    : jsonAnswer(200, unaryBody(reply, identity))
  return applyFault(route.target.id, good, {
    callNumber: call.callNumber,
    streaming,
    sse: route.sse,
    wire: faultWire(streaming, route.sse)
  })
}

export const generateContent: Operation = {
  matches: (route) => isGoogleTarget(route) && /^(generateContent|streamGenerateContent)$/.test(route.operation),
  answer
}
