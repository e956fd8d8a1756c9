// Tests the limits of keys: reserved by estimate, settled by usage, in one process and in a Redis shared by gateways.
// Must not depend on HTTP, nor on real time.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { BudgetSpent, RateLimitReached, StoreUnavailable } from "../../src/domain/GatewayError.ts"
import type { Budget, GatewayKey } from "../../src/domain/GatewayKey.ts"
import { KeyLabel } from "../../src/keys/Budgets.ts"
import { Admission, type Admitted, type Estimate } from "../../src/keys/Admission.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import { type RateCounters, Spending, type SpendingChange } from "../../src/store/Spending.ts"
import { RateStore } from "../../src/state/SharedState.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

type RateLimit = NonNullable<GatewayKey["rate_limit"]>
type WantedLimit = { readonly [Field in keyof RateLimit]: RateLimit[Field] | undefined }

const keyOf = (rateLimit?: WantedLimit, budget?: Budget): GatewayKey => ({
  id: "ci",
  name: "ci",
  scopes: ["inference"],
  // A burst of a whole minute, unless the test sets another one.
  ...(rateLimit === undefined
    ? {}
    : {
        rate_limit: Object.fromEntries(
          Object.entries({
            requests_burst: rateLimit.requests_per_minute,
            tokens_burst: rateLimit.tokens_per_minute,
            ...rateLimit
          }).filter(([, limit]) => limit !== undefined)
        )
      }),
  ...(budget === undefined ? {} : { budget })
})

const admissionOn = (counts: Layer.Layer<RateCounters>, spending: Layer.Layer<Spending> = Spending.layerMemory) =>
  Admission.layer.pipe(
    Layer.provide([counts, spending, UsageLog.layerMemory]),
    Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
  )

/** The admitted request, or why it is none. */
const admit = (key: GatewayKey, estimate: Partial<Estimate> = {}) =>
  Effect.gen(function* () {
    const admission = yield* Admission
    const held: Array<Admitted> = []
    yield* admission.admit(key, { tokens: 0, costMicros: 0, ...estimate }, (one) => void held.push(one))
    const [one] = held
    return one === undefined ? yield* Effect.die("admitted, and nobody was told") : one
  })

const requests_per_minute = 3
const counts: ReadonlyArray<readonly [name: string, layer: Layer.Layer<RateCounters>]> = [
  ["in this process", RateStore.layerMemory],
  ...(saidWithoutRedis("limits of keys in Redis")
    ? [["in Redis", RateStore.layerShared.pipe(Layer.provide(redisLayer()), Layer.provide(ownPrefix()))] as const]
    : [])
]

