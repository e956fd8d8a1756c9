// Passes Anthropic messages through to Claude on Vertex AI: same dialect, so bodies and events keep their bytes.
// Must not depend on HTTP, accounts or OpenAI's format. Rules: T1801, T1832, T1901-T1907 and table 7.
import * as Result from "effect/Result"
import { BodyInvalid } from "../domain/GatewayError.ts"
import { answerBounds } from "../domain/Limits.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject, type MemberSpan, parseJsonText } from "../domain/text/json.ts"
import { upstreamText } from "../domain/text/publicText.ts"
import type { Redaction } from "../domain/text/redaction.ts"
import { type TopLevelEdits, editTopLevel, withKeys } from "../domain/text/topMembers.ts"
import type { ModelStatus, Usage } from "../wire/openai/ChatReply.ts"
import {
  joinRanges,
  noFrames,
  readFrame,
  unfinishedBytes,
  type WholeFrame,
  wholeFrames,
  type WholeFrameState
} from "../wire/wholeFrames.ts"
import type { SignedCall } from "./shared/chat-request/signatures.ts"
import { betaRule, betasOfFields, bodyBetas, claudeVersion, countedId, withoutThread } from "./shared/claude.ts"
import {
  cutAnswer,
  largeEvent,
  readUpstreamError,
  reasonOfStatus,
  statusInside,
  tooManyEvents,
  tooSilent
} from "./shared/reply/upstreamError.ts"
import { failureFromGoogle, retentionRefusal } from "./shared/reply/upstreamFailures.ts"
import { claudeUsage, mergeUsage } from "./shared/reply/usage.ts"
import { type Fold, type StreamFailed, streamFailed, type Unary } from "./Translator.ts"

/** The fields of a native body that the gateway reads; the upstream validates the rest. */
export interface MessagesRequest {
  readonly model: string
  readonly stream: boolean
  /** Flags of the body's own `anthropic_beta`, and those that its fields need. */
  readonly betas: ReadonlyArray<string>
  /** The body's own `anthropic_version`. */
  readonly version: Json | undefined
  /** The person or account that its `metadata.user_id` names, for the request log. */
  readonly user?: Json | undefined
  /** The unchanged body: JSON text of one object. */
  readonly bytes: Uint8Array
  /** Its members, where the pass that checked the bounds has found them. */
  readonly spans?: ReadonlyArray<MemberSpan> | undefined
  /** The client speaks to Vertex AI itself: the bytes are those of rawPredict already. */
  readonly isRaw?: true
  /** The client fails at events that only Vertex AI has. */
  readonly hidesVertexEvents?: true
}

/** A complete answer of the upstream as its own bytes. */
export interface PassedReply {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** The upstream's counts, read from the same bytes. */
  readonly usage: Usage | undefined
  /** Signed calls of an answer that was translated. */
  readonly signed?: ReadonlyArray<SignedCall>
  /** Pictures that are paid by number. */
  readonly images?: number
  /** What the upstream reports of its model's life (M-703). */
  readonly modelStatus?: ModelStatus | undefined
}

/** The counts of a message, or of an event with counts. */
const countsOf = (body: Json | undefined): JsonObject | undefined =>
  isJsonObject(body) && isJsonObject(body["usage"]) ? body["usage"] : undefined

/** The usage of a message answer; a count answer has no such field. */
export const usageOfReply = (body: Json): Usage | undefined => {
  const counts = countsOf(body)
  return counts === undefined ? undefined : claudeUsage(counts)
}

/** Whether the JSON of a 200 can be a message: each has its `type`. */
export const isMessage = (body: Json): boolean => isJsonObject(body) && typeof body["type"] === "string"

/** Whether the JSON of a 200 can be a count of tokens. */
export const isMessageCount = (body: Json): boolean => isJsonObject(body) && typeof body["input_tokens"] === "number"

const invalid = (code: string, param: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message: `${param} ${message}` }))

