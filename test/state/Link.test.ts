// Tests the link between two processes: asks, answers, order, lost and late answers.
// Must not start a process.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { beatMillis, type Call, type Handlers, type Link, makeLink } from "../../src/state/Link.ts"
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

  it.effect(
    "link: one late ask is waited for, then asks fail without a message until the other side answers (F91)",
    () =>
      Effect.gen(function* () {
        const channel = linkedPorts()
        const link = yield* makeLink<object, TestCalls>(channel.ends[1], {})
        const asks = [link.ask("double", 1), link.ask("double", 2)]
        const early = yield* Effect.forkChild(Effect.forEach(asks, causeOf, { concurrency: 2 }), {
          startImmediately: true
        })
        yield* TestClock.adjust(defaultLimits.linkMillis)
        expect(yield* Fiber.join(early)).toEqual(["no answer within 1000 ms", "no answer within 1000 ms"])
        expect(link.isAway()).toBe(true)
        const sent = channel.sent.length
        expect(yield* causeOf(link.ask("double", 3))).toBe("no answer to an earlier ask")
        expect(channel.sent.length).toBe(sent)

        // The answer that is late: nothing waits for it any more, and it ends the outage.
        channel.ends[0].send({ id: 1, value: 2 }, () => undefined)
        expect(link.isAway()).toBe(false)
        yield* makeLink<TestCalls, object>(channel.ends[0], handlers)
        expect(yield* link.ask("double", 4)).toBe(8)
      })
  )

  it.effect("link: a slow answer is no outage while other messages arrive (F91)", () =>
    Effect.gen(function* () {
      const { channel, link } = yield* linked
      const late = yield* Effect.forkChild(causeOf(link.ask("never", null)), { startImmediately: true })
      yield* TestClock.adjust(defaultLimits.linkMillis / 2)
      channel.ends[0].send({ name: "other" }, () => undefined)
      yield* TestClock.adjust(defaultLimits.linkMillis / 2)
      expect(yield* Fiber.join(late)).toBe("no answer within 1000 ms")
      expect([link.isAway(), yield* link.ask("double", 2)]).toEqual([false, 4])
    })
  )

  it.effect("link: a side that answers has one ping a beat, another one ping in all (F90)", () =>
    Effect.gen(function* () {
      const { channel, link } = yield* linked
      const beats = (one: Link<TestCalls>) =>
        Effect.gen(function* () {
          const heard = yield* Effect.forkChild(Effect.all([one.beat, one.beat, one.beat]), { startImmediately: true })
          yield* TestClock.adjust(3 * beatMillis)
          return yield* Fiber.join(heard)
        })
      expect(yield* beats(link)).toEqual([true, true, true])
      expect(channel.sent).toEqual(Array.from({ length: 3 }, () => ['{"ping":true}', '{"pong":true}']).flat())

      const silent = linkedPorts()
      expect(yield* beats(yield* makeLink<object, TestCalls>(silent.ends[1], {}))).toEqual([false, false, false])
      expect(silent.sent).toEqual(['{"ping":true}'])
    })
  )
})
