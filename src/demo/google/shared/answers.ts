// Declares an HTTP answer as data: status, headers, and the steps of its body (bytes, pauses, an early end).
// Must not depend on sockets; service/Wire.ts performs the steps.

import type { GoogleError } from "./errors.ts"

export type Step =
  | { readonly write: string | Uint8Array }
  | { readonly pauseMillis: number }
  /** `close` closes the connection inside the body, `reset` resets it, `hang` keeps it open until the caller leaves. */
  | { readonly end: "close" | "reset" | "hang" }

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly steps: Iterable<Step>
  /** Counts as an open stream while it is being written. */
  readonly streaming: boolean
}

const jsonHeaders = { "content-type": "application/json; charset=UTF-8" }

/** Pretty-printed JSON, as both services write unary answers. */
export const jsonAnswer = (status: number, body: unknown): Answer => ({
  status,
  headers: jsonHeaders,
  steps: [{ write: `${JSON.stringify(body, null, 2)}\n` }],
  streaming: false
})

/** An error; in a stream without `alt=sse` it is inside an array (recorded). */
export const errorAnswer = (error: GoogleError, inArray: boolean): Answer =>
  jsonAnswer(error.code, inArray ? [{ error }] : { error })

export const textAnswer = (status: number, contentType: string, text: string): Answer => ({
  status,
  headers: { "content-type": contentType },
  steps: [{ write: text }],
  streaming: false
})

/** One server-sent event with Google's CRLF line ends. */
export const sseEvent = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`

export interface PacedValue {
  readonly value: unknown
  readonly pauseMillis: number
}

/** A framed piece of an event stream: an event, a comment, the closing `[DONE]`. */
export interface PacedText {
  readonly text: string
  readonly pauseMillis: number
}

function* textSteps(pieces: Iterable<PacedText>): Generator<Step> {
  for (const { text, pauseMillis } of pieces) {
    if (pauseMillis > 0) yield { pauseMillis }
    yield { write: text }
  }
}

function* sseTexts(values: Iterable<PacedValue>): Generator<PacedText> {
  for (const { value, pauseMillis } of values) yield { text: sseEvent(value), pauseMillis }
}

/** A stream of server-sent events that are already framed. */
export const eventStream = (pieces: Iterable<PacedText>): Answer => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  steps: textSteps(pieces),
  streaming: true
})

function* arraySteps(values: Iterable<PacedValue>): Generator<Step> {
  let before = "["
  for (const { value, pauseMillis } of values) {
    if (pauseMillis > 0) yield { pauseMillis }
    yield { write: before + JSON.stringify(value, null, 2) }
    before = ",\r\n"
  }
  yield { write: before === "[" ? "[]" : "\n]" }
}

/** A stream: server-sent events, or one pretty-printed JSON array without `alt=sse`. */
export const streamAnswer = (values: Iterable<PacedValue>, sse: boolean): Answer =>
  sse
    ? eventStream(sseTexts(values))
    : { status: 200, headers: jsonHeaders, steps: arraySteps(values), streaming: true }