const joinBetas = (given: ReadonlyArray<string>, needed: ReadonlyArray<string>): ReadonlyArray<string> =>
  needed.length === 0 ? given : [...new Set([...given, ...needed])]

/** Reads the fields of both routes: `model` and non-empty `messages` (T1904). */
export const readCountRequest = (
  body: JsonObject,
  bytes: Uint8Array,
  spans?: ReadonlyArray<MemberSpan>
): Result.Result<MessagesRequest, BodyInvalid> => {
  const { metadata, model, messages, stream } = body
  if (model === undefined || model === null) return invalid("missing_required_parameter", "model", "is missing.")
  if (typeof model !== "string") return invalid("invalid_type", "model", "has the wrong type: expected string.")
  if (messages === undefined || messages === null)
    return invalid("missing_required_parameter", "messages", "is missing.")
  if (!Array.isArray(messages)) return invalid("invalid_type", "messages", "has the wrong type: expected array.")
  if (messages.length === 0) return invalid("empty_array", "messages", "is empty; send at least one message.")
  const betas = bodyBetas(body["anthropic_beta"])
  return betas === undefined
    ? invalid("invalid_header", "anthropic-beta", `${betaRule}.`)
    : Result.map(withoutThread(body), () => ({
        model,
        stream: stream === true,
        betas: joinBetas(betas, betasOfFields(body)),
        version: body["anthropic_version"],
        user: isJsonObject(metadata) ? metadata["user_id"] : undefined,
        bytes,
        spans
      }))
}

/** Reads the body of a messages request, which also requires `max_tokens`. */
export const readMessagesRequest: typeof readCountRequest = (body, bytes, spans) =>
  Result.flatMap(readCountRequest(body, bytes, spans), (request) => {
    const most = body["max_tokens"]
    if (most === undefined || most === null) return invalid("missing_required_parameter", "max_tokens", "is missing.")
    return typeof most === "number" && Number.isSafeInteger(most) && most > 0
      ? Result.succeed(request)
      : invalid("invalid_value", "max_tokens", "is a positive whole number below 2^53.")
  })

/**
 * Vertex AI reads the version from the body and flags from the header. Source: anthropics/anthropic-sdk-typescript
 * packages/vertex-sdk.
 */
const vertexEdits = ({ version }: MessagesRequest, ofHeader: string | undefined): TopLevelEdits => ({
  anthropic_version: JSON.stringify(claudeVersion(version, ofHeader)),
  anthropic_beta: undefined,
  thread: undefined
})

const knownMembers = ({ bytes, spans }: MessagesRequest) => (spans === undefined ? undefined : withKeys(bytes, spans))

/** The upstream's messages body: the model is part of the URL. `version` is the client's `anthropic-version` header. */
export const messagesBody = (request: MessagesRequest, version?: string): Uint8Array =>
  request.isRaw === true
    ? request.bytes
    : editTopLevel(request.bytes, { ...vertexEdits(request, version), model: undefined }, knownMembers(request))

/** The upstream's count body: the URL has no model, and `stream` is removed. */
export const countedBody = (request: MessagesRequest, modelId: string, version?: string): Uint8Array =>
  editTopLevel(
    request.bytes,
    {
      ...(request.isRaw === true ? {} : vertexEdits(request, version)),
      model: JSON.stringify(countedId(modelId)),
      stream: undefined
    },
    knownMembers(request)
  )

/** Maps error responses. The model's own errors keep their text: hints for other dialects would mislead (T1905). */
export const failureFromMessages: Unary<never, unknown, unknown, unknown>["failure"] = (
  status,
  headers,
  body,
  origin
) => {
  if (status !== 400 && status !== 413) return failureFromGoogle(status, headers, body, origin)
  const error = readUpstreamError(status, headers, body)
  return retentionRefusal(error) ?? reasonOfStatus(status, headers, error, origin)
}

