// Writes answers in Anthropic's form: compact JSON, errors with a type and a request id, streams of named events.
// Must not depend on bodies, rules or models.
// Source: recorded answers of Vertex AI.

import { createHash } from "node:crypto"
import type { Answer, Step } from "../shared/answers.ts"
import { claudeFrame } from "./events.ts"
import type { ClaudeEvent } from "./events.ts"

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
