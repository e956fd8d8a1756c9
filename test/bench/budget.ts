// Measures how far parallel requests overspend a budget, and the cost of a budget: `node test/bench/budget.ts`. No sockets.
// Must not be read as throughput. The two gateways share TEST_POSTGRES_URL or a SQLite file.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type { GatewayKey } from "../../src/domain/GatewayKey.ts"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { Admission, type Admitted } from "../../src/keys/Admission.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import { RateStore } from "../../src/state/SharedState.ts"
import { database } from "../../src/store/database/Migrations.ts"
import { Spending } from "../../src/store/Spending.ts"
import { databases } from "../support/databases.ts"

/** Postgres where it is configured, otherwise SQLite. */
const [sqlite] = databases
const chosen = databases.find(({ name }) => name === "PostgreSQL") ?? sqlite

/** The store client, lease and buckets of one gateway. */
const gatewayOn = (location: StoreLocation) =>
  Layer.fresh(
    Admission.layer.pipe(
      Layer.provide([
        RateStore.layerMemory,
        Layer.fresh(Spending.layer.pipe(Layer.provide(Layer.fresh(database(location))))),
        UsageLog.layerMemory
      ]),
      Layer.provide(Layer.sync(Metric.MetricRegistry, () => new Map()))
    )
  )
type Gateway = ReturnType<typeof gatewayOn>

const usd = (micros: number): string => (micros / 1e6).toFixed(6)
const keyOf = (id: string, micros: number): GatewayKey => ({
  id: id,
  name: id,
  scopes: ["inference"],
  budget: { usd: micros / 1e6, per: "day" }
})

/** Parallel requests that alternate between two gateways. Each reserves its estimate and then costs the real amount. */
const storm = (gateway: Gateway, name: string, requests: number, estimated: number, cost: number) =>
  Effect.gen(function* () {
    const key = keyOf(name.replaceAll(" ", "-"), 1_000_000)
    let served = 0
    const ended = yield* Effect.scoped(
      Effect.gen(function* () {
        const gateways = [
          Context.get(yield* Layer.build(gateway), Admission),
          Context.get(yield* Layer.build(gateway), Admission)
        ]
        const one = (at: number) =>
          Effect.gen(function* () {
            let held: Admitted | undefined
            yield* (
              gateways[at % 2]?.admit(
                key,
                { tokens: 0, costMicros: estimated },
                (admitted) => void (held = admitted)
              ) ?? Effect.void
            )
            served++
            yield* Effect.sleep(20)
            yield* held?.settle({ tokens: 0, costMicros: cost }) ?? Effect.void
          })
        const started = performance.now()
        yield* Effect.all(
          Array.from({ length: requests }, (_, at) => Effect.ignore(one(at))),
          { concurrency: requests }
        )
        return performance.now() - started
      })
    )
    const { spentMicros } = yield* Effect.scoped(
      Effect.flatMap(Layer.build(gateway), (context) => Context.get(context, Admission).spent(key))
    )
    const overspent = Math.max(0, spentMicros - 1_000_000)
    const bound = served * Math.max(0, cost - estimated)
    console.log(
      `${name.padEnd(34)} served ${String(served).padStart(3)} of ${requests}   spent ${usd(spentMicros)} (sum of costs ${usd(served * cost)})   overspent ${usd(overspent)}, bound ${usd(bound)}   ${ended.toFixed(0)} ms`
    )
  })

/** The cost of a key's limits for a request they allow. */
const warm = (gateway: Gateway, name: string, key: GatewayKey) =>
  Effect.scoped(
    Effect.gen(function* () {
      const admission = Context.get(yield* Layer.build(gateway), Admission)
      const request = Effect.gen(function* () {
        let held: Admitted | undefined
        yield* admission.admit(key, { tokens: 0, costMicros: 100 }, (admitted) => void (held = admitted))
        yield* held?.settle({ tokens: 0, costMicros: 80 }) ?? Effect.void
      })
      const rounds = 20_000
      for (let at = 0; at < rounds; at++) yield* request
      const before = process.cpuUsage()
      for (let at = 0; at < rounds; at++) yield* request
      const { system, user } = process.cpuUsage(before)
      console.log(`${name.padEnd(34)} ${((system + user) / rounds).toFixed(2)} us of CPU a request`)
    })
  )

console.log(`a budget of 1.00 US dollar, two gateways on ${chosen?.name ?? "nothing"}`)
await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      if (chosen === undefined) return
      const gateway = gatewayOn(yield* chosen.location)
      yield* storm(gateway, "estimates hold", 200, 10_000, 10_000)
      yield* storm(gateway, "estimates are too high", 200, 10_000, 4_000)
      yield* storm(gateway, "estimates are half of the cost", 200, 10_000, 20_000)
      yield* warm(gateway, "a budget, within the lease", keyOf("warm", 1e15))
      yield* warm(gateway, "and two limits a minute", {
        ...keyOf("both", 1e15),
        rate_limit: { requests_per_minute: 1e9, tokens_per_minute: 1e9 }
      })
    })
  )
)
