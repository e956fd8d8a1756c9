// Turns an answer that a test wrote into an Answer: status, headers, raw chunks, delays, and how the connection ends.
// Must not depend on Google's formats.

import type { Answer, Step } from "../shared/answers.ts"

export interface ScriptedAnswer {
  /** Which call takes the answer: `token`, any other (`model`), or the next call of any kind if absent. */
  readonly for?: "token" | "model"
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
  /** Raw pieces of the body, written one by one after `body`. */
  readonly chunks?: ReadonlyArray<string | Uint8Array>
  /** Wait before the status line. */
  readonly delayMillis?: number
  /** Wait before each piece of `chunks`. */
  readonly chunkDelayMillis?: number
  /**
   * Default `complete`; `close` closes the connection early, `reset` resets it, `hang` keeps it open.
   * Without body and chunks a `hang` sends no status line.
   */
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

/** The scripted answer as steps. */
export const scriptedAnswer = (script: ScriptedAnswer): Answer => ({
  status: script.status ?? 200,
  headers: { "content-type": "application/json; charset=UTF-8", ...script.headers },
  steps: steps(script),
  streaming: script.chunks !== undefined
})
