// Tests the counters of rate limits in the process, in workers and in Redis: the same rules everywhere, and during an outage.
// Must not depend on keys or on HTTP.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { type RateAnswer, RateCounts } from "../../src/domain/RateCounts.ts"
import { RateCounters } from "../../src/store/Spending.ts"
import { RateStore, readTaken, SharedState, StateAway } from "../../src/state/SharedState.ts"
import { metrics } from "../../src/telemetry/metrics.ts"
import { SeriesRegistry } from "../../src/telemetry/Series.ts"
import { firstProcess } from "../support/firstProcess.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const shared = RateStore.layerShared.pipe(Layer.provide(redisLayer()))
/** An address without a server. */
const orphaned = RateStore.layerShared.pipe(Layer.provide(redisLayer("redis://127.0.0.1:1")))
const stores: ReadonlyArray<readonly [name: string, layer: Layer.Layer<RateCounters>]> = [
  ["of the process", RateStore.layerMemory],
  ["of a Redis that is gone", orphaned],
  ...(saidWithoutRedis("rate limits in Redis") ? ([["in Redis", Layer.provide(shared, ownPrefix())]] as const) : [])
]

/** Takes tokens of a second each from buckets of three. */
const take = (tokens: Readonly<Record<string, number>>, isForced = false) =>
  Effect.flatMap(RateCounters, (store) =>
    store.take(
      Object.entries(tokens).map(([key, count]) => ({ key, costMillis: count * 1000, capacityMillis: 3000 })),
      isForced
    )
  )

