// Tests the phases of a turn: tasks run phase by phase, in any order of arrival.
// Must not depend on upstream calls.
import * as Effect from "effect/Effect"
import { describe, expect, it, vi } from "vitest"
import { inTurn } from "../../src/batching/OwnTurn.ts"
import { CollectCall, type Wire } from "../../src/upstream/HttpCall.ts"
import { schedulePhase, type Phase } from "../../src/batching/Phases.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"

/** Runs with a loop whose turns are ours. */
const turning = (run: (turn: () => void) => void): void => {
  vi.useFakeTimers({ toFake: ["setImmediate", "clearImmediate", "setTimeout", "clearTimeout"] })
  try {
    run(() => {
      vi.advanceTimersToNextTimer()
    })
  } finally {
    vi.useRealTimers()
  }
}

describe("phases", () => {
  it("phases: run in order, each for all requests before the next", () => {
    turning((turn) => {
      const done: Array<string> = []
      const request = (name: string) => {
        for (const step of ["end", "reply", "body", "answer", "call"] as const)
          schedulePhase(step, () => done.push(`${step} ${name}`))
      }
      request("a")
      request("b")
      expect(done).toEqual([])
      turn()
      expect(done).toEqual([
        "body a",
        "body b",
        "call a",
        "call b",
        "reply a",
        "reply b",
        "answer a",
        "answer b",
        "end a",
        "end b"
      ])
    })
  })

  it("phases: continue with later ones in the same turn, and with the same or earlier ones in the next", () => {
    turning((turn) => {
      const done: Array<string> = []
      const then = (step: Phase, name: string, next: () => void = () => undefined) =>
        schedulePhase(step, () => {
          done.push(name)
          next()
        })
      then("reply", "reply", () => {
        then("answer", "answer")
        then("body", "the next body")
        then("reply", "the next reply")
      })
      turn()
      expect(done).toEqual(["reply", "answer"])
      turn()
      expect(done).toEqual(["reply", "answer", "the next body", "the next reply"])
    })
  })

  it("phases: a turn takes 128 arrivals to their end, and the others wait for the next", () => {
    turning((turn) => {
      const done: Array<string> = []
      for (let at = 0; at < 300; at++)
        schedulePhase("arrival", () => {
          done.push(`arrival ${at}`)
          schedulePhase("end", () => done.push(`end ${at}`))
        })
      schedulePhase("reply", () => done.push("reply"))
      const steps = (step: string, from: number, to: number) =>
        Array.from({ length: to - from }, (_, at) => `${step} ${from + at}`)
      turn()
      expect(done.splice(0)).toEqual([...steps("arrival", 0, 128), "reply", ...steps("end", 0, 128)])
      turn()
      expect(done.splice(0)).toEqual([...steps("arrival", 128, 256), ...steps("end", 128, 256)])
      turn()
      expect(done.splice(0)).toEqual([...steps("arrival", 256, 300), ...steps("end", 256, 300)])
      turn()
      expect(done).toEqual([])
    })
  })

  it("phases: large tasks run after the small ones, a few bytes' worth in each turn, the oldest first (TH41)", () => {
    turning((turn) => {
      const done: Array<string> = []
      const large = (name: string, kib: number, step: Phase = "body") =>
        schedulePhase(step, () => done.push(name), kib * 1024)
      large("a", 300, "call")
      large("b", 300)
      large("c", 5_000)
      large("d", 64)
      large("small", 63)
      schedulePhase("end", () => done.push("end"))
      turn()
      expect(done.splice(0)).toEqual(["small", "end", "a", "b"])
      schedulePhase("arrival", () => done.push("health"))
      turn()
      expect(done.splice(0)).toEqual(["health", "c"])
      turn()
      expect(done.splice(0)).toEqual(["d"])
      turn()
      expect(done).toEqual([])
    })
  })

  it("phases: a large task that throws keeps those after it (TH41)", () => {
    turning((turn) => {
      const done: Array<string> = []
      const size = 100 * 1024
      schedulePhase(
        "body",
        () => {
          throw new Error("a fault of ours")
        },
        size
      )
      schedulePhase("body", () => done.push("second"), size)
      expect(turn).toThrow("a fault of ours")
      turn()
      expect(done).toEqual(["second"])
    })
  })

  it("turns: a stage of a small request runs on, one of a large request waits for its turn (TH41)", () => {
    turning((turn) => {
      const done: Array<string> = []
      const stage = (name: string, bytes: number | undefined) =>
        Effect.runFork(inTurn(bytes, () => Effect.sync(() => done.push(name))))
      stage("large", 256 * 1024)
      stage("small", 256 * 1024 - 1)
      stage("unknown", undefined)
      expect(done.splice(0)).toEqual(["small", "unknown"])
      turn()
      expect(done).toEqual(["large"])
    })
  })

  it("a task that throws: keeps the remaining tasks", () => {
    turning((turn) => {
      const done: Array<string> = []
      schedulePhase("call", () => done.push("first"))
      schedulePhase("call", () => {
        throw new Error("a fault of ours")
      })
      schedulePhase("call", () => done.push("third"))
      schedulePhase("end", () => done.push("end"))
      expect(turn).toThrow("a fault of ours")
      expect(done).toEqual(["first"])
      turn()
      expect(done).toEqual(["first", "third", "end"])
    })
  })
})

const request: TransportRequest = {
  method: "POST",
  url: "http://upstream.test/",
  headers: {},
  auth: {},
  body: "{}",
  connectMillis: 1,
  firstByteMillis: 1,
  idleMillis: 1,
  totalMillis: 1
}

describe("waiting calls", () => {
  const started = (end: (call: CollectCall) => void): ReadonlyArray<TransportRequest> => {
    const sent: Array<TransportRequest> = []
    turning((turn) => {
      const wire: Wire = { windowBytes: 1, staleMillis: 0, opened: false, dispatch: (one) => sent.push(one) }
      const call = new CollectCall(wire, request, { replyBytes: 1, errorBytes: 1 }, () => undefined)
      call.start()
      end(call)
      turn()
    })
    return sent
  }

  it("a waiting call: is sent", () => {
    expect(started(() => undefined)).toEqual([request])
  })

  it("a waiting call: is not sent after an interruption", () => {
    expect(started((call) => call.abort())).toEqual([])
  })
})
