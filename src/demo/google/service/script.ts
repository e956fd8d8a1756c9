// Answers written by a test in place of the simulated ones: status, headers, raw chunks, delays, the way the connection ends.
// It must not know Google.

import type { Answer, Step } from "../shared/answers.ts"

export interface ScriptedAnswer {
  /** Which calls take it: those of the token endpoint, all others, or (absent) the next call of any kind. */
  readonly for?: "token" | "model"
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
  /** Raw pieces of the body, each written by itself, after `body`. */
  readonly chunks?: ReadonlyArray<string | Uint8Array>
  /** Wait before the status line. */
  readonly delayMillis?: number
  /** Wait before each piece of `chunks`. */
  readonly chunkDelayMillis?: number
  /** How it ends: complete (default), connection closed too early, connection reset, or silence. Without body and chunks a `hang` sends no status line. */
  readonly end?: "complete" | "close" | "reset" | "hang"
}

function* steps(script: ScriptedAnswer): Generator<Step> {
  const { body, chunks = [], delayMillis, chunkDelayMillis, end = "complete" } = script
  if (delayMillis !== undefined) yield { pauseMillis: delayMillis }
  if (typeof body === "string" || body instanceof Uint8Array) yield { write: body }
  else if (body !== undefined) yield { write: JSON.stringify(body) }
  for (const chunk of chunks) {
    if (chunkDelayMillis !== undefined) yield { pauseMillis: chunkDelayMillis }
    yield { write: chunk }
  }
  if (end !== "complete") yield { end }
}

/** The scripted answer as one the wire can perform. */
export const scriptedAnswer = (script: ScriptedAnswer): Answer => ({
  status: script.status ?? 200,
  headers: { "content-type": "application/json; charset=UTF-8", ...script.headers },
  steps: steps(script),
  streaming: script.chunks !== undefined
})