describe.each(stores)("rate counters %s", (_name, layer) => {
  it.effect("rate counters: allow what a bucket holds and refuse the rest", () =>
    Effect.gen(function* () {
      expect([yield* take({ a: 2 }), yield* take({ a: 2 }), yield* take({ a: 1 }), yield* take({ a: 1 })]).toEqual([
        { refusedAt: -1, fullMillis: [2000] },
        { refusedAt: 0, fullMillis: [2000] },
        { refusedAt: -1, fullMillis: [3000] },
        { refusedAt: 0, fullMillis: [3000] }
      ])
      yield* TestClock.adjust(999)
      expect(yield* take({ a: 1 })).toEqual({ refusedAt: 0, fullMillis: [2001] })
      yield* TestClock.adjust(1)
      expect(yield* take({ a: 1 })).toEqual({ refusedAt: -1, fullMillis: [3000] })
    }).pipe(Effect.provide(layer))
  )

  it.effect("rate counters: take from several buckets until one of them refuses", () =>
    Effect.gen(function* () {
      expect([
        yield* take({ b: 1, c: 3, d: 1 }),
        yield* take({ b: 1, c: 1, d: 1 }),
        yield* take({ b: 2, c: 0, d: 2 })
      ]).toEqual([
        { refusedAt: -1, fullMillis: [1000, 3000, 1000] },
        { refusedAt: 1, fullMillis: [2000, 3000, 1000] },
        { refusedAt: 0, fullMillis: [2000, 3000, 1000] }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("rate counters: a larger cost passes a full bucket as a debt; returns never exceed the bucket", () =>
    Effect.gen(function* () {
      expect([
        yield* take({ e: 5 }),
        yield* take({ e: 0 }),
        yield* take({ e: 2 }, true),
        yield* take({ e: -6.5 }, true),
        yield* take({ e: -3 }, true),
        yield* take({ e: 0 })
      ]).toEqual([
        { refusedAt: -1, fullMillis: [5000] },
        { refusedAt: 0, fullMillis: [5000] },
        { refusedAt: -1, fullMillis: [7000] },
        { refusedAt: -1, fullMillis: [500] },
        { refusedAt: -1, fullMillis: [0] },
        { refusedAt: -1, fullMillis: [0] }
      ])
    }).pipe(Effect.provide(layer))
  )
})

describe("rate counters whose shared state is late once", () => {
  it.effect(
    "rate counters: begin with the last answer of the shared state, and count each look of their own (F75)",
    () => {
      const answers: Array<RateAnswer | undefined> = [
        { refusedAt: -1, fullMillis: [2500] },
        undefined,
        undefined,
        { refusedAt: -1, fullMillis: [0] },
        undefined
      ]
      const unused = Effect.die("not asked")
      const state = Layer.succeed(SharedState, {
        takeRates: () =>
          Effect.suspend(() => {
            const answer = answers.shift()
            return answer === undefined ? Effect.fail(new StateAway({ cause: "late" })) : Effect.succeed(answer)
          }),
        breakers: { admit: () => unused, record: () => unused },
        texts: () => unused,
        setText: () => unused,
        addName: () => unused,
        names: () => unused,
        removeName: () => unused,
        clearNames: () => unused
      })
      return Effect.gen(function* () {
        expect([yield* take({ a: 2.5 }), yield* take({ a: 1 })]).toEqual([
          { refusedAt: -1, fullMillis: [2500] },
          { refusedAt: 0, fullMillis: [2500] }
        ])
        yield* TestClock.adjust(500)
        expect([yield* take({ a: 1 }), yield* take({ a: 0 }), yield* take({ a: 3 })]).toEqual([
          { refusedAt: -1, fullMillis: [3000] },
          { refusedAt: -1, fullMillis: [0] },
          { refusedAt: -1, fullMillis: [3000] }
        ])
        expect(SeriesRegistry.of(yield* Effect.context<never>()).counter(metrics.rateFallbacks, {}).count).toBe(3)
      }).pipe(
        Effect.provide(Layer.fresh(RateStore.layerShared).pipe(Layer.provide(state))),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
    }
  )
})

describe("rate counters and the wall clock", () => {
  const hour = 3_600_000
  it.effect("rate counters: an hour forward and back refuses nothing that the time since allows (F34)", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(hour)
      expect([yield* take({ a: 3 }), yield* take({ a: 1 })].map(({ refusedAt }) => refusedAt)).toEqual([-1, 0])
      yield* TestClock.setTime(2 * hour)
      expect([yield* take({ a: 3 }), yield* take({ a: 1 })].map(({ refusedAt }) => refusedAt)).toEqual([-1, 0])
      yield* TestClock.setTime(hour)
      expect(yield* take({ a: 1 })).toEqual({ refusedAt: 0, fullMillis: [3000] })
      yield* TestClock.adjust(3000)
      expect(yield* take({ a: 3 })).toEqual({ refusedAt: -1, fullMillis: [3000] })
    }).pipe(Effect.provide(Layer.fresh(RateStore.layerMemory)))
  )
})

describe("rate counters of two workers of one first process", () => {
  it.effect("rate counters: count the requests of both workers", () =>
    Effect.gen(function* () {
      const first = yield* firstProcess
      const [one, other] = [yield* first.worker(1), yield* first.worker(2)].map(({ state }) =>
        Layer.fresh(RateStore.layerShared).pipe(Layer.provide(state))
      )
      if (one === undefined || other === undefined) return
      const taken = [one, other, one, other].map((store) => Effect.provide(take({ a: 1 }), store))
      expect((yield* Effect.all(taken)).map(({ refusedAt }) => refusedAt)).toEqual([-1, -1, -1, 0])
    })
  )
})

describe.runIf(saidWithoutRedis("rate limits of two processes"))("rate counters of two processes on one Redis", () => {
  it.effect("rate counters: count the requests of both processes", () =>
    Effect.gen(function* () {
      const one = yield* Layer.build(Layer.fresh(shared))
      const other = yield* Layer.build(Layer.fresh(shared))
      const taken = [one, other, one, other].map((store) => Effect.provide(take({ a: 1 }), store))
      expect((yield* Effect.all(taken)).map(({ refusedAt }) => refusedAt)).toEqual([-1, -1, -1, 0])
    }).pipe(Effect.provide(ownPrefix()))
  )
})

describe("arithmetic of rate limits", () => {
  const ask = (key: string, costMillis: number) => [{ key, costMillis, capacityMillis: 3000 }]

  it("rate counters: a clock that is set back fills no bucket", () => {
    const counts = new RateCounts()
    counts.take(ask("a", 3000), false, 10_000)
    expect(counts.take(ask("a", 0), false, 1000)).toEqual({ refusedAt: -1, fullMillis: [3000] })
    counts.take(ask("a", 1000), true, 1000)
    expect(counts.take(ask("a", 0), true, 11_000)).toEqual({ refusedAt: -1, fullMillis: [3000] })
  })

  it("rate counters: 100,000 keys that come once leave no buckets", () => {
    const counts = new RateCounts()
    for (let at = 0; at < 100_000; at++) counts.take(ask(`key ${at}`, 1000), false, at * 10)
    expect(Reflect.get(counts, "buckets")).toHaveProperty("size", 100)
  })

  it.each([
    [null],
    ["OK"],
    [7],
    [[]],
    [[-1]],
    [[-1, "5", "6"]],
    [[-1, null]],
    [[-1, ""]],
    [[-1, "many"]],
    [[-1, "-5"]],
    [[-1, "inf"]],
    [["-2", "5"]],
    [[1, "5"]],
    [[0.5, "5"]],
    [[-1, ["5"]]]
  ])("rate counters: a reply of another shape is none: %j", (reply) => {
    expect(readTaken(reply, 1)).toBe(undefined)
  })

  it("rate counters: a reply has the refused ask and the time of each bucket", () => {
    expect(readTaken([1, "5.5", 0], 2)).toEqual({ refusedAt: 1, fullMillis: [5.5, 0] })
  })
})