describe.each(counts)("limits per minute %s", (_name, store) => {
  const layer = Layer.fresh(admissionOn(store))

  it.effect("request limit: allows its number, then one more request every twenty seconds", () =>
    Effect.gen(function* () {
      const key = keyOf({ requests_per_minute })
      const told = []
      for (let at = 0; at < 3; at++) told.push((yield* admit(key)).limits)
      expect(told).toEqual([
        { requests: { limit: 3, remaining: 2, resetMillis: 20_000 }, tokens: undefined },
        { requests: { limit: 3, remaining: 1, resetMillis: 40_000 }, tokens: undefined },
        { requests: { limit: 3, remaining: 0, resetMillis: 60_000 }, tokens: undefined }
      ])
      yield* TestClock.adjust(19_000)
      expect(yield* Effect.flip(admit(key))).toEqual(
        new RateLimitReached({
          kind: "requests",
          limit: 3,
          retryMillis: 1000,
          requests: { limit: 3, remaining: 0, resetMillis: 41_000 },
          tokens: undefined
        })
      )
      yield* TestClock.adjust(1000)
      expect((yield* admit(key)).limits.requests?.remaining).toBe(0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("token limit: reserves the estimate and returns the unused part", () =>
    Effect.gen(function* () {
      const key = keyOf({ requests_per_minute: 60, tokens_per_minute: 1000 })
      const first = yield* admit(key, { tokens: 900 })
      expect(first.limits.tokens).toEqual({ limit: 1000, remaining: 100, resetMillis: 54_000 })
      expect(yield* Effect.flip(admit(key, { tokens: 200 }))).toEqual(
        new RateLimitReached({
          kind: "tokens",
          limit: 1000,
          retryMillis: 6000,
          requests: { limit: 60, remaining: 58, resetMillis: 2000 },
          tokens: { limit: 1000, remaining: 100, resetMillis: 54_000 }
        })
      )
      yield* first.settle({ tokens: 300, costMicros: 0 })
      expect((yield* admit(key, { tokens: 200 })).limits.tokens?.remaining).toBe(500)
    }).pipe(Effect.provide(layer))
  )

  it.effect("token limit: usage above the estimate is debited", () =>
    Effect.gen(function* () {
      const key = keyOf({ tokens_per_minute: 600 })
      yield* (yield* admit(key, { tokens: 100 })).settle({ tokens: 700, costMicros: 0 })
      expect(yield* Effect.flip(admit(key, { tokens: 1 }))).toMatchObject({
        kind: "tokens",
        retryMillis: 10_100,
        tokens: { remaining: 0, resetMillis: 70_000 }
      })
      yield* TestClock.adjust(10_100)
      expect((yield* admit(key, { tokens: 1 })).limits.tokens?.remaining).toBe(0)
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "token limit: a request without counts keeps its reservation; one above the limit takes the whole minute",
    () =>
      Effect.gen(function* () {
        const key = keyOf({ tokens_per_minute: 600 })
        const admitted = yield* admit(key, { tokens: 5000 })
        expect(admitted.limits.tokens).toEqual({ limit: 600, remaining: 0, resetMillis: 60_000 })
        yield* admitted.settle(undefined)
        expect(yield* Effect.flip(admit(key, { tokens: 5000 }))).toMatchObject({ retryMillis: 60_000 })
      }).pipe(Effect.provide(layer))
  )

  it.effect("token limit: a late return never exceeds the limit", () =>
    Effect.gen(function* () {
      const key = keyOf({ tokens_per_minute: 600 })
      const first = yield* admit(key, { tokens: 600 })
      yield* TestClock.adjust(60_000)
      yield* first.settle({ tokens: 1, costMicros: 0 })
      expect((yield* admit(key)).limits.tokens).toEqual({ limit: 600, remaining: 600, resetMillis: 0 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("burst: any minute of a busy key has at most the limit and the burst", () =>
    Effect.gen(function* () {
      const key = keyOf({ requests_per_minute: 30, requests_burst: undefined })
      const passed: Array<number> = []
      for (let second = 0; second < 180; second++) {
        for (let at = 0; at < 5; at++) if ((yield* Effect.exit(admit(key)))._tag === "Success") passed.push(second)
        yield* TestClock.adjust(1000)
      }
      const minutes = Array.from(
        { length: 121 },
        (_, from) => passed.filter((second) => second >= from && second < from + 60).length
      )
      // The burst of three, then one request each two seconds.
      expect([Math.max(...minutes), passed.length, passed.slice(0, 5)]).toEqual([32, 92, [0, 0, 0, 2, 4]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("burst: a limit of 300 a minute lets 30 requests of an idle key through together", () =>
    Effect.gen(function* () {
      const key = keyOf({ requests_per_minute: 300, requests_burst: undefined })
      expect((yield* admit(key)).limits.requests).toEqual({ limit: 300, remaining: 29, resetMillis: 200 })
      for (let at = 1; at < 30; at++) yield* admit(key)
      expect(yield* Effect.flip(admit(key))).toEqual(
        new RateLimitReached({
          kind: "requests",
          limit: 300,
          retryMillis: 200,
          requests: { limit: 300, remaining: 0, resetMillis: 6000 },
          tokens: undefined
        })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("burst: a request larger than the burst of tokens passes a full bucket, and is paid back", () =>
    Effect.gen(function* () {
      const key = keyOf({ tokens_per_minute: 600, tokens_burst: undefined })
      expect((yield* admit(key, { tokens: 90 })).limits.tokens).toEqual({
        limit: 600,
        remaining: 0,
        resetMillis: 9000
      })
      expect(yield* Effect.flip(admit(key, { tokens: 1 }))).toMatchObject({ kind: "tokens", retryMillis: 3100 })
      expect(yield* Effect.flip(admit(key, { tokens: 90 }))).toMatchObject({ kind: "tokens", retryMillis: 9000 })
      yield* TestClock.adjust(3100)
      expect((yield* admit(key, { tokens: 1 })).limits.tokens).toEqual({ limit: 600, remaining: 0, resetMillis: 6000 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a changed limit: applies immediately, with a bucket of its own", () =>
    Effect.gen(function* () {
      yield* admit(keyOf({ requests_per_minute: 600 }))
      expect((yield* admit(keyOf({ requests_per_minute }))).limits.requests).toEqual({
        limit: 3,
        remaining: 2,
        resetMillis: 20_000
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("limits: keys do not share a bucket", () =>
    Effect.gen(function* () {
      yield* admit(keyOf({ requests_per_minute: 1 }))
      expect((yield* admit({ ...keyOf({ requests_per_minute: 1 }), id: "other" })).limits.requests?.remaining).toBe(0)
    }).pipe(Effect.provide(layer))
  )
})

describe.runIf(saidWithoutRedis("limits of keys shared by two gateways"))("two gateways on one Redis", () => {
  it.effect("two gateways: allow together what one would", () =>
    Effect.gen(function* () {
      const shared = admissionOn(RateStore.layerShared.pipe(Layer.provide(redisLayer())))
      const one = yield* Layer.build(Layer.fresh(shared))
      const other = yield* Layer.build(Layer.fresh(shared))
      const asked = [one, other, one, other].map((gateway) =>
        Effect.provide(Effect.exit(admit(keyOf({ requests_per_minute }))), gateway)
      )
      expect((yield* Effect.all(asked)).map(({ _tag }) => _tag)).toEqual(["Success", "Success", "Success", "Failure"])
    }).pipe(Effect.provide(ownPrefix()))
  )
})

const daily: Budget = { usd: 0.001, per: "day" }
const noon = Date.parse("2027-01-31T12:00:00Z")
const halfDay = 12 * 3_600_000

describe("budgets in this process", () => {
  const layer = Layer.fresh(admissionOn(RateStore.layerMemory))

  it.effect(
    "budget: the estimate is reserved, the unused part returns, and a spent budget refuses until midnight",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(noon)
        const key = keyOf(undefined, daily)
        const first = yield* admit(key, { costMicros: 600 })
        const spentError = { usd: 0.001, per: "day", resets: "2027-02-01T00:00:00.000Z", retryMillis: halfDay } as const
        expect(yield* Effect.flip(admit(key, { costMicros: 600 }))).toEqual(
          new BudgetSpent({
            ...spentError,
            estimateUsd: 0.0006,
            leftUsd: 0.001,
            isReserved: true,
            reclaimMillis: 60_000
          })
        )
        yield* first.settle({ tokens: 0, costMicros: 100 })
        const second = yield* admit(key, { costMicros: 600 })
        yield* second.settle({ tokens: 0, costMicros: 900 })
        expect(yield* Effect.flip(admit(key, { costMicros: 1 }))).toEqual(
          new BudgetSpent({ ...spentError, estimateUsd: 0.000001, leftUsd: 0, isReserved: false })
        )
        const admission = yield* Admission
        expect(yield* admission.spent(key)).toEqual({ spentMicros: 1000, lastUsedMillis: undefined })
        yield* TestClock.adjust(halfDay)
        expect(yield* admission.spent(key)).toEqual({ spentMicros: 0, lastUsedMillis: undefined })
        yield* admit(key, { costMicros: 1000 })
      }).pipe(Effect.provide(layer))
  )

  it.effect(
    "budget: a request without counts costs its reservation, and a spent budget refuses even a free request",
    () =>
      Effect.gen(function* () {
        const key = keyOf(undefined, daily)
        const free = yield* admit(key, { costMicros: 0 })
        expect((yield* Effect.flip(admit(key, { costMicros: 1000 })))._tag).toBe("BudgetSpent")
        yield* free.settle({ tokens: 0, costMicros: 0 })
        yield* (yield* admit(key, { costMicros: 1000 })).settle(undefined)
        expect((yield* Effect.flip(admit(key, { costMicros: 0 })))._tag).toBe("BudgetSpent")
        expect((yield* (yield* Admission).spent(key)).spentMicros).toBe(1000)
      }).pipe(Effect.provide(layer))
  )

  it.effect("budget: partial counts cost at least the reservation, in tokens and in money", () =>
    Effect.gen(function* () {
      const key = keyOf({ tokens_per_minute: 1000 }, daily)
      yield* (yield* admit(key, { tokens: 300, costMicros: 100 })).settle({ tokens: 1, costMicros: 1, isPart: true })
      expect((yield* (yield* Admission).spent(key)).spentMicros).toBe(100)
      const second = yield* admit(key, { tokens: 300, costMicros: 100 })
      expect(second.limits.tokens?.remaining).toBe(400)
      yield* second.settle({ tokens: 500, costMicros: 300, isPart: true })
      expect((yield* (yield* Admission).spent(key)).spentMicros).toBe(400)
      expect((yield* admit(key, { tokens: 1, costMicros: 1 })).limits.tokens?.remaining).toBe(199)
    }).pipe(Effect.provide(layer))
  )

  it.effect("budget: a request without an upstream call needs no tokens and no money", () =>
    Effect.gen(function* () {
      const key = keyOf({ requests_per_minute: 2, tokens_per_minute: 1 }, { usd: 0, per: "day" })
      const admission = yield* Admission
      const uncalled = Effect.suspend(() => {
        const held: Array<Admitted> = []
        return Effect.as(
          admission.admitUncalled(key, (one) => void held.push(one)),
          held
        )
      })
      expect((yield* uncalled).map(({ limits }) => limits)).toEqual([
        { requests: { limit: 2, remaining: 1, resetMillis: 30_000 }, tokens: undefined }
      ])
      yield* uncalled
      expect(yield* Effect.flip(uncalled)).toMatchObject({
        _tag: "RateLimitReached",
        kind: "requests",
        retryMillis: 30_000
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("budget: a refusal returns the reserved tokens", () =>
    Effect.gen(function* () {
      const key = keyOf({ tokens_per_minute: 100 }, daily)
      expect((yield* Effect.flip(admit(key, { tokens: 80, costMicros: 1001 })))._tag).toBe("BudgetSpent")
      expect((yield* admit(key, { tokens: 80, costMicros: 1 })).limits.tokens?.remaining).toBe(20)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a client that disconnects during the store query: gives the reserved tokens back", () => {
    const silent = Layer.effect(
      Spending,
      Effect.map(Spending, (real) => ({ ...real, exchange: () => Effect.never }))
    ).pipe(Layer.provide(Spending.layerMemory))
    return Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(
        admit(keyOf({ tokens_per_minute: 100 }, daily), { tokens: 80, costMicros: 1 }),
        { startImmediately: true }
      )
      expect((yield* admit(keyOf({ tokens_per_minute: 100 }))).limits.tokens?.remaining).toBe(20)
      yield* Fiber.interrupt(waiting)
      expect((yield* admit(keyOf({ tokens_per_minute: 100 }))).limits.tokens?.remaining).toBe(100)
    }).pipe(Effect.provide(Layer.fresh(admissionOn(RateStore.layerMemory, silent))))
  })

  it.effect("a raised budget: applies immediately", () =>
    Effect.gen(function* () {
      yield* (yield* admit(keyOf(undefined, daily), { costMicros: 1000 })).settle(undefined)
      expect((yield* Effect.flip(admit(keyOf(undefined, daily), { costMicros: 10 })))._tag).toBe("BudgetSpent")
      yield* admit(keyOf(undefined, { usd: 0.002, per: "day" }), { costMicros: 10 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("admission: refusals and remaining limits are metrics", () =>
    Effect.gen(function* () {
      const key = keyOf(undefined, daily)
      yield* (yield* admit(key, { costMicros: 400 })).settle(undefined)
      yield* Effect.flip(admit(key, { costMicros: 700 }))
      const seen = (yield* Metric.snapshot).map(({ attributes, id, state }) => [
        id,
        attributes,
        "count" in state ? state.count : "value" in state ? state.value : undefined
      ])
      expect(seen).toEqual([
        ["gateway_budget_remaining_usd", { budget: "ci" }, 0.0006],
        ["gateway_rate_limited_total", { scope: "key", kind: "budget" }, 1]
      ])
    }).pipe(Effect.provide(Layer.provide(layer, Layer.succeed(KeyLabel, true))))
  )
})

/** A store that records its exchanges, and can be made unreachable. */
const flaky = (told: Array<SpendingChange>, state: { isGone: boolean; isAnswerLost: boolean }): Layer.Layer<Spending> =>
  Layer.effect(
    Spending,
    Effect.map(Spending, (real) => ({
      ...real,
      exchange: (changes) =>
        Effect.suspend(() => {
          const gone = Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
          if (state.isGone) return gone
          told.push(...changes)
          return state.isAnswerLost ? Effect.andThen(real.exchange(changes), gone) : real.exchange(changes)
        })
    }))
  ).pipe(Layer.provide(Spending.layerMemory))

describe("budget on a store", () => {
  const fresh = () => {
    const told: Array<SpendingChange> = []
    const state = { isGone: false, isAnswerLost: false }
    return { told, state, layer: Layer.fresh(admissionOn(RateStore.layerMemory, flaky(told, state))) }
  }
  const large: Budget = { usd: 0.1, per: "month" }
  const key = keyOf(undefined, large)

  it.effect("budget on a store: is queried once for many requests, and not again while 1/100 of it lasts", () => {
    const { layer, told } = fresh()
    return Effect.gen(function* () {
      const all = yield* Effect.all(
        Array.from({ length: 50 }, () => admit(key, { costMicros: 10 })),
        { concurrency: 50 }
      )
      expect(told.map(({ wantedMicros }) => wantedMicros)).toEqual([50 * 10 + 1000])
      for (const one of all) yield* one.settle({ tokens: 0, costMicros: 2 })
      for (let at = 0; at < 100; at++) yield* admit(key, { costMicros: 10 })
      expect(told.length).toBe(1)
      yield* TestClock.adjust(250)
      expect(told.slice(1)).toEqual([
        {
          keyId: "ci",
          period: "1970-01",
          budgetMicros: 100_000,
          turn: 2,
          spentMicros: 100,
          wantedMicros: 100 * 10 + 1000
        }
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: returns an unused grant, and requests less again", () => {
    const { layer, told } = fresh()
    return Effect.gen(function* () {
      yield* admit(key, { costMicros: 50_000 })
      expect((yield* Effect.flip(admit(key, { costMicros: 60_000 })))._tag).toBe("BudgetSpent")
      yield* TestClock.adjust(250)
      yield* admit(key, { costMicros: 40_000 })
      expect((yield* Effect.flip(admit(key, { costMicros: 60_000 })))._tag).toBe("BudgetSpent")
      expect(told.map(({ wantedMicros }) => wantedMicros)).toEqual([51_000, 111_000, 51_000, 91_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: returns the reservation of a free request", () => {
    const { layer, told } = fresh()
    return Effect.gen(function* () {
      yield* (yield* admit(key, { costMicros: 50_000 })).settle({ tokens: 0, costMicros: 0 })
      yield* TestClock.adjust(250)
      expect(told.map(({ wantedMicros }) => wantedMicros)).toEqual([51_000, 1000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: is never asked for more than all of it", () => {
    const { layer, told } = fresh()
    return Effect.gen(function* () {
      for (const costMicros of [100_001, Number.MAX_VALUE]) {
        expect((yield* Effect.flip(admit(key, { costMicros })))._tag).toBe("BudgetSpent")
      }
      yield* admit(key, { costMicros: 100_000 })
      // The first refusal asks for the least, to know what is left; the second one comes within its second.
      expect(told.map(({ wantedMicros }) => wantedMicros)).toEqual([1_001, 101_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: a refusal of more than all of it states what other gateways have left (W11)", () =>
    Effect.gen(function* () {
      const spending = Layer.succeed(Spending, yield* Spending)
      const one = yield* Layer.build(Layer.fresh(admissionOn(RateStore.layerMemory, spending)))
      const other = yield* Layer.build(Layer.fresh(admissionOn(RateStore.layerMemory, spending)))
      yield* Effect.provide(
        Effect.flatMap(admit(key, { costMicros: 60_000 }), ({ settle }) => settle({ tokens: 0, costMicros: 60_000 })),
        one
      )
      yield* TestClock.adjust(250)
      const refused = yield* Effect.flip(Effect.provide(admit(key, { costMicros: 100_001 }), other))
      expect(refused).toMatchObject({ _tag: "BudgetSpent", usd: 0.1, estimateUsd: 0.100001, leftUsd: 0.04 })
    }).pipe(Effect.provide(Spending.layerMemory))
  )

  it.effect(
    "budget on a store: serves from its lease during an outage for at least ten minutes, and then reports the reason",
    () => {
      const { layer, state } = fresh()
      return Effect.gen(function* () {
        yield* admit(key, { costMicros: 10 })
        state.isGone = true
        yield* TestClock.adjust(600_000)
        yield* admit(key, { costMicros: 500 })
        expect(yield* Effect.flip(admit(key, { costMicros: 600 }))).toEqual(
          new StoreUnavailable({ reason: "unreachable" })
        )
        yield* TestClock.adjust(600_000)
        expect((yield* Effect.flip(admit(key, { costMicros: 1 })))._tag).toBe("StoreUnavailable")
        state.isGone = false
        yield* admit(key, { costMicros: 600 })
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("budget on a store: counts unacknowledged spending once", () => {
    const { layer, state, told } = fresh()
    return Effect.gen(function* () {
      yield* (yield* admit(key, { costMicros: 700 })).settle(undefined)
      state.isAnswerLost = true
      yield* TestClock.adjust(250)
      state.isAnswerLost = false
      yield* TestClock.adjust(250)
      expect(told.map(({ spentMicros, turn }) => [turn, spentMicros])).toEqual([
        [1, 0],
        [2, 700],
        [2, 700]
      ])
      expect((yield* (yield* Admission).spent(key)).spentMicros).toBe(700)
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: many budgets are exchanged in parts, which a failure halves (F71)", () => {
    const sizes: Array<number> = []
    const refuses = { next: 2 }
    const spending = Layer.succeed(Spending, {
      spent: () => Effect.succeed(0),
      exchange: (changes) =>
        Effect.suspend(() => {
          sizes.push(changes.length)
          return refuses.next-- > 0
            ? Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
            : Effect.succeed(changes.map(({ wantedMicros }) => ({ spentMicros: 0, leasedMicros: wantedMicros })))
        })
    })
    return Effect.gen(function* () {
      const asked = Effect.forEach(
        Array.from({ length: 1200 }, (_, at) => ({ ...key, id: `key-${at}` })),
        (one) => Effect.result(admit(one, { costMicros: 10 })),
        { concurrency: "unbounded" }
      )
      const failed = (yield* asked).filter(({ _tag }) => _tag === "Failure").length
      expect([sizes, failed]).toEqual([[500], 1200])
      // Without a request that waits, the pause grows.
      yield* TestClock.adjust(250)
      yield* TestClock.adjust(500)
      expect(sizes).toEqual([500, 250, 125, 250, 125])
    }).pipe(Effect.provide(Layer.fresh(admissionOn(RateStore.layerMemory, spending))))
  })

  it.effect("budget on a store: an hour forward and back does not keep a lease or a refusal (F34)", () => {
    const { layer, state } = fresh()
    return Effect.gen(function* () {
      const hour = 3_600_000
      yield* TestClock.setTime(hour)
      const running = yield* admit(key, { costMicros: 100_000 })
      yield* TestClock.setTime(2 * hour)
      expect((yield* Effect.flip(admit(key, { costMicros: 1000 })))._tag).toBe("BudgetSpent")
      yield* TestClock.setTime(hour)
      yield* running.settle({ tokens: 0, costMicros: 0 })
      yield* TestClock.adjust(1000)
      // What was refused an hour ahead is admitted a second later.
      yield* admit(key, { costMicros: 1000 })
      // A lease that was granted an hour ahead ends after its own time.
      state.isGone = true
      yield* TestClock.adjust(20 * 60_000)
      expect((yield* Effect.flip(admit(key, { costMicros: 1 })))._tag).toBe("StoreUnavailable")
    }).pipe(Effect.provide(layer))
  })

  it.effect("budget on a store: names what is lost when the process ends without the store (F72)", () => {
    const { layer, state } = fresh()
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(message))
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const one = yield* admit(key, { costMicros: 700 })
        state.isGone = true
        yield* one.settle({ tokens: 0, costMicros: 600 })
      }).pipe(Effect.provide(layer), Effect.scoped)
      expect(lines.flat()).toEqual([
        "store: 0.0006 US dollars that 1 budgets spent are lost: the store did not take them before the process ended"
      ])
    }).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.effect("budget on a store: gets leases back from idle keys, and all leases at the end of the process", () => {
    const { layer, told } = fresh()
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* (yield* admit(key, { costMicros: 10 })).settle(undefined)
        yield* TestClock.adjust(250)
        yield* TestClock.adjust(601_000)
        // Renewed every 20 s until the key is idle.
        expect(told.map(({ wantedMicros }) => wantedMicros)).toEqual([
          1010,
          ...Array.from({ length: 30 }, () => 1000),
          0
        ])
        yield* (yield* admit(key, { costMicros: 10 })).settle(undefined)
      }).pipe(Effect.provide(layer))
      expect(told.slice(32).map(({ spentMicros, wantedMicros }) => [spentMicros, wantedMicros])).toEqual([
        [0, 1010],
        [10, 0]
      ])
    })
  })
})
