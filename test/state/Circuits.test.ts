// Tests the circuits of one process and of several processes, on Redis or on a first process: the same rules hold in both.
// Must not depend on the router.
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { CircuitRule } from "../../src/domain/config/GatewayConfig.ts"
import { type Circuit, Circuits } from "../../src/state/Circuits.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { eventually } from "../support/eventually.ts"
import { firstProcess } from "../support/firstProcess.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const cooldownMillis = 60_000
const rule: CircuitRule = { id: "r", consecutive: 2, rate: undefined, cooldownMillis, codes: undefined }
const share: CircuitRule = { ...rule, id: "s", consecutive: undefined, rate: { threshold: 0.5, minimum: 4 } }
const circuit = (name: string, by = rule): Circuit => ({ name, owner: "key", slug: "google", modelId: "m", rule: by })

type Service = Circuits["Service"]
/** Two processes, and the effect that passes the cooldown of an open circuit. */
interface World {
  readonly one: Service
  readonly other: Service
  readonly cooled: (name: string) => Effect.Effect<void>
}

const call = ({ guard }: Service, name: string, inner: Effect.Effect<string, string>, by = rule) =>
  Effect.match(
    guard(
      circuit(name, by),
      inner,
      (cause) => (Cause.hasInterruptsOnly(cause) ? "Ignored" : "Failure"),
      ({ retryAfterMillis }) =>
        retryAfterMillis === undefined
          ? "probed"
          : retryAfterMillis > 0 && retryAfterMillis <= cooldownMillis
            ? "open"
            : `after ${retryAfterMillis}`
    ),
    { onFailure: (error) => error, onSuccess: (value) => value }
  )
const bad = Effect.fail("bad")
const good = Effect.succeed("good")
const ends = (service: Service, name: string, inner: ReadonlyArray<Effect.Effect<string, string>>, by = rule) =>
  Effect.forEach(inner, (one) => call(service, name, one, by))
/** Waits until a process has read from Redis that the circuit is open. */
const isOpenAt = ({ open }: Service, name: string, by = rule) =>
  eventually(
    `the circuit ${name} to open`,
    Effect.andThen(
      TestClock.adjust(500),
      Effect.map(open([circuit(name, by)]), (names) => names.has(name))
    )
  )

const rules: ReadonlyArray<readonly [name: string, test: (world: World) => Effect.Effect<void>]> = [
  [
    "opens for all processes after failures in a row, admits one probe, and closes for all after its success",
    ({ cooled, one, other }) =>
      Effect.gen(function* () {
        expect(yield* ends(one, "a", [bad, good, bad, bad, good])).toEqual(["bad", "good", "bad", "bad", "open"])
        yield* isOpenAt(other, "a")
        expect([yield* call(other, "a", good), yield* call(other, "b", good)]).toEqual(["open", "good"])
        yield* cooled("a/row")
        const begun = yield* Deferred.make<void>()
        const finish = yield* Deferred.make<void>()
        const probe = yield* Effect.forkChild(
          call(
            other,
            "a",
            Effect.andThen(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(finish), "well"))
          )
        )
        yield* Deferred.await(begun)
        expect([yield* call(one, "a", good), yield* call(other, "a", good)]).toEqual(["probed", "probed"])
        yield* Deferred.succeed(finish, undefined)
        expect(yield* Fiber.join(probe)).toBe("well")
        expect([
          ...(yield* ends(one, "a", [good, bad, good])),
          ...(yield* ends(other, "a", [good, bad, good]))
        ]).toEqual(["good", "bad", "good", "good", "bad", "good"])
      })
  ],
  [
    "opens again for all processes after a failed probe",
    ({ cooled, one, other }) =>
      Effect.gen(function* () {
        yield* ends(one, "a", [bad, bad])
        yield* isOpenAt(other, "a")
        yield* cooled("a/row")
        expect(yield* call(other, "a", bad)).toBe("bad")
        expect([yield* call(one, "a", good), yield* call(other, "a", good)]).toEqual(["open", "open"])
      })
  ],
  [
    "keeps its state when the probe is cancelled (F48)",
    ({ cooled, one, other }) =>
      Effect.gen(function* () {
        yield* ends(one, "a", [bad, bad])
        yield* isOpenAt(other, "a")
        yield* cooled("a/row")
        const begun = yield* Deferred.make<void>()
        const probe = yield* Effect.forkChild(
          call(other, "a", Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(probe)
        expect([yield* call(one, "a", good), yield* call(other, "a", good)]).toEqual(["good", "good"])
      })
  ],
  [
    "opens for all processes by a share of failures",
    ({ one, other }) =>
      Effect.gen(function* () {
        expect(yield* ends(one, "a", [bad, good, bad, good, good], share)).toEqual([
          "bad",
          "good",
          "bad",
          "good",
          "open"
        ])
        yield* isOpenAt(other, "a", share)
        expect(yield* call(other, "a", good, share)).toBe("open")
      })
  ]
]

describe.each(rules)("a circuit %s", (_name, test) => {
  it.effect("circuit of one process: follows the rule", () =>
    Effect.gen(function* () {
      const one = yield* Circuits
      yield* test({ one, other: one, cooled: () => TestClock.adjust(cooldownMillis) })
    }).pipe(Effect.provide(Circuits.layerMemory))
  )

  it.effect("circuit of one process whose Redis is gone: follows the rule", () =>
    Effect.gen(function* () {
      const one = yield* Circuits
      yield* test({ one, other: one, cooled: () => TestClock.adjust(cooldownMillis) })
    }).pipe(Effect.provide(Circuits.layerShared.pipe(Layer.provide(redisLayer("redis://127.0.0.1:1")))))
  )

  it.effect("circuit of two workers of one first process: follows the rule", () =>
    Effect.gen(function* () {
      const first = yield* firstProcess
      const built = (worker: number): Effect.Effect<Service, never, Scope.Scope> =>
        Effect.gen(function* () {
          const { state } = yield* first.worker(worker)
          const context = yield* Layer.build(Layer.fresh(Circuits.layerShared).pipe(Layer.provide(state)))
          return yield* Effect.provide(Circuits, context)
        })
      yield* test({ one: yield* built(1), other: yield* built(2), cooled: () => TestClock.adjust(cooldownMillis) })
    })
  )

  it.effect.runIf(saidWithoutRedis("circuits in Redis"))(
    "circuit of two processes on one Redis: follows the rule",
    () =>
      Effect.gen(function* () {
        const built: Effect.Effect<Service, never, Scope.Scope> = Effect.flatMap(
          Layer.build(Layer.fresh(Circuits.layerShared.pipe(Layer.provide(redisLayer())))),
          (context) => Effect.provide(Circuits, context)
        )
        const redis = yield* Effect.provide(Redis.Redis, yield* Layer.build(redisLayer()))
        const prefix = yield* RedisPrefix
        /** The clock of Redis cannot be adjusted, so the stored times move instead. */
        const cooled = (name: string) =>
          Effect.orDie(
            Effect.gen(function* () {
              yield* redis.send("HSET", `${prefix}circuit:${name}`, "openUntil", "0")
              yield* redis.send("ZADD", `${prefix}circuits`, String(Date.now() - 1_000), name)
              yield* TestClock.adjust(cooldownMillis)
            })
          )
        yield* test({ one: yield* built, other: yield* built, cooled })
      }).pipe(Effect.provide(ownPrefix()))
  )
})
