// Failed sign-ins of the console: how many an address has, and that several processes count together.
// Must not depend on cookies or pages.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { randomUUID } from "node:crypto"
import { SessionRefused } from "../../src/domain/GatewayError.ts"
import { Gateway } from "../../src/Gateway.ts"
import { ConsoleSessions, type Credential, type Sessions } from "../../src/keys/ConsoleSessions.ts"
import { RateStore } from "../../src/state/SharedState.ts"
import { RateCounters } from "../../src/store/Spending.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { firstProcess } from "../support/firstProcess.ts"
import { redisUrl, removeKeys, saidWithoutRedis } from "../support/redis.ts"
import { settingsFor, startGateway } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000"
const keys = [{ name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }]
const valid: Credential = { _tag: "Key", text: adminKey }
const wrong: Credential = { _tag: "Key", text: "mgk_wrong" }
const address = "192.0.2.1"

const services = () =>
  Gateway.layerTest(settingsFor("http://unused.invalid", { keys })).pipe(
    Layer.provide(Transport.layerTest(() => ({ status: 500 })))
  )

const sessionsOver = (rates: Layer.Layer<RateCounters>, code?: Redacted.Redacted) =>
  Effect.flatMap(
    Effect.provide(
      ConsoleSessions,
      ConsoleSessions.layerWith(code === undefined ? { hosts: [] } : { hosts: [], code }).pipe(
        Layer.provide(Layer.fresh(rates))
      )
    ),
    Effect.fromNullishOr
  )

const failed = new SessionRefused({ reason: "credential" })
const stopped = (retryMillis: number) => new SessionRefused({ reason: "attempts", retryMillis })

/** The refusals of several sign-ins that are sent together. */
const refusals = (sessions: Sessions, count: number, from = address) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.flip(sessions.begin(wrong, from)), {
    concurrency: "unbounded"
  })
const keyIdOf = (sessions: Sessions, from = address) => Effect.map(sessions.begin(valid, from), ({ keyId }) => keyId)

describe("failed sign-ins", () => {
  it.effect("failed sign-ins: of concurrent ones ten are judged, and one a minute afterwards (TH30)", () =>
    Effect.gen(function* () {
      const sessions = yield* sessionsOver(RateCounters.layerMemory)
      const first = yield* refusals(sessions, 12)
      expect(first).toEqual([...Array.from({ length: 10 }, () => failed), stopped(60_000), stopped(60_000)])
      yield* TestClock.adjust("60 seconds")
      expect(yield* refusals(sessions, 2)).toEqual([failed, stopped(60_000)])
    }).pipe(Effect.provide(services()))
  )

  it.effect("failed sign-ins: the right key and the link are taken after any number of wrong ones (TH30b)", () =>
    Effect.gen(function* () {
      const sessions = yield* sessionsOver(RateCounters.layerMemory, Redacted.make("the-code-of-the-start"))
      yield* refusals(sessions, 50)
      expect(yield* keyIdOf(sessions)).toBe("ops")
      const code: Credential = { _tag: "Code", text: "the-code-of-the-start" }
      expect((yield* sessions.begin(code, address)).keyId).toBe("console")
      expect(yield* Effect.flip(sessions.begin(code, address))).toEqual(stopped(60_000))
    }).pipe(Effect.provide(services()))
  )

  it.effect("failed sign-ins: a sign-in that succeeds, or presents nothing, does not count (TH30)", () =>
    Effect.gen(function* () {
      const sessions = yield* sessionsOver(RateCounters.layerMemory)
      yield* refusals(sessions, 9)
      for (let n = 0; n < 12; n++) {
        expect(yield* keyIdOf(sessions)).toBe("ops")
        expect(yield* Effect.flip(sessions.begin({ _tag: "Nothing" }, address))).toEqual(failed)
      }
      expect(yield* refusals(sessions, 2)).toEqual([failed, stopped(60_000)])
    }).pipe(Effect.provide(services()))
  )

  it.effect.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:fffe", stopped(60_000)],
    ["2001:db8::1", "2001:db8:0:0:8::", stopped(60_000)],
    ["::1", "::2", stopped(60_000)],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", failed],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2", failed],
    ["192.0.2.1", "192.0.2.2", failed]
  ] as const)("failed sign-ins: a /64 network of IPv6 is one client: %s, then %s (TH30)", ([one, other, expected]) =>
    Effect.gen(function* () {
      const sessions = yield* sessionsOver(RateCounters.layerMemory)
      yield* refusals(sessions, 10, one)
      expect(yield* refusals(sessions, 1, other)).toEqual([expected])
    }).pipe(Effect.provide(services()))
  )

  it.effect("failed sign-ins: two workers of one first process count together (TH30)", () =>
    Effect.gen(function* () {
      const first = yield* firstProcess
      const [one, other] = yield* Effect.forEach([1, 2], (number) =>
        Effect.flatMap(first.worker(number), ({ state }) =>
          sessionsOver(RateStore.layerShared.pipe(Layer.provide(state)))
        )
      )
      if (one === undefined || other === undefined) throw new Error("two workers were asked for")
      expect([yield* refusals(one, 5), yield* refusals(other, 6)].flat()).toEqual([
        ...Array.from({ length: 10 }, () => failed),
        stopped(60_000)
      ])
      expect(yield* keyIdOf(one)).toBe("ops")
    }).pipe(Effect.provide(services()))
  )
})

describe.runIf(saidWithoutRedis("failed sign-ins at two gateways"))("failed sign-ins at two gateways", () => {
  it("failed sign-ins: two gateways on one Redis count together (TH30)", async () => {
    const prefix = `mgw-test:${randomUUID()}:`
    const settings = settingsFor("http://unused.invalid", { keys })
    const start = () =>
      startGateway(
        {
          ...settings,
          server: { ...settings.server, console: { hosts: [] } },
          redis: Redacted.make(redisUrl ?? "")
        },
        Layer.succeed(RedisPrefix, prefix)
      )
    const gateways = [await start(), await start()]
    const signIn = async (url: string, key: string) =>
      (
        await fetch(`${url}/admin/v1/session`, {
          method: "POST",
          headers: { origin: url, "x-gateway-console": "1", "content-type": "application/json" },
          body: JSON.stringify({ key })
        })
      ).status
    const statuses = []
    for (const { url } of gateways) for (let n = 0; n < 5; n++) statuses.push(await signIn(url, "mgk_wrong"))
    for (const { url } of gateways) statuses.push(await signIn(url, "mgk_wrong"))
    for (const { url } of gateways) statuses.push(await signIn(url, adminKey))
    for (const { close } of gateways) await close()
    await removeKeys(prefix)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429, 200, 200])
  })
})
