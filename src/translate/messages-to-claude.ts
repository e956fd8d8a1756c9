// Anthropic messages to Claude on Vertex AI: the same dialect at both ends, so bodies and events pass as their own bytes.
// It must not know HTTP, accounts or OpenAI words. Rules: T1801, T1832, T1901-T1907 and table 7.
import * as Result from "effect/Result"
import { type TopLevelEdits, editTopLevel } from "../domain/text/editTopLevel.ts"
import { BodyInvalid } from "../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { upstreamText } from "../domain/text/upstreamText.ts"
import type { Redaction } from "../domain/text/redaction.ts"
import { vertexVersion } from "../wire/anthropic/Messages.ts"
import { noFrames, readFrame, restOf, type WholeFrame, type WholeFrameState, wholeFrames } from "../wire/wholeFrames.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { cutAnswer } from "./shared/reply/badStream.ts"
import { betaRule, betasOf } from "./shared/claude/betas.ts"
import { countedId } from "./shared/claude/claudeIds.ts"
import { usageOf } from "./shared/claude/claudeUsage.ts"
import { mergeUsage } from "./shared/reply/counts.ts"
import { failureFromGoogle } from "./shared/google/googleFailure.ts"
import { readUpstreamError, reasonOfStatus, statusInside } from "./shared/reply/upstreamError.ts"
import { type Fold, type StreamFailed, streamFailed, type Unary } from "./Translator.ts"

/** What the gateway reads of a native body; everything else is in its bytes, and the upstream's to judge. */
export interface MessagesRequest {
  readonly model: string
  readonly stream: boolean
  /** Flags of the body's own `anthropic_beta`. */
  readonly betas: ReadonlyArray<string>
  /** The whole body as it came: JSON text of one object. */
  readonly bytes: Uint8Array
}

/** A complete answer of the upstream as its own bytes. */
export interface PassedReply {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** What the upstream counted, read beside the bytes. */
  readonly usage: Usage | undefined
}

/** The counts of a message, or of an event that tells some. */
const countsOf = (body: Json | undefined): JsonObject | undefined =>
  isJsonObject(body) && isJsonObject(body["usage"]) ? body["usage"] : undefined

/** What the answer to a message has cost; the answer to a count has no such field. */
export const usageOfReply = (body: Json): Usage | undefined => {
  const counts = countsOf(body)
  return counts === undefined ? undefined : usageOf(counts)
}

const invalid = (code: string, param: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message: `${param} ${message}` }))

/** Reads what both routes need: `model`, and `messages` that are some (T1904). */
export const readCounted = (body: JsonObject, bytes: Uint8Array): Result.Result<MessagesRequest, BodyInvalid> => {
  const { model, messages, stream } = body
  if (model === undefined || model === null) return invalid("missing_required_parameter", "model", "is missing.")
  if (typeof model !== "string") return invalid("invalid_type", "model", "has the wrong type: expected string.")
  if (messages === undefined || messages === null)
    return invalid("missing_required_parameter", "messages", "is missing.")
  if (!Array.isArray(messages)) return invalid("invalid_type", "messages", "has the wrong type: expected array.")
  if (messages.length === 0) return invalid("empty_array", "messages", "is empty; send at least one message.")
  const betas = betasOf(body["anthropic_beta"])
  return betas === undefined
    ? invalid("invalid_header", "anthropic-beta", `${betaRule}.`)
    : Result.succeed({ model, stream: stream === true, betas, bytes })
}

/** Reads the body of a message to answer, which says how long the answer may be. */
export const readMessages = (body: JsonObject, bytes: Uint8Array): Result.Result<MessagesRequest, BodyInvalid> =>
  Result.flatMap(readCounted(body, bytes), (request) => {
    const most = body["max_tokens"]
    if (most === undefined || most === null) return invalid("missing_required_parameter", "max_tokens", "is missing.")
    return typeof most === "number" && Number.isSafeInteger(most) && most > 0
      ? Result.succeed(request)
      : invalid("invalid_value", "max_tokens", "is a positive whole number below 2^53.")
  })