interface MessageStreamState {
  readonly frames: WholeFrameState
  /** True after the first frame was sent. */
  readonly begun: boolean
  /** `ended`: `message_stop` or the upstream's error arrived, so no frame is missing. */
  readonly phase: "open" | "ended" | "failed"
  readonly usage: JsonObject | undefined
  /** True after the event with the stop reason, which has the last counts; false after an error instead of them. */
  readonly isCounted: boolean | undefined
  /** Bytes of output so far, without the JSON around them. */
  readonly written: number
  readonly events: number
  /** Bytes of comments since the last event. */
  readonly silentBytes: number
}

const start: MessageStreamState = {
  frames: noFrames,
  begun: false,
  phase: "open",
  usage: undefined,
  isCounted: undefined,
  written: 0,
  events: 0,
  silentBytes: 0
}

const vertexEvent = "vertex_event"
/** Nearly all events of an answer. */
const textEvent = "content_block_delta"

/** The bytes of a content event around its text, without the `event:` line. */
const envelopeBytes = 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n'
  .length

/**
 * Passes whole frames unchanged, all frames of a network read as one piece. An error as the first event fails the
 * call, so it can still become an HTTP status. A later error passes with secrets removed. An error without an event
 * name is Google's own and not part of this dialect, so it fails the stream.
 */
export const messageStream = (
  limits: { readonly eventBytes: number },
  redaction: Redaction,
  keepsVertexEvents = false
): Fold<MessageStreamState, Uint8Array, Uint8Array | StreamFailed> => ({
  initial: () => start,
  step: (state, bytes) => {
    if (state.phase === "failed") return [state, []]
    const [frames, whole] = wholeFrames(state.frames, bytes)
    const done: Array<Uint8Array> = []
    let run: Array<WholeFrame> = []
    const flush = (): void => {
      for (const bytes of joinRanges(run)) done.push(bytes)
      run = []
    }
    let { begun, events, isCounted, phase, silentBytes, usage, written } = state
    for (const frame of whole) {
      // Vertex AI's own event breaks parsers that know Anthropic's events only; clients of rawPredict expect it.
      if (frame.event === vertexEvent && !keepsVertexEvents) {
        events++
        flush()
        continue
      }
      if (frame.event === textEvent) {
        events++
        silentBytes = 0
        if (phase === "open") written += textBytes(frame)
        begun = true
        run.push(frame)
        continue
      }
      const { type, error, counts, isLast } = eventOf(frame, redaction)
      const isOver = phase === "ended"
      // After the first event the client gets the upstream's own frame; an error without a name is not a frame of this
      // dialect.
      if (error !== undefined && !isOver && (!begun || frame.event === "")) {
        return [
          { ...state, frames, begun, phase: "failed", usage, written },
          [...done, ...joinRanges(run), streamFailed(error())]
        ]
      }
      if (!isOver) {
        if (type === textEvent) written += textBytes(frame)
        if (isLast === true) isCounted = true
        if (type === "error") isCounted ??= false
        if (counts !== undefined) usage = mergeUsage(usage, counts)
      }
      if (type === "message_stop" || type === "error") phase = "ended"
      begun ||= type !== ""
      events += type === "" ? 0 : 1
      silentBytes = type === "" ? silentBytes + frame.length : 0
      const shown = type === "error" || error !== undefined ? redactedError(frame, redaction) : undefined
      if (shown === undefined) run.push(frame)
      else {
        flush()
        done.push(shown)
      }
    }
    flush()
    const next: MessageStreamState = { frames, begun, phase, usage, isCounted, written, events, silentBytes }
    const fault = excess(next, limits.eventBytes)
    return fault === undefined
      ? [next, done]
      : [{ ...next, frames: noFrames, phase: "failed" }, [...done, streamFailed(fault)]]
  },
  onHalt: (state) => (state.phase === "open" ? [streamFailed(cutReason(state, redaction))] : []),
  usage: ({ usage }) => (usage === undefined ? undefined : claudeUsage(usage)),
  progress: ({ isCounted, written }) => ({ isCounted, characters: written })
})

