// Tests attempts in sequence: their times, their limits, and the number of calls in a storm of failures.
// Must not depend on HTTP or on real time.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, type LimitValues } from "../../src/domain/Limits.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import { Gateway } from "../../src/Gateway.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"
import { config, fallback } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { replying } from "../support/scripted.ts"
import { settingsFor } from "../support/TestGateway.ts"

const request = { model: "gemini-2.5-flash", messages: [{ role: "user", content: "hi" }] }
const google = { provider: "google" }
const vertex = { provider: "vertex-ai" }
const good = replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
const failing = (
  status: number,
  details: ReadonlyArray<object> = [],
  headers: Record<string, string> = {}
): ScriptedResponse => ({
  status,
  headers,
  chunks: [JSON.stringify({ error: { code: status, message: "Not now.", details } })]
})
const busy = failing(503)

interface World {
  /** The moments of all calls, and what they were. */
  readonly calls: Array<{ readonly at: number; readonly request: TransportRequest }>
  readonly layer: Layer.Layer<ProviderRouter>
}
const world = (
  answer: (call: number, request: TransportRequest, at: number) => ScriptedResponse,
  limits: Partial<LimitValues> = {}
): World => {
  const calls: World["calls"] = []
  const transport = Transport.layerTest((request) =>
    Effect.clockWith((clock) => {
      const at = clock.currentTimeMillisUnsafe()
      calls.push({ at, request })
      return Effect.succeed(answer(calls.length, request, at))
    })
  )
  const settings = settingsFor("http://unused.invalid", {
    accounts: [googleAccount, vertexAccount],
    // The limits of an operator who sets none.
    limits: { ...defaultLimits, retries: 2, ...limits }
  })
  return {
    calls,
    layer: Gateway.layerNoDeps(settings).pipe(
      Layer.orDie,
      Layer.provide(transport),
      Layer.provide(Layer.succeed(Random.Random, { nextDoubleUnsafe: () => 0.5, nextIntUnsafe: () => 0 }))
    )
  }
}
const context = (more: Partial<RequestContext> = {}): RequestContext => ({
  ...requestContext,
  startedMillis: 0,
  ...more
})

/** Runs a chat to its end, however long it waits; the statuses of its failures are the reasons' tags. */
const chat = (more: Partial<RequestContext> = {}) =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const running = yield* Effect.forkChild(router.run("chat", request, context(more)))
    yield* TestClock.adjust("10 minutes")
    const exit = yield* Fiber.await(running)
    if (Exit.isSuccess(exit)) return { served: exit.value.served.optionIndex, retries: exit.value.served.retryCount }
    const error = Exit.findErrorOption(exit)
    return { failed: error._tag === "Some" ? error.value._tag : "defect" }
  })

