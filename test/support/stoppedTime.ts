// Stops the time of this process for a test of a timer: it passes only when the test lets it pass, however busy the machine.
// Must not stop sockets, the turns of the event loop, or the deadlines of waits and tests.
import { Client } from "undici"
import { onTestFinished, vi } from "vitest"
import { until } from "./eventually.ts"

/** A port without a listener. */
const nowhere = "http://127.0.0.1:2"

// undici, and the copy of it in Node, make a timer at their first connection and use it for good. It must be a real one.
await Promise.allSettled([new Client(nowhere).request({ path: "/", method: "GET" }), fetch(nowhere)])

/** Until the test ends, or resumes it. Timers that run already are not stopped: those that start afterwards are. */
export const stopTime = (): void => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] })
  onTestFinished(resumeTime)
}

/** A gateway closes only while time passes by itself. */
export const resumeTime = (): void => void vi.useRealTimers()

export const passTime = (millis: number): void => void vi.advanceTimersByTime(millis)

/** Resolves once the condition holds. Before each look so many milliseconds pass. */
export const passUntil = (millis: number, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const look = () => {
    passTime(millis)
    return holds()
  }
  // A wait that fails names its condition.
  look.toString = () => String(holds)
  return until(look)
}

/** The promise. Until it has ended, so many milliseconds pass at each turn of the event loop. */
export const passUntilEnded = async <A>(millis: number, promise: Promise<A>): Promise<A> => {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  promise.then(end, end)
  await passUntil(millis, () => hasEnded)
  return promise
}
