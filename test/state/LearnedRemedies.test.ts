// The lessons of refusals in one process and in several on one Redis: by key, account and model, for a time, within bounds.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { LearnedRemedies, type LessonScope, lessonScope } from "../../src/state/LearnedRemedies.ts"
import { SharedState } from "../../src/state/SharedState.ts"
import type { HealRow, Lesson } from "../../src/translate/healing/lessons.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"
import { passUntil, stopTime } from "../support/stoppedTime.ts"

const limited = (limits: Partial<LimitValues>) => Layer.succeed(Limits, { ...defaultLimits, ...limits })
const inProcess = (limits: Partial<LimitValues> = {}) =>
  LearnedRemedies.layerMemory.pipe(Layer.provide(limited(limits)))
const inRedis = (url?: string) => LearnedRemedies.layerShared.pipe(Layer.provide([redisLayer(url), limited({})]))

type Learned = LearnedRemedies["Service"]
const pro: LessonScope = {
  keyId: "key-1",
  kind: "google",
  slug: "google",
  host: "",
  project: "",
  region: "",
  config: "",
  modelId: "gemini-2.5-pro"
}
const lesson = (row: HealRow, value = ""): Lesson => ({ row, value })
const recalledBy = (learned: Learned, scope: LessonScope) =>
  Effect.clockWith((clock) =>
    Effect.sync(() => learned.recall(scope, clock.currentTimeMillisUnsafe()).map(({ row, value }) => [row, value]))
  )