describe("waits between attempts", () => {
  it.effect("attempts: wait half of half a second, then half of a second, with chance in the middle (S11)", () => {
    const { calls, layer } = world(() => busy)
    return Effect.gen(function* () {
      expect(yield* chat({ config: config(google) })).toEqual({ failed: "AllTargetsFailed" })
      expect(calls.map(({ at }) => at)).toEqual([0, 250, 750])
    }).pipe(Effect.provide(layer))
  })
  it.effect.each<readonly [name: string, first: ScriptedResponse, moments: ReadonlyArray<number>]>([
    [
      "RetryInfo",
      failing(429, [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.6s" }]),
      [0, 1_800]
    ],
    ["Retry-After", failing(503, [], { "retry-after": "1" }), [0, 1_125]],
    ["a date in the past is ignored", failing(503, [], { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }), [0, 250]],
    ["garbage is ignored", failing(503, [], { "retry-after": "soon" }), [0, 250]],
    ["a negative delay is ignored", failing(503, [], { "retry-after": "-3" }), [0, 250]],
    ["7 seconds are too long", failing(429, [], { "retry-after": "7" }), [0]],
    ["an hour is too long", failing(429, [], { "retry-after": "3600" }), [0]]
  ])("attempts: wait by the upstream's advice where it is valid and short: %s (F18)", ([, first, moments]) => {
    const { calls, layer } = world((call) => (call === 1 ? first : good))
    return Effect.gen(function* () {
      yield* chat({ config: config(google) })
      expect(calls.map(({ at }) => at)).toEqual(moments)
    }).pipe(Effect.provide(layer))
  })
  it.effect("attempts: do not wait between targets", () => {
    const { calls, layer } = world((_, { url }) => (url.includes("generativelanguage") ? busy : good))
    return Effect.gen(function* () {
      expect(yield* chat({ config: config(fallback({ ...google, retry: { attempts: 1 } }, vertex)) })).toEqual({
        served: 1,
        retries: 0
      })
      expect(calls.map(({ at }) => at)).toEqual([0, 250, 250])
    }).pipe(Effect.provide(layer))
  })
  it.effect("attempts: end with the caller (F26)", () => {
    const { calls, layer } = world(() => busy)
    return Effect.gen(function* () {
      const router = yield* ProviderRouter
      const running = yield* Effect.forkChild(router.run("chat", request, context({ config: config(google) })))
      yield* TestClock.adjust(100)
      yield* Fiber.interrupt(running)
      yield* TestClock.adjust("1 minute")
      expect(calls.map(({ at }) => at)).toEqual([0])
    }).pipe(Effect.provide(layer))
  })
})

describe("times of attempts", () => {
  const timesOf = ({
    request: { connectMillis, firstByteMillis, idleMillis, totalMillis }
  }: World["calls"][number]) => [connectMillis, firstByteMillis, idleMillis, totalMillis]
  it.effect("attempts: have the rest of the deadline, and none starts after it (S12)", () => {
    const { calls, layer } = world(() => busy)
    return Effect.gen(function* () {
      expect(yield* chat({ config: config(google), deadlineMillis: 700 })).toEqual({ failed: "AllTargetsFailed" })
      expect(calls.map((call) => [call.at, call.request.totalMillis])).toEqual([
        [0, 700],
        [250, 450]
      ])
    }).pipe(Effect.provide(layer))
  })
  it.effect("attempts: a target has timeouts of its own, within the operator's limits", () => {
    const { calls, layer } = world(() => busy)
    const timed = { ...google, timeouts: { connect: 1, first_byte: 2, idle: 3, total: 4 } }
    return Effect.gen(function* () {
      yield* chat({
        config: config(
          fallback(
            timed,
            { ...google, timeouts: { connect: 1e9, first_byte: 1e9, idle: 1e9, total: 1e9 } },
            { ...google, request_timeout: 9 }
          )
        )
      })
      expect(calls.map(timesOf).slice(0, 3)).toEqual([
        [1, 2, 3, 4],
        [5_000, 600_000, 60_000, 600_000],
        [5_000, 600_000, 60_000, 9]
      ])
    }).pipe(Effect.provide(layer))
  })
  it.effect("attempts: request_timeout limits the start of a stream only", () => {
    const { calls, layer } = world(() => busy)
    return Effect.gen(function* () {
      const router = yield* ProviderRouter
      yield* Effect.scoped(
        Effect.exit(
          router.open(
            "chat",
            { ...request, stream: true },
            context({ config: config({ ...google, request_timeout: 9, retry: { attempts: 0 } }) })
          )
        )
      )
      expect(calls.map(timesOf)).toEqual([[5_000, 9, 60_000, 2_147_483_647]])
    }).pipe(Effect.provide(layer))
  })
})

describe("storm of failures", () => {
  const perSecond = 50
  const seconds = 30
  /** Requests at a steady rate, each a fiber of its own; how many were answered, second by second. */
  const storm = (more: Partial<RequestContext>) =>
    Effect.gen(function* () {
      const router = yield* ProviderRouter
      const answered = Array.from({ length: seconds }, () => 0)
      for (let n = 0; n < perSecond * seconds; n++) {
        const at = n * (1_000 / perSecond)
        const second = Math.floor(at / 1_000)
        yield* Effect.forkChild(
          Effect.tap(Effect.exit(router.run("chat", request, context({ ...more, startedMillis: at }))), (exit) =>
            Effect.sync(() => {
              if (Exit.isSuccess(exit)) answered[second] = (answered[second] ?? 0) + 1
            })
          )
        )
        yield* TestClock.adjust(1_000 / perSecond)
      }
      yield* TestClock.adjust("1 minute")
      return answered
    })

  it.effect(
    "attempts: a storm of 503 makes at most 1.2 calls per request in any ten seconds, and no failure after its end (F19)",
    () => {
      const { calls, layer } = world((_call, _request, at) => (at < 20_000 ? busy : good))
      return Effect.gen(function* () {
        const answered = yield* storm({ config: config(google) })
        for (let from = 0; from <= 20_000; from += 1_000) {
          const some = calls.filter(({ at }) => at >= from && at < from + 10_000).length
          expect(some).toBeLessThanOrEqual(perSecond * 10 * 1.2 + 3)
        }
        expect(answered.slice(20)).toEqual(Array.from({ length: 10 }, () => perSecond))
      }).pipe(Effect.provide(layer))
    }
  )
  it.effect("attempts: where every second call fails, retries answer as many as the budget allows (F20)", () => {
    const { calls, layer } = world((call) => (call % 2 === 0 ? busy : good))
    return Effect.gen(function* () {
      const answered = yield* storm({ config: config(google) })
      const share = answered.reduce((sum, one) => sum + one, 0) / (perSecond * seconds)
      // A call in two fails, so that 1.2 calls a request answer 0.6 of them at most.
      expect(share).toBeGreaterThanOrEqual(0.57)
      expect(calls.length).toBeLessThanOrEqual(perSecond * seconds * 1.2 + 3)
    }).pipe(Effect.provide(layer))
  })
})
