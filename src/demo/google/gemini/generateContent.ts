// Answers generateContent and streamGenerateContent: a reply as one JSON value or as the sequence of a stream.
// It must not depend on sockets or credentials.
// Source: recordings of both services, for each difference between them.
import { type Backend, type GenerateRequest, type Part, textTokens, totalOf } from "../shared/generateRequest.ts"
import {
  type Answer,
  badRequest,
  type Call,
  jsonAnswer,
  sseEvent,
  streamAnswer,
  textPieces,
  refuse
} from "../shared/answers.ts"
import { type Candidate, type Reply, replyTo } from "./replies.ts"
import { createHash } from "node:crypto"
import { applyFault, type FaultWire } from "../shared/faults.ts"
import type { Route } from "../shared/routes.ts"
import { googleOperation, modelOf, serviceOf, validateGenerate, type Verdict } from "./validate.ts"

export interface GeminiIdentity {
  readonly backend: Backend
  readonly model: string
  readonly responseId: string
  /** ISO time of the answer; only Vertex AI returns it. */
  readonly createTime: string
}

type Json = Readonly<Record<string, unknown>>

const identityFields = (identity: GeminiIdentity): Json => ({
  modelVersion: identity.model,
  ...(identity.backend === "vertex" ? { createTime: identity.createTime } : {}),
  responseId: identity.responseId
})