/** Bytes outside a frame may be an error in plain JSON. */
const cutReason = ({ begun, frames }: MessageStreamState, redaction: Redaction): Reason => {
  const error = begun ? undefined : errorIn(jsonOf(decoder.decode(unfinishedBytes(frames))))
  return error === undefined ? cutAnswer : messagesFailureInside(error, redaction)
}

/** The bytes of a content event but for what stands around its text. */
const textBytes = ({ event, length }: WholeFrame): number =>
  Math.max(0, length - envelopeBytes - (event === "" ? 0 : "event: \n".length + event.length))

/** The error frame with secrets removed; undefined when nothing was removed, so the frame keeps its own bytes. */
const redactedError = ({ bytes }: WholeFrame, redaction: Redaction): Uint8Array | undefined => {
  const data = readFrame(bytes)?.data ?? decoder.decode(bytes)
  const event = jsonOf(data)
  const shown = isJsonObject(event) ? JSON.stringify(publicError(event, redaction)) : upstreamText(redaction.text(data))
  return shown === (isJsonObject(event) ? JSON.stringify(event) : data)
    ? undefined
    : encoder.encode(`event: error\ndata: ${shown}\n\n`)
}

/** Cleans the error's message like other error texts; the rest loses known secret values only. */
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

const excess = ({ events, frames, silentBytes }: MessageStreamState, eventBytes: number): Reason | undefined => {
  if (frames.size > eventBytes) return largeEvent
  if (events > answerBounds.events) return tooManyEvents
  return silentBytes > answerBounds.silentBytes ? tooSilent : undefined
}

interface ReadEvent {
  readonly type: string
  /** The reason of an error event; evaluated on demand. */
  readonly error?: () => Reason
  readonly counts?: JsonObject | undefined
  /** The event has the stop reason. */
  readonly isLast?: boolean
}

/** Reads an event as far as necessary; the name alone classifies most events. */
const eventOf = (frame: WholeFrame, redaction: Redaction): ReadEvent => {
  const { event } = frame
  if (event === "message_start" || event === "message_delta") {
    const value = jsonOf(readFrame(frame.bytes)?.data ?? "")
    return { type: event, counts: countsIn(value), isLast: endsAnswer(value) }
  }
  if (event !== "" && event !== "error") return { type: event }
  const value = jsonOf(readFrame(frame.bytes)?.data ?? "")
  const error = errorIn(value)
  const type = event === "" && isJsonObject(value) && typeof value["type"] === "string" ? value["type"] : event
  return error === undefined
    ? { type, counts: countsIn(value), isLast: endsAnswer(value) }
    : { type, error: () => messagesFailureInside(error, redaction) }
}

const endsAnswer = (event: Json): boolean =>
  isJsonObject(event) && isJsonObject(event["delta"]) && typeof event["delta"]["stop_reason"] === "string"

/** The first event of an answer has its counts inside the message, later events next to their changes. */
const countsIn = (event: Json): JsonObject | undefined =>
  isJsonObject(event) ? (countsOf(event["message"]) ?? countsOf(event)) : undefined

/** The origin of an error inside a 200 is unknown; "stored" blames no caller's credential. */
const messagesFailureInside = (error: JsonObject, redaction: Redaction): Reason =>
  failureFromMessages(statusInside(error), {}, redaction.json({ error }), "stored")

const structure = /^\s*[[{]/

/** The object or list in the text, else null. A parser that throws takes 40 us, so comments are not given to it. */
const jsonOf = (text: string): Json => (structure.test(text) ? Result.getOrElse(parseJsonText(text), () => null) : null)

/** Reads `{error}`, or Google's array of one. */
const errorIn = (value: Json): JsonObject | undefined => {
  const holder = Array.isArray(value) ? value[0] : value
  return isJsonObject(holder) && isJsonObject(holder["error"]) ? holder["error"] : undefined
}
