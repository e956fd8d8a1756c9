// Writes an answer, simulated or scripted by a test, to a node response: waits for the drain, stops when the caller leaves.
// It must not depend on Google's formats.
import type { Answer, Step } from "../shared/answers.ts"
import type { ServerResponse } from "node:http"

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

function* scriptedSteps(script: ScriptedAnswer): Generator<Step> {
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
  steps: scriptedSteps(script),
  streaming: script.chunks !== undefined
})

export interface WireCounters {
  openStreams: number
  abortedStreams: number
  lastAbortMillis: number
}

/** Starts the answer and returns immediately. The status line waits for the first write: a `hang` may send no byte. */
export const performAnswer = (
  answer: Answer,
  response: ServerResponse,
  counters: WireCounters,
  now: () => number
): void => {
  const steps = answer.steps[Symbol.iterator]()
  let timer: NodeJS.Timeout | undefined
  let done = false
  if (answer.streaming) counters.openStreams += 1

  const head = () => {
    if (!response.headersSent) response.writeHead(answer.status, answer.headers)
  }
  const advance = (): void => {
    for (;;) {
      if (done) return
      const next = steps.next()
      if (next.done === true) {
        head()
        response.end()
        return
      }
      const step = next.value
      if ("pauseMillis" in step) {
        timer = setTimeout(advance, step.pauseMillis)
        return
      }
      if ("end" in step) {
        // setImmediate lets node hand the written bytes to the socket before the reset.
        const socket = response.socket
        if (step.end === "close") socket?.destroySoon()
        if (step.end === "reset") setImmediate(() => socket?.resetAndDestroy())
        return
      }
      head()
      if (!response.write(step.write)) {
        response.once("drain", advance)
        return
      }
    }
  }
  response.once("close", () => {
    done = true
    if (timer !== undefined) clearTimeout(timer)
    steps.return?.()
    if (!answer.streaming) return
    counters.openStreams -= 1
    if (response.writableFinished) return
    counters.abortedStreams += 1
    counters.lastAbortMillis = now()
  })
  advance()
}