/** Usage after `seen` answer tokens; `undefined` means the end of the answer. */
const usageFields = (reply: Reply, identity: GeminiIdentity, seen: number | undefined): Json => {
  const { prompt, candidates, thoughts, toolUse, cached } = reply.usage
  const promptCount = totalOf(prompt) + cached
  const answered = seen ?? totalOf(candidates)
  const whole = seen === undefined
  const details =
    cached === 0
      ? prompt
      : prompt.map((count) => (count.modality === "TEXT" ? { ...count, tokenCount: count.tokenCount + cached } : count))
  return {
    promptTokenCount: promptCount,
    ...(answered > 0 ? { candidatesTokenCount: answered } : {}),
    totalTokenCount: promptCount + answered + thoughts + toolUse,
    ...(cached > 0
      ? { cachedContentTokenCount: cached, cacheTokensDetails: [{ modality: "TEXT", tokenCount: cached }] }
      : {}),
    promptTokensDetails: details,
    ...(whole &&
    candidates.length > 0 &&
    (identity.backend === "vertex" || candidates.some((count) => count.modality !== "TEXT"))
      ? { candidatesTokensDetails: candidates }
      : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(toolUse > 0
      ? { toolUsePromptTokenCount: toolUse, toolUsePromptTokensDetails: [{ modality: "TEXT", tokenCount: toolUse }] }
      : {}),
    ...(identity.backend === "vertex" ? { trafficType: "ON_DEMAND" } : { serviceTier: "standard" })
  }
}

const endFields = (candidate: Candidate): Json => ({
  finishReason: candidate.finishReason,
  ...(candidate.safetyRatings === undefined ? {} : { safetyRatings: candidate.safetyRatings }),
  ...(candidate.groundingMetadata === undefined ? {} : { groundingMetadata: candidate.groundingMetadata }),
  ...candidate.logprobs
})

const contentField = (parts: ReadonlyArray<Part>): Json =>
  parts.length === 0 ? { content: { role: "model" } } : { content: { parts, role: "model" } }

const indexField = (identity: GeminiIdentity, index: number): Json => (identity.backend === "google" ? { index } : {})

const signedParts = (candidate: Candidate): ReadonlyArray<Part> => {
  const { textSignature, parts } = candidate
  if (textSignature === undefined) return parts
  const last = parts.findLastIndex((part) => part.text !== undefined && !part.thought)
  return parts.map((part, index) => (index === last ? { ...part, thoughtSignature: textSignature } : part))
}

/** The one JSON value of a unary answer. */
export const unaryBody = (reply: Reply, identity: GeminiIdentity): Json => {
  const usageMetadata = usageFields(reply, identity, undefined)
  if (reply.promptFeedback !== undefined)
    return { promptFeedback: reply.promptFeedback, usageMetadata, ...identityFields(identity) }
  const candidates = reply.candidates.map((candidate, index) => ({
    ...contentField(signedParts(candidate)),
    ...endFields(candidate),
    ...indexField(identity, index)
  }))
  return { candidates, usageMetadata, ...identityFields(identity) }
}

const isPlainText = (part: Part): boolean =>
  part.text !== undefined && !part.thought && part.thoughtSignature === undefined

/** The parts of each event: text in pieces, other kinds whole; a text signature comes last, in an empty part. */
const streamedParts = (candidate: Candidate): ReadonlyArray<ReadonlyArray<Part>> => {
  const events = candidate.parts.flatMap((part) =>
    isPlainText(part) ? textPieces(part.text ?? "").map((text): ReadonlyArray<Part> => [{ text }]) : [[part]]
  )
  if (candidate.textSignature !== undefined)
    return [...events, [{ text: "", thoughtSignature: candidate.textSignature }]]
  // A call is followed by an empty text part that carries the end (recorded on both services).
  return candidate.parts.at(-1)?.functionCall === undefined ? events : [...events, [{ text: "" }]]
}

export interface StreamChunk {
  readonly value: Json
  /** Answer tokens that this event adds; pacing counts them. */
  readonly tokens: number
}

/** The events of a streamed answer. */
export const streamChunks = (reply: Reply, identity: GeminiIdentity): ReadonlyArray<StreamChunk> => {
  if (reply.promptFeedback !== undefined) return [{ value: unaryBody(reply, identity), tokens: 0 }]
  const plans = reply.candidates.flatMap((candidate, index) => {
    const events = streamedParts(candidate)
    return (events.length === 0 ? [[]] : events).map((parts, at) => ({
      candidate,
      index,
      parts,
      ends: at >= events.length - 1
    }))
  })
  let seen = 0
  return plans.map(({ candidate, index, parts, ends }, at) => {
    const text = parts.map((part) => part.text ?? "").join("")
    const tokens = text === "" ? 1 : textTokens(text)
    if (parts.some((part) => !part.thought && part.text !== ""))
      seen = Math.min(seen + tokens, totalOf(reply.usage.candidates))
    const last = at === plans.length - 1
    const usageMetadata =
      last || identity.backend === "google"
        ? usageFields(reply, identity, last ? undefined : seen)
        : { trafficType: "ON_DEMAND" }
    const candidates = [
      { ...contentField(parts), ...(ends ? endFields(candidate) : {}), ...indexField(identity, index) }
    ]
    return { value: { candidates, usageMetadata, ...identityFields(identity) }, tokens }
  })
}

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

const isStream = ({ operation }: Route): boolean => operation === "streamGenerateContent"

const faultWire = (route: Route): FaultWire => ({
  refusal: (error) => refuse(route, error),
  errorEvent: (error) => (route.sse ? sseEvent({ error }) : `${JSON.stringify([{ error }], null, 2)}\n`),
  lineEvent: (text, isFirst) => {
    const event = { candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] }
    return route.sse ? sseEvent(event) : `${isFirst ? "[" : ",\r\n"}${JSON.stringify(event, null, 2)}`
  }
})

const answer = (request: GenerateRequest, call: Call): Answer => {
  const { route, tokensPerSecond: rate } = call
  const reply = replyTo(request, { backend: serviceOf(route).backend, model: modelOf(call) })
  const identity = identityOf(call)
  if (!isStream(route)) return jsonAnswer(200, unaryBody(reply, identity))
  const events = streamChunks(reply, identity).map(({ value, tokens }) => ({
    value,
    pauseMillis: rate > 0 ? (tokens * 1000) / rate : 0
  }))
  return streamAnswer(events, route.sse)
}

export const generateContent = googleOperation({
  matches: ({ operation }) => /^(generateContent|streamGenerateContent)$/.test(operation),
  kinds: () => ["chat"],
  validate: (call) => {
    const { acceptForeignSignatures, body, checkRequests, route } = call
    const checking = { service: serviceOf(route), model: modelOf(call), acceptForeignSignatures }
    return checkRequests ? validateGenerate(body, checking) : unchecked(body)
  },
  answer,
  withFault: ({ callNumber, route }, good) =>
    applyFault(route.target.id, good, {
      callNumber,
      streaming: isStream(route),
      sse: route.sse,
      wire: faultWire(route)
    })
})
