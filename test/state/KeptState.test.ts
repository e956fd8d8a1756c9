// Tests the state that a first process keeps for its workers: what ends with a worker, bounds, and lists that become due.
// Must not start a process. The rules of buckets, circuits, caches and signatures are tested with those of Redis.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { LearnedRemedies, lessonScope } from "../../src/state/LearnedRemedies.ts"
import { DueNames, Slots } from "../../src/state/WorkersState.ts"
import { googleAccount } from "../support/account.ts"
import { firstProcess } from "../support/firstProcess.ts"

const text = { room: "cache", owner: "k", lifeMillis: 1_000 } as const

describe("slots of keys with a limit of running requests", () => {
  it("slots: all workers together take as many as the key has, and a freed one is taken again", () => {
    const slots = new Slots()
    expect([slots.enter(1, 1, "a", 2), slots.enter(2, 1, "a", 2), slots.enter(1, 2, "a", 2)]).toEqual([
      true,
      true,
      false
    ])
    slots.leave(1, 2)
    expect(slots.enter(2, 2, "a", 2)).toBe(false)
    slots.leave(2, 1)
    expect([slots.enter(2, 3, "a", 2), slots.enter(1, 3, "b", 1)]).toEqual([true, true])
  })

  it("slots: end with the worker that took them", () => {
    const slots = new Slots()
    slots.enter(1, 1, "a", 2)
    slots.enter(11, 1, "a", 2)
    slots.forget(1)
    expect([slots.enter(2, 1, "a", 2), slots.enter(2, 2, "a", 2)]).toEqual([true, false])
  })
})

describe("names that become due", () => {
  it("names: those due last come first, those due too long ago leave", () => {
    const names = new DueNames()
    names.add({ name: "a", dueMillis: 10, most: 9, idleMillis: 5 }, 0)
    names.add({ name: "b", dueMillis: 20, most: 9, idleMillis: 5 }, 0)
    expect(names.list(9, 5, 12)).toEqual([
      ["b", 8],
      ["a", -2]
    ])
    expect(names.list(1, 5, 12)).toEqual([["b", 8]])
    expect(names.list(9, 5, 15)).toEqual([["b", 5]])
    names.remove("b")
    expect(names.list(9, 5, 15)).toEqual([])
  })

  it("names: beyond the bound the owner with most of them loses the one that is due first (M-910)", () => {
    const names = new DueNames()
    const add = (name: string, dueMillis: number) => names.add({ name, dueMillis, most: 3, idleMillis: 0 }, 0)
    add("quiet\n1", 1)
    for (const at of [2, 3, 4, 5]) add(`loud\n${at}`, at)
    expect(names.list(9, 0, 0)).toEqual([
      ["loud\n5", 5],
      ["loud\n4", 4],
      ["quiet\n1", 1]
    ])
  })

  it("names: beyond the bound the one that is due first leaves", () => {
    const names = new DueNames()
    for (const [at, name] of ["a", "b", "c"].entries()) names.add({ name, dueMillis: at, most: 2, idleMillis: 0 }, 0)
    expect(names.list(9, 5, 0)).toEqual([
      ["c", 2],
      ["b", 1]
    ])
  })
})

describe("what a first process keeps for its workers", () => {
  it.effect("probes: the probe of a worker that ended is free for another worker", () =>
    Effect.gen(function* () {
      const first = yield* firstProcess
      const [one, other] = [(yield* first.worker(1)).link, (yield* first.worker(2)).link]
      const failed = {
        key: "c",
        outcome: "Failure",
        tripPolicy: { _tag: "Consecutive", failures: 1 },
        openMillis: 10
      } as const
      expect(yield* one.ask("admit", "c")).toEqual({ generation: 0, probe: false, consecutiveOpenings: 0 })
      expect(yield* one.ask("record", { ...failed, generation: 0 })).toBe("Open")
      expect(yield* other.ask("admit", "c")).toEqual({ openMillis: 10 })
      yield* TestClock.adjust(10)
      expect(yield* one.ask("admit", "c")).toEqual({ generation: 2, probe: true, consecutiveOpenings: 1 })
      expect(yield* other.ask("admit", "c")).toEqual({ isProbing: true })
      yield* first.kept.forget(1)
      expect(yield* other.ask("admit", "c")).toEqual({ generation: 3, probe: true, consecutiveOpenings: 1 })
      expect(yield* other.ask("record", { ...failed, outcome: "Success", generation: 3 })).toBe("Closed")
    })
  )

  it.effect("texts: expire, and the key with most of them loses its oldest first", () =>
    Effect.gen(function* () {
      const { link } = yield* (yield* firstProcess).worker(1)
      const keys = ["a", "b", "c"]
      yield* link.ask("setText", { ...text, owner: "quiet", key: "a", text: "1" })
      yield* link.ask("setText", { ...text, key: "b", text: "2" })
      yield* link.ask("setText", { ...text, key: "c", text: "3" })
      expect(yield* link.ask("texts", { room: "cache", keys })).toEqual(["1", null, "3"])
      expect(yield* link.ask("texts", { room: "signature", keys })).toEqual([null, null, null])
      yield* TestClock.adjust(1_000)
      expect(yield* link.ask("texts", { room: "cache", keys })).toEqual([null, null, null])
    }).pipe(Effect.provideService(Limits, { ...defaultLimits, cacheEntries: 2 }))
  )

  it.effect(
    "lessons: what one worker learns the other recalls for the same key and account, and both forget (M-906)",
    () =>
      Effect.gen(function* () {
        const first = yield* firstProcess
        const pro = lessonScope("key-1", googleAccount, undefined, "gemini-2.5-pro")
        if (pro === undefined) throw new Error("a stored credential learns")
        const built = (number: number) =>
          Effect.gen(function* () {
            const { state } = yield* first.worker(number)
            const context = yield* Layer.build(Layer.fresh(LearnedRemedies.layerShared).pipe(Layer.provide(state)))
            return yield* Effect.provide(LearnedRemedies, context)
          })
        const [teacher, pupil] = [yield* built(1), yield* built(2)]
        yield* Effect.provideService(teacher.learn(pro, [{ row: "H8", value: "" }]), Limits, defaultLimits)
        yield* TestClock.adjust(1_000)
        const others = [
          { ...pro, keyId: "key-2" },
          { ...pro, slug: "other" }
        ]
        expect([pro, ...others].map((scope) => pupil.recall(scope, 1_000).map(({ row }) => row))).toEqual([
          ["H8"],
          [],
          []
        ])
        const cleared = yield* Effect.forkChild(pupil.clear)
        yield* TestClock.adjust(1_000)
        yield* Fiber.join(cleared)
        expect(teacher.recall(pro, 2_000)).toEqual([])
      })
  )
})