/** Vertex AI reads the version from the body and flags from the header. Source: anthropics/anthropic-sdk-typescript packages/vertex-sdk. */
const always: TopLevelEdits = { anthropic_version: JSON.stringify(vertexVersion), anthropic_beta: undefined }

/** The upstream's body of a message to answer: the model stands in the URL. */
export const messagesBody = (request: MessagesRequest): Uint8Array =>
  editTopLevel(request.bytes, { ...always, model: undefined })

/** The upstream's body of a message to count: the URL names no model, and nothing is streamed. */
export const countedBody = (request: MessagesRequest, modelId: string): Uint8Array =>
  editTopLevel(request.bytes, { ...always, model: JSON.stringify(countedId(modelId)), stream: undefined })

/** A refused call. What the model itself refuses is told in its own words: hints for other dialects would mislead (T1905). */
export const failureFromMessages: Unary<never, unknown, unknown, unknown>["failure"] = (
  status,
  headers,
  body,
  origin
) =>
  status === 400 || status === 413
    ? reasonOfStatus(status, headers, readUpstreamError(status, headers, body), origin)
    : failureFromGoogle(status, headers, body, origin)

export interface MessageStreamState {
  readonly frames: WholeFrameState
  /** Whether a frame has gone out. */
  readonly begun: boolean
  /** `ended` has seen `message_stop`, or the upstream's own error, behind which nothing is owed. */
  readonly phase: "open" | "ended" | "failed"
  readonly usage: JsonObject | undefined
  /** True after the event with the stop reason, which has the last counts; false after an error in their place. */
  readonly isCounted: boolean | undefined
  /** Bytes of output so far, without the JSON around them. */
  readonly written: number
}

const start: MessageStreamState = {
  frames: noFrames,
  begun: false,
  phase: "open",
  usage: undefined,
  isCounted: undefined,
  written: 0
}

/** The bytes of a content event around its text, without the `event:` line. */
const envelopeBytes = 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n'
  .length

/**
 * Whole frames as they came, all of a read as one piece. An error as the first event fails the call, so that it can still
 * become a status; a later one passes, without what must not be shown. An error without a name is Google's own, and no event of this dialect.
 */
export const messageStream = (
  limits: { readonly eventBytes: number },
  redaction: Redaction
): Fold<MessageStreamState, Uint8Array, Uint8Array | StreamFailed> => ({
  initial: () => start,
  step: (state, bytes) => {
    if (state.phase === "failed") return [state, []]
    const [frames, whole] = wholeFrames(state.frames, bytes)
    const done: Array<Uint8Array> = []
    let run: Array<Uint8Array> = []
    let { begun, isCounted, phase, usage, written } = state
    for (const frame of whole) {
      const { type, error, counts, isLast } = eventOf(frame, redaction)
      const isOver = phase === "ended"
      // After the first event the client gets the upstream's own frame; an error without a name is no frame of this dialect.
      if (error !== undefined && !isOver && (!begun || frame.event === "")) {
        return [
          { ...state, frames, begun, phase: "failed", usage, written },
          [...done, ...together(run), streamFailed(error())]
        ]
      }
      if (!isOver) {
        if (type === "content_block_delta")
          written += Math.max(0, frame.bytes.length - envelopeBytes - nameBytes(frame))
        if (isLast === true) isCounted = true
        if (type === "error") isCounted ??= false
        if (counts !== undefined) usage = mergeUsage(usage, counts)
      }
      if (type === "message_stop" || type === "error") phase = "ended"
      if (type !== "") begun = true
      const shown = type === "error" || error !== undefined ? shownError(frame, redaction) : undefined
      if (shown === undefined) run.push(frame.bytes)
      else {
        done.push(...together(run), shown)
        run = []
      }
    }
    const out = [...done, ...together(run)]
    return frames.size > limits.eventBytes
      ? [{ frames: noFrames, begun, phase: "failed", usage, isCounted, written }, [...out, streamFailed(tooLarge)]]
      : [{ frames, begun, phase, usage, isCounted, written }, out]
  },
  onHalt: ({ frames, begun, phase }) => {
    if (phase !== "open") return []
    // What never was a frame may be an error that came as plain JSON.
    const error = begun ? undefined : errorIn(jsonOf(decoder.decode(restOf(frames))))
    return [streamFailed(error === undefined ? cutAnswer : failureInside(error, redaction))]
  },
  usage: ({ usage }) => (usage === undefined ? undefined : usageOf(usage)),
  progress: ({ isCounted, written }) => ({ isCounted, characters: written })
})

