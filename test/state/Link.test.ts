// Tests the link between two processes: asks, answers, order, lost and late answers.
// Must not start a process.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { type Call, type Handlers, makeLink } from "../../src/state/Link.ts"
import { linkedPorts } from "../support/firstProcess.ts"

interface TestCalls {
  readonly double: Call<number, number>
  readonly note: Call<string, void>
  readonly broken: Call<null, null>
  readonly never: Call<null, null>
}

const noted: Array<string> = []
const handlers: Handlers<TestCalls> = {
  double: (number) => Effect.succeed(number * 2),
  note: (text) => Effect.sync(() => void noted.push(text)),
  broken: () => Effect.die("a fault"),
  never: () => Effect.never
}

const linked = Effect.gen(function* () {
  const channel = linkedPorts()
  const [one, other] = channel.ends
  yield* makeLink<TestCalls, object>(one, handlers)
  return { channel, link: yield* makeLink<object, TestCalls>(other, {}) }
})

const causeOf = <A, E extends { readonly cause: unknown }>(asked: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(asked), ({ cause }) => (cause instanceof Error ? cause.message : cause))

describe("the link of two processes", () => {
  it.effect("link: an ask has the answer of the other side, and messages arrive in their order", () =>
    Effect.gen(function* () {
      const { link } = yield* linked
      noted.length = 0
      link.tell("note", "a")
      link.tell("note", "b")
      const doubled = yield* Effect.all([link.ask("double", 2), link.ask("note", "c"), link.ask("double", 4)])
      expect([doubled, noted]).toEqual([
        [4, null, 8],
        ["a", "b", "c"]
      ])
    })
  )

  it.effect("link: a fault of the other side, a closed channel and an answer that is late are failures", () =>
    Effect.gen(function* () {
      const { channel, link } = yield* linked
      const late = yield* Effect.forkChild(causeOf(link.ask("never", null)), { startImmediately: true })
      expect(yield* causeOf(link.ask("broken", null))).toMatch(/a fault/)
      yield* TestClock.adjust(defaultLimits.linkMillis)
      expect(yield* Fiber.join(late)).toBe("no answer within 1000 ms")
      channel.close()
      expect(yield* causeOf(link.ask("double", 1))).toBe("the channel is closed")
    })
  )

  it.effect("link: asks beyond limits.linkQueue fail immediately, and foreign messages are ignored", () =>
    Effect.gen(function* () {
      const { channel, link } = yield* linked
      for (const message of [{}, { id: 7, value: 1 }, { id: "x" }]) channel.ends[0].send(message, () => undefined)
      yield* Effect.forkChild(link.ask("never", null), { startImmediately: true })
      yield* Effect.forkChild(link.ask("never", null), { startImmediately: true })
      expect(yield* causeOf(link.ask("double", 1))).toBe("too many asks wait")
    }).pipe(Effect.provideService(Limits, { ...defaultLimits, linkQueue: 2 }))
  )

  it.effect("link: asks that wait fail when the link ends", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          const { link } = yield* linked
          return yield* Effect.forkDetach(causeOf(link.ask("never", null)), { startImmediately: true })
        })
      )
      expect(yield* Fiber.join(waiting)).toBe("the link has ended")
    })
  )
})
