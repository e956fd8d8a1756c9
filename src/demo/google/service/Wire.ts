// Writes an answer to a node response: waits for the socket to drain, stops when the caller leaves, counts streams.
// Must not depend on Google's formats.

import type { ServerResponse } from "node:http"
import type { Answer } from "../shared/answers.ts"

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