const nameBytes = ({ event }: WholeFrame): number => (event === "" ? 0 : "event: \n".length + event.length)

/** The frame of an error without what must not be shown; undefined where nothing of that is in it, so that its own bytes pass. */
const shownError = ({ bytes }: WholeFrame, redaction: Redaction): Uint8Array | undefined => {
  const data = readFrame(bytes)?.data ?? decoder.decode(bytes)
  const event = jsonOf(data)
  const shown = isJsonObject(event) ? JSON.stringify(publicError(event, redaction)) : upstreamText(redaction.text(data))
  return shown === (isJsonObject(event) ? JSON.stringify(event) : data)
    ? undefined
    : encoder.encode(`event: error\ndata: ${shown}\n\n`)
}

/** The error's message is text like that of any other error; the rest loses known values only. */
const publicError = (event: JsonObject, redaction: Redaction): Json => {
  const shown = redaction.json(event)
  const error = isJsonObject(shown) ? shown["error"] : undefined
  const message = isJsonObject(error) ? error["message"] : undefined
  return isJsonObject(shown) && isJsonObject(error) && typeof message === "string"
    ? { ...shown, error: { ...error, message: upstreamText(message) } }
    : shown
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const tooLarge: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: "The upstream sent an event over the size limit."
}

/** Frames of one read stand one behind the other in memory, but for one that began in an earlier read. */
const together = (frames: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const last = frames.at(-1)
  const first = frames.find((frame) => frame.buffer === last?.buffer)
  if (first === undefined || last === undefined || first === last) return frames
  const run = new Uint8Array(first.buffer, first.byteOffset, last.byteOffset + last.byteLength - first.byteOffset)
  return frames[0] === first ? [run] : [...frames.slice(0, frames.indexOf(first)), run]
}

interface ReadEvent {
  readonly type: string
  /** Why, of an event that is an error; read only when it is asked. */
  readonly error?: () => Reason
  readonly counts?: JsonObject | undefined
  /** It has the stop reason. */
  readonly isLast?: boolean
}

/** What has to be known of an event; most are known by their name alone. */
const eventOf = ({ bytes, event }: WholeFrame, redaction: Redaction): ReadEvent => {
  if (event === "message_start" || event === "message_delta") {
    const value = jsonOf(readFrame(bytes)?.data ?? "")
    return { type: event, counts: countsIn(value), isLast: endsAnswer(value) }
  }
  if (event !== "" && event !== "error") return { type: event }
  const value = jsonOf(readFrame(bytes)?.data ?? "")
  const error = errorIn(value)
  const type = event === "" && isJsonObject(value) && typeof value["type"] === "string" ? value["type"] : event
  return error === undefined
    ? { type, counts: countsIn(value), isLast: endsAnswer(value) }
    : { type, error: () => failureInside(error, redaction) }
}

const endsAnswer = (event: Json): boolean =>
  isJsonObject(event) && isJsonObject(event["delta"]) && typeof event["delta"]["stop_reason"] === "string"

/** The first event of an answer tells its counts within the message, a later one beside what it changes. */
const countsIn = (event: Json): JsonObject | undefined =>
  isJsonObject(event) ? (countsOf(event["message"]) ?? countsOf(event)) : undefined

/** Whose credential was refused cannot be told inside a 200; nobody is blamed for a stored one. */
const failureInside = (error: JsonObject, redaction: Redaction): Reason =>
  failureFromMessages(statusInside(error), {}, redaction.json({ error }), "stored")

const jsonOf = (text: string): Json => Result.getOrElse(parseJsonText(text), () => null)

/** `{error}`, or Google's array of one. */
const errorIn = (value: Json): JsonObject | undefined => {
  const holder = Array.isArray(value) ? value[0] : value
  return isJsonObject(holder) && isJsonObject(holder["error"]) ? holder["error"] : undefined
}
