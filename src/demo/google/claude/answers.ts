// Writes answers in Anthropic's form: a reply as one JSON value or as named events, and errors with a type and a request id.
// It must not depend on rules, models or faults.
// Source: recorded bodies and streams of Vertex AI.
import type { ClaudeInput } from "./request.ts"
import { type Answer, type Step, textPieces } from "../shared/answers.ts"
import { textTokens } from "../shared/generateRequest.ts"
import { createHash } from "node:crypto"

type Json = Readonly<Record<string, unknown>>

/** A content block in the form of a unary body. */
export interface ReplyBlock extends Json {
  readonly type: string
}

export interface ClaudeReply {
  readonly content: ReadonlyArray<ReplyBlock>
  readonly stopReason: string
  readonly stopSequence: string | null
  /** Absent for models that do not report why they stopped. */
  readonly stopDetails?: Json
  readonly input: ClaudeInput
  readonly outputTokens: number
  readonly thinkingTokens: number
  readonly searches: number
}

export interface ClaudeIdentity {
  readonly id: string
  /** The id of the model as answers write it. */
  readonly model: string
  /** The newest models report why they stopped and how many tokens they thought. */
  readonly detailed: boolean
  /** Vertex AI adds an event of its own to some streams (publicly reported). */
  readonly vertexEvent: boolean
}

export interface ClaudeEvent {
  readonly value: Json & { readonly type: string }
  /** Answer tokens that this event adds; pacing counts them. */
  readonly tokens: number
}

const outputFields = (reply: ClaudeReply, identity: ClaudeIdentity): Json => ({
  output_tokens: reply.outputTokens,
  ...(identity.detailed ? { output_tokens_details: { thinking_tokens: reply.thinkingTokens } } : {}),
  ...(reply.searches > 0 ? { server_tool_use: { web_search_requests: reply.searches } } : {})
})

const stopFields = (reply: ClaudeReply, identity: ClaudeIdentity): Json => ({
  stop_reason: reply.stopReason,
  stop_sequence: reply.stopSequence,
  ...(identity.detailed || reply.stopDetails !== undefined ? { stop_details: reply.stopDetails ?? null } : {})
})

/** The one JSON value of a unary answer. */
export const claudeBody = (reply: ClaudeReply, { id, model, ...rest }: ClaudeIdentity): Json => ({
  model,
  id,
  type: "message",
  role: "assistant",
  content: reply.content,
  ...stopFields(reply, { id, model, ...rest }),
  usage: { ...reply.input, ...outputFields(reply, { id, model, ...rest }) }
})

const messageStart = ({ input }: ClaudeReply, { id, model, detailed }: ClaudeIdentity): ClaudeEvent["value"] => {
  const stop = { stop_reason: null, stop_sequence: null, ...(detailed ? { stop_details: null } : {}) }
  return {
    type: "message_start",
    message: {
      model,
      id,
      type: "message",
      role: "assistant",
      content: [],
      ...stop,
      usage: { ...input, output_tokens: 1 }
    }
  }
}

const vertexEvent = ({ input }: ClaudeReply): ClaudeEvent["value"] => {
  const usage = { ...input, output_tokens: 1, web_search_requests: null }
  return { type: "vertex_event", usage: { ...usage, tiers: { "0-to-200000": usage } } }
}

const charactersPerPiece = 7

/** JSON text in pieces after an empty first one; a piece may end inside an escape (recorded). */
const jsonPieces = (value: unknown): ReadonlyArray<string> => {
  const letters = [...JSON.stringify(value)]
  const count = Math.ceil(letters.length / charactersPerPiece)
  const pieces = Array.from({ length: count }, (_, index) =>
    letters.slice(index * charactersPerPiece, (index + 1) * charactersPerPiece).join("")
  )
  return ["", ...pieces]
}

interface Streamed {
  readonly start: Json
  readonly deltas: ReadonlyArray<Json & { readonly type: string }>
}

const text = (block: ReplyBlock, key: string): string => {
  const value = block[key]
  return typeof value === "string" ? value : ""
}