describe("the lessons of one process", () => {
  it.effect("lessons: are kept by key, account, place and model, oldest first (M-906)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      expect(yield* recalledBy(learned, pro)).toEqual([])
      yield* learned.learn(pro, [lesson("H2", "minimal"), lesson("H8")])
      const others = Object.keys(pro).map((part) => ({ ...pro, [part]: "other" }))
      for (const other of others) {
        expect(yield* recalledBy(learned, other)).toEqual([])
        yield* learned.learn(other, [lesson("H4")])
      }
      yield* learned.learn(pro, [lesson("H9")])
      expect(yield* recalledBy(learned, pro)).toEqual([
        ["H2", "minimal"],
        ["H8", ""],
        ["H9", ""]
      ])
      for (const other of others) expect(yield* recalledBy(learned, other)).toEqual([["H4", ""]])
      expect(learned.lessonsOf("other", 0)).toEqual([
        { ...pro, modelId: "other", row: "H4", value: "", untilMillis: 3_600_000 }
      ])
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

  it.effect("lessons: of one key evict no lesson of another key (M-910)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      yield* learned.learn(pro, [lesson("H8")])
      const loud = { ...pro, keyId: "loud" }
      for (const value of ["1", "2", "3", "4"]) yield* learned.learn(loud, [lesson("H5", value)])
      expect([yield* recalledBy(learned, pro), yield* recalledBy(learned, loud)]).toEqual([
        [["H8", ""]],
        [
          ["H5", "3"],
          ["H5", "4"]
        ]
      ])
    }).pipe(Effect.provide(inProcess({ lessonEntries: 3 })))
  )

  it.effect("lessons: a part with a line end is never kept, so that no name can be another's (M-906)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      const odd = { ...pro, keyId: "key-1\ngoogle" }
      yield* learned.learn(odd, [lesson("H8")])
      expect([yield* recalledBy(learned, odd), yield* recalledBy(learned, pro)]).toEqual([[], []])
    }).pipe(Effect.provide(inProcess()))
  )

  it.effect("moving names: have the model that answered last for an hour, and it is no lesson (M-111)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      const name = { ...pro, modelId: "gemini-flash-latest" }
      const moved = Effect.clockWith((clock) =>
        Effect.sync(() => learned.movedTo(name, clock.currentTimeMillisUnsafe()))
      )
      expect(yield* moved).toBe(undefined)
      yield* learned.learn(name, [lesson("H8")])
      yield* learned.learnMove(name, "gemini-3.7-flash")
      yield* learned.learnMove(name, "gemini-3.8-flash")
      expect([yield* moved, yield* recalledBy(learned, name)]).toEqual(["gemini-3.8-flash", [["H8", ""]]])
      yield* learned.learnMove(name, "gemini-3.7-flash")
      const others = [
        { ...name, kind: "vertex-ai" },
        { ...name, slug: "other" },
        { ...name, keyId: "key-2" }
      ]
      expect([yield* moved, ...others.map((other) => learned.movedTo(other, 0))]).toEqual([
        "gemini-3.7-flash",
        undefined,
        undefined,
        undefined
      ])
      yield* TestClock.adjust("1 hour")
      expect(yield* moved).toBe(undefined)
    }).pipe(Effect.provide(inProcess()))
  )

  it.effect("moving names: an upstream with more than eight models is not followed any more (M-910)", () =>
    Effect.gen(function* () {
      const learned = yield* LearnedRemedies
      const models = Array.from({ length: 9 }, (_, at) => `model-${at}`)
      for (const model of models) yield* learned.learnMove(pro, model)
      expect(learned.movedTo(pro, 0)).toBe("model-7")
      yield* learned.learnMove(pro, "model-3")
      expect([learned.movedTo(pro, 0), learned.lessonsOf(pro.modelId, 0).length]).toEqual(["model-3", 8])
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

describe("the scope of a lesson", () => {
  const scopeOf = (account: typeof googleAccount, config?: string) =>
    lessonScope("key-1", account, config, "models/Gemini-2.5-Pro")

  it("scope: has the account and the place of the call (M-906)", () => {
    const { credentials: _none, ...facts } = vertexAccount
    const key = { clientEmail: "a@b", privateKeyId: "1", privateKey: Redacted.make("x"), projectId: "of-the-key" }
    expect([
      scopeOf(googleAccount),
      scopeOf(googleAccount, "config-1"),
      scopeOf({ ...vertexAccount, base_url: "https://proxy.example" }),
      scopeOf({ ...facts, project_id: undefined, credentials: { _tag: "ServiceAccount", key } })
    ]).toEqual([
      pro,
      { ...pro, config: "config-1" },
      {
        ...pro,
        kind: "vertex-ai",
        slug: "vertex-ai",
        host: "https://proxy.example",
        project: "test-project",
        region: "us-central1"
      },
      { ...pro, kind: "vertex-ai", slug: "vertex-ai", project: "of-the-key", region: "us-central1" }
    ])
  })

  it("scope: has the host of a self-deployed endpoint (M-906)", () => {
    const endpoints = { e1: { dialect: "gemini", host: "e1.example", model: undefined } } as const
    expect(lessonScope("key-1", { ...googleAccount, endpoints }, undefined, "e1")).toEqual({
      ...pro,
      host: "e1.example",
      modelId: "e1"
    })
  })

  it("scope: is none with a credential of the request (M-907)", () => {
    expect(scopeOf({ ...googleAccount, origin: "caller", carriedBy: "key-1" })).toBe(undefined)
  })
})

describe.runIf(saidWithoutRedis("lessons in Redis"))("the lessons of two processes on one Redis", () => {
  it.live("lessons: of one key evict no lesson of another key (M-910)", () =>
    Effect.gen(function* () {
      const state = yield* SharedState
      const add = (name: string, dueMillis: number) =>
        state.addName({ list: "lessons", name, dueMillis, most: 3, idleMillis: 0 })
      yield* add("quiet\n1", 100_000)
      for (const at of [2, 3, 4, 5]) yield* add(`loud\n${at}`, at * 100_000)
      expect((yield* state.names("lessons", 9, 0)).map(([name]) => name)).toEqual(["loud\n5", "loud\n4", "quiet\n1"])
    }).pipe(Effect.scoped, Effect.provide(redisLayer().pipe(Layer.provideMerge(ownPrefix()))))
  )

  it.live("lessons: reach the other process, and are forgotten by both (M-901)", () =>
    Effect.gen(function* () {
      // Each process reads the shared lessons again after a pause.
      stopTime()
      const once = (holds: () => boolean) => Effect.promise(() => passUntil(100, holds))
      const built = Effect.map(Layer.build(Layer.fresh(inRedis())), (context) =>
        Effect.provide(LearnedRemedies, context)
      )
      const [teacher, pupil] = yield* Effect.all([Effect.flatten(built), Effect.flatten(built)])
      const known = (learned: Learned) => Effect.runSync(recalledBy(learned, pro))
      const others = Object.keys(pro).map((part) => ({ ...pro, [part]: "other" }))
      yield* teacher.learn(pro, [lesson("H2", "minimal"), lesson("H8")])
      yield* teacher.learnMove(pro, "gemini-2.5-pro-002")
      yield* once(() => pupil.movedTo(pro, Date.now()) === "gemini-2.5-pro-002")
      yield* once(() => known(pupil).length === 2)
      expect(known(pupil)).toEqual([
        ["H2", "minimal"],
        ["H8", ""]
      ])
      for (const other of others)
        expect([yield* recalledBy(pupil, other), pupil.movedTo(other, 0)]).toEqual([[], undefined])
      yield* pupil.clear
      yield* once(() => known(teacher).length === 0)
      expect(known(pupil)).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(ownPrefix()))
  )
})
