// Work is done step by step, whoever came first.
import { describe, expect, it, vi } from "vitest"
import { CollectCall, type Wire } from "../../src/upstream/HttpCall.ts"
import { inStep, type Step } from "../../src/upstream/Steps.ts"
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

describe("steps", () => {
  it("come in their order, and each for everybody before the next", () => {
    turning((turn) => {
      const done: Array<string> = []
      const request = (name: string) => {
        for (const step of ["end", "reply", "body", "answer", "call"] as const)
          inStep(step, () => done.push(`${step} ${name}`))
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

  it("lead to later steps in the same turn, and to the same or earlier ones in the next", () => {
    turning((turn) => {
      const done: Array<string> = []
      const then = (step: Step, name: string, next: () => void = () => undefined) =>
        inStep(step, () => {
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

  it("are kept for the others when one throws", () => {
    turning((turn) => {
      const done: Array<string> = []
      inStep("call", () => done.push("first"))
      inStep("call", () => {
        throw new Error("a fault of ours")
      })
      inStep("call", () => done.push("third"))
      inStep("end", () => done.push("end"))
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

describe("a call that waits for its step", () => {
  const started = (end: (call: CollectCall) => void): ReadonlyArray<TransportRequest> => {
    const sent: Array<TransportRequest> = []
    turning((turn) => {
      const wire: Wire = { windowBytes: 1, opened: false, dispatch: (one) => sent.push(one) }
      const call = new CollectCall(wire, request, { replyBytes: 1, errorBytes: 1 }, () => undefined)
      call.start()
      end(call)
      turn()
    })
    return sent
  }

  it("is sent", () => {
    expect(started(() => undefined)).toEqual([request])
  })

  it("is not sent when it was given up before", () => {
    expect(started((call) => call.abort())).toEqual([])
  })
})