/** A block as its start event and its deltas. */
const streamed = (block: ReplyBlock): Streamed => {
  switch (block.type) {
    case "text": {
      const citations = Array.isArray(block["citations"]) ? block["citations"] : []
      return {
        start: { ...(citations.length === 0 ? {} : { citations: [] }), type: "text", text: "" },
        deltas: [
          ...citations.map((citation) => ({ type: "citations_delta", citation })),
          ...textPieces(text(block, "text")).map((piece) => ({ type: "text_delta", text: piece }))
        ]
      }
    }
    case "thinking": {
      const pieces = textPieces(text(block, "thinking"))
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...(pieces.length === 0 ? [""] : pieces).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: text(block, "signature") }
        ]
      }
    }
    case "tool_use":
    case "server_tool_use":
      return {
        start: { ...block, input: {} },
        deltas: jsonPieces(block["input"]).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
      }
    default:
      return { start: block, deltas: [] }
  }
}

const blockEvents = (block: ReplyBlock, index: number): ReadonlyArray<ClaudeEvent> => {
  const { start, deltas } = streamed(block)
  return [
    { value: { type: "content_block_start", index, content_block: start }, tokens: 0 },
    ...deltas.map((delta): ClaudeEvent => {
      const added = delta["text"] ?? delta["thinking"] ?? delta["partial_json"]
      return {
        value: { type: "content_block_delta", index, delta },
        tokens: typeof added === "string" ? textTokens(added) : 0
      }
    }),
    { value: { type: "content_block_stop", index }, tokens: 0 }
  ]
}

/** The events of a streamed answer, in order. */
export const claudeEvents = (reply: ClaudeReply, identity: ClaudeIdentity): ReadonlyArray<ClaudeEvent> => [
  { value: messageStart(reply, identity), tokens: 0 },
  ...(identity.vertexEvent ? [{ value: vertexEvent(reply), tokens: 0 }] : []),
  { value: { type: "ping" }, tokens: 0 },
  ...reply.content.flatMap(blockEvents),
  {
    value: { type: "message_delta", delta: stopFields(reply, identity), usage: outputFields(reply, identity) },
    tokens: 0
  },
  { value: { type: "message_stop" }, tokens: 0 }
]

/** One server-sent event with LF line ends; the JSON is padded with blanks before its last brace (recorded). */
export const claudeFrame = (value: ClaudeEvent["value"], padding = 0): string => {
  const json = JSON.stringify(value)
  return `event: ${value.type}\ndata: ${json.slice(0, -1)}${" ".repeat(padding)}}\n\n`
}

const statuses = {
  invalid_request_error: 400,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529
}

export type ClaudeErrorType = keyof typeof statuses

const letters = (seed: string): string => createHash("sha256").update(seed).digest("base64url").replace(/[-_]/g, "x")

/** `msg_vrtx_01...`, `req_vrtx_011...`: ids in the form of Vertex AI. */
export const claudeId = (prefix: "msg_vrtx_01" | "req_vrtx_011C", seed: string): string =>
  `${prefix}${letters(`${prefix} ${seed}`).slice(0, 22)}`

export const claudeErrorValue = (type: ClaudeErrorType, message: string, requestId?: string) => ({
  type: "error",
  error: { type, message },
  ...(requestId === undefined ? {} : { request_id: requestId })
})

export const claudeJson = (status: number, value: unknown): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  steps: [{ write: JSON.stringify(value) }],
  streaming: false
})

export const claudeError = (type: ClaudeErrorType, message: string, requestId: string): Answer =>
  claudeJson(statuses[type], claudeErrorValue(type, message, requestId))

function* frames(events: ReadonlyArray<ClaudeEvent>, tokensPerSecond: number): Generator<Step> {
  for (const [index, { value, tokens }] of events.entries()) {
    if (tokensPerSecond > 0 && tokens > 0) yield { pauseMillis: (tokens * 1000) / tokensPerSecond }
    yield { write: claudeFrame(value, (index * 7) % 16) }
  }
}

export const claudeStream = (events: ReadonlyArray<ClaudeEvent>, tokensPerSecond: number): Answer => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  steps: frames(events, tokensPerSecond),
  streaming: true
})
