// The lessons of refusals in one process and in several on one Redis: per model, for a limited time, within bounds.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { LearnedRemedies, type TaughtModel } from "../../src/state/LearnedRemedies.ts"
import type { HealRow, Lesson } from "../../src/translate/healing/lessons.ts"
import { until } from "../support/eventually.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const limited = (limits: Partial<LimitValues>) => Layer.succeed(Limits, { ...defaultLimits, ...limits })
const inProcess = (limits: Partial<LimitValues> = {}) =>
  LearnedRemedies.layerMemory.pipe(Layer.provide(limited(limits)))
const inRedis = (url?: string) => LearnedRemedies.layerShared.pipe(Layer.provide([redisLayer(url), limited({})]))

type Learned = LearnedRemedies["Service"]
const pro: TaughtModel = { kind: "google", modelId: "gemini-2.5-pro" }
const lesson = (row: HealRow, value = ""): Lesson => ({ row, value })
const recalledBy = (learned: Learned, model: TaughtModel) =>
  Effect.clockWith((clock) =>
    Effect.sync(() => learned.recall(model, clock.currentTimeMillisUnsafe()).map(({ row, value }) => [row, value]))
  )

describe("the lessons of one process", () => {
  it.effect("lessons: are kept by provider and model, oldest first (M-901)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      expect(yield* recalledBy(learned, pro)).toEqual([])
      yield* learned.learn(pro, [lesson("H2", "minimal"), lesson("H8")])
      yield* learned.learn({ ...pro, kind: "vertex-ai" }, [lesson("H4")])
      yield* learned.learn(pro, [lesson("H9")])
      expect(yield* recalledBy(learned, pro)).toEqual([
        ["H2", "minimal"],
        ["H8", ""],
        ["H9", ""]
      ])
      expect(yield* recalledBy(learned, { ...pro, kind: "vertex-ai" })).toEqual([["H4", ""]])
      expect(yield* recalledBy(learned, { ...pro, modelId: "gemini-2.5-flash" })).toEqual([])
    }).pipe(Effect.provide(inProcess()))
  )

  it.effect("lessons: end after their time, which a new refusal renews (M-901)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      yield* learned.learn(pro, [lesson("H8"), lesson("H9")])
      yield* TestClock.adjust("30 minutes")
      yield* learned.learn(pro, [lesson("H8")])
      yield* TestClock.adjust("30 minutes")
      expect(yield* recalledBy(learned, pro)).toEqual([["H8", ""]])
      yield* TestClock.adjust("30 minutes")
      expect(yield* recalledBy(learned, pro)).toEqual([])
    }).pipe(Effect.provide(inProcess()))
  )

  it.effect("lessons: the oldest leave when there are too many (M-901)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      yield* learned.learn(pro, [lesson("H5", "1"), lesson("H5", "2"), lesson("H5", "3")])
      expect(yield* recalledBy(learned, pro)).toEqual([
        ["H5", "2"],
        ["H5", "3"]
      ])
    }).pipe(Effect.provide(inProcess({ lessonEntries: 2 })))
  )

  it.effect("moving names: have the model that answered last for an hour, and it is no lesson (M-111)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      const name = { kind: "google", modelId: "gemini-flash-latest" }
      const moved = Effect.clockWith((clock) =>
        Effect.sync(() => learned.movedTo(name, clock.currentTimeMillisUnsafe()))
      )
      expect(yield* moved).toBe(undefined)
      yield* learned.learn(name, [lesson("H8")])
      yield* learned.learnMove(name, "gemini-3.7-flash")
      yield* learned.learnMove(name, "gemini-3.8-flash")
      expect([yield* moved, yield* recalledBy(learned, name)]).toEqual(["gemini-3.8-flash", [["H8", ""]]])
      yield* learned.learnMove(name, "gemini-3.7-flash")
      expect([yield* moved, learned.movedTo({ ...name, kind: "vertex-ai" }, 0)]).toEqual([
        "gemini-3.7-flash",
        undefined
      ])
      yield* TestClock.adjust("1 hour")
      expect(yield* moved).toBe(undefined)
    }).pipe(Effect.provide(inProcess()))
  )

  it.effect("lessons: are forgotten on demand (M-901)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      yield* learned.learn(pro, [lesson("H8")])
      yield* learned.clear
      expect(yield* recalledBy(learned, pro)).toEqual([])
    }).pipe(Effect.provide(inProcess()))
  )

  it.live("lessons: stay in the process while Redis is gone (M-901)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      yield* learned.learn(pro, [lesson("H8")])
      expect(yield* recalledBy(learned, pro)).toEqual([["H8", ""]])
    }).pipe(Effect.provide(inRedis("redis://127.0.0.1:1")))
  )
})

describe.runIf(saidWithoutRedis("lessons in Redis"))("the lessons of two processes on one Redis", () => {
  it.live("lessons: reach the other process, and are forgotten by both (M-901)", () =>
    Effect.gen(function* () {
      const built = Effect.map(Layer.build(Layer.fresh(inRedis())), (context) =>
        Effect.provide(LearnedRemedies, context)
      )
      const [teacher, pupil] = yield* Effect.all([Effect.flatten(built), Effect.flatten(built)])
      const known = (learned: Learned) => Effect.runSync(recalledBy(learned, pro))
      yield* teacher.learn(pro, [lesson("H2", "minimal"), lesson("H8")])
      yield* teacher.learnMove(pro, "gemini-2.5-pro-002")
      yield* Effect.promise(() => until(() => pupil.movedTo(pro, Date.now()) === "gemini-2.5-pro-002"))
      yield* Effect.promise(() => until(() => known(pupil).length === 2))
      expect(known(pupil)).toEqual([
        ["H2", "minimal"],
        ["H8", ""]
      ])
      yield* pupil.clear
      yield* Effect.promise(() => until(() => known(teacher).length === 0))
      expect(known(pupil)).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(ownPrefix()))
  )
})
