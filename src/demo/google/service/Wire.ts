// Performs an answer on a node response: waits for the socket to drain, stops when the caller leaves, keeps the stream counters.
// It must not know Google.

import type { ServerResponse } from "node:http"
import type { Answer } from "../shared/answers.ts"

export interface WireCounters {
  openStreams: number
  abortedStreams: number
  lastAbortMillis: number
}

/** Starts the answer; returns at once. Nothing is written before the first step that writes, so a `hang` can be total silence. */
export const performAnswer = (answer: Answer, response: ServerResponse, counters: WireCounters, now: () => number): void => {
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
        // What was written goes out first: node hands it to the socket before the next turn of the loop.
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
