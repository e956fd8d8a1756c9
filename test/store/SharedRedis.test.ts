// Tests the Redis connection: its log lines about a server that refuses, restarts or is absent, without the password.
// Must not depend on what the service keeps in Redis.
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { createServer, type Server } from "node:tls"
import type { AccountTls } from "../../src/domain/settings/network.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { RateCounters } from "../../src/store/Spending.ts"
import { RateStore } from "../../src/state/SharedState.ts"
import { SharedRedis } from "../../src/store/SharedRedis.ts"
import { makeCertificates } from "../support/certificates.ts"
import { eventually } from "../support/eventually.ts"
import { ownPrefix, redisLayer, redisUrl, saidWithoutRedis } from "../support/redis.ts"
import { startRelay } from "../support/relay.ts"
import { type RedisServer, saidWithoutServer, startRedisServer } from "../support/redisServer.ts"

const server = (...options: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(() => startRedisServer(...options)),
    ({ close }: RedisServer) => Effect.promise(close)
  )
const withPassword = ({ url }: RedisServer, password: string) => redisLayer(url.replace("//", `//:${password}@`))

it.live("Redis connection: a malformed address is reported without the password", () =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(
      Effect.scoped(Layer.build(SharedRedis.layer(Redacted.make("redis://:sekret@x:99999"))))
    )
    expect(exit).toEqual(
      Exit.die(
        new Error(
          "The address of Redis in the settings is none: redis://host:6379 or rediss://user:password@host:6380/0 is."
        )
      )
    )
  })
)

it.live("Redis connection: a command fails immediately without a server", () =>
  Effect.gen(function* () {
    const [{ isUp }, { send }] = yield* Effect.all([SharedRedis, Redis.Redis])
    expect([isUp(), String((yield* Effect.flip(send("PING"))).cause)]).toEqual([false, "Redis is gone"])
  }).pipe(Effect.provide(redisLayer("redis://127.0.0.1:1")))
)

it.live.runIf(saidWithoutRedis("a Redis that is late once"))(
  "Redis connection: an answer that is late once leaves a line in the log (F75)",
  () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const log = Logger.layer([Logger.make<unknown, void>(({ message }) => void said.push(String(message)))])
      const { hostname, port } = new URL(redisUrl ?? "")
      const relay = yield* Effect.acquireRelease(
        Effect.promise(() => startRelay(hostname, Number(port || 6379))),
        ({ close }) => Effect.promise(close)
      )
      const connection = yield* Layer.build(
        SharedRedis.layer(Redacted.make(`redis://127.0.0.1:${relay.port}`)).pipe(
          Layer.provide(log),
          Layer.provide(Layer.succeed(Limits, { ...defaultLimits, redisMillis: 200 })),
          Layer.provide(ownPrefix())
        )
      )
      const [{ isUp }, { send }] = yield* Effect.provide(Effect.all([SharedRedis, Redis.Redis]), connection)
      yield* eventually("a connection", Effect.sync(isUp))
      relay.stall()
      yield* Effect.flip(send("GET", "a"))
      relay.heal()
      yield* eventually(
        "a line of the log",
        Effect.sync(() => said.length > 0)
      )
      expect(said).toEqual([
        "Redis did not answer for a moment (no answer within 200 ms): meanwhile limits, circuits, signatures and cached answers were this process's own."
      ])
    })
)

describe.runIf(saidWithoutServer("Redis with a password, and started anew"))("a Redis server", () => {
  it.live("Redis connection: a password is used; a wrong one is logged with the reason and without the password", () =>
    Effect.gen(function* () {
      const own = yield* server("--requirepass", "sekret")
      const right = yield* Layer.build(withPassword(own, "sekret"))
      expect(
        yield* Effect.provide(
          Effect.flatMap(Redis.Redis, ({ send }) => send("PING")),
          right
        )
      ).toBe("PONG")
      const said: Array<string> = []
      const log = Logger.layer([Logger.make<unknown, void>(({ message }) => void said.push(String(message)))])
      const wrong = yield* Layer.build(withPassword(own, "sekrit").pipe(Layer.provide(log)))
      expect(
        yield* Effect.provide(
          Effect.map(SharedRedis, ({ isUp }) => isUp()),
          wrong
        )
      ).toBe(false)
      yield* eventually(
        "a line of the log",
        Effect.sync(() => said.length > 0)
      )
      expect(said).toEqual([
        "Redis does not answer (WRONGPASS invalid username-password pair or user is disabled.): until it does, limits, circuits, signatures and cached answers are this process's own."
      ])
    })
  )

  it.live("Redis connection: a server that accepts no writes counts as down, and the log has the reason", () =>
    Effect.gen(function* () {
      const own = yield* server("--replicaof", "127.0.0.1", "1")
      const said: Array<string> = []
      const log = Logger.layer([Logger.make<unknown, void>(({ message }) => void said.push(String(message)))])
      const context = yield* Layer.build(redisLayer(own.url).pipe(Layer.provide(log)))
      expect(
        yield* Effect.provide(
          Effect.map(SharedRedis, ({ isUp }) => isUp()),
          context
        )
      ).toBe(false)
      yield* eventually(
        "a line of the log",
        Effect.sync(() => said.length > 0)
      )
      expect(said).toEqual([
        "Redis does not answer (READONLY You can't write against a read only replica.): until it does, limits, circuits, signatures and cached answers are this process's own."
      ])
    })
  )

  it.live("Redis connection: a server that refuses a command counts as up", () =>
    Effect.gen(function* () {
      const own = yield* server()
      const context = yield* Layer.build(redisLayer(own.url))
      const [{ isUp }, { send }] = yield* Effect.provide(Effect.all([SharedRedis, Redis.Redis]), context)
      yield* send("SET", "text", "a")
      const refused = yield* Effect.flip(send("LPUSH", "text", "b"))
      expect([String(refused.cause).slice(0, 16), isUp(), yield* send("GET", "text")]).toEqual([
        "Error: WRONGTYPE",
        true,
        "a"
      ])
    })
  )

  it.live("Redis connection: a server that restarted without counters and scripts counts again", () =>
    Effect.gen(function* () {
      const own = yield* server()
      const context = yield* Layer.build(redisLayer(own.url))
      const { isUp } = yield* Effect.provide(SharedRedis, context)
      const store = yield* Effect.provide(Layer.build(RateStore.layerShared), context)
      // A bucket of nine tokens that refill slowly.
      const take = Effect.flatMap(RateCounters, (rates) =>
        rates.take([{ key: "a", costMillis: 1_000_000, capacityMillis: 9_000_000 }], false)
      ).pipe(
        Effect.provide(store),
        Effect.map(({ fullMillis: [full = 0] }) => 9 - Math.ceil(full / 1_000_000))
      )
      expect([yield* take, yield* take]).toEqual([8, 7])
      yield* Effect.promise(own.stop)
      yield* eventually(
        "Redis to be down",
        Effect.sync(() => !isUp())
      )
      // The process counts on from the last answer of Redis.
      expect(yield* take).toBe(6)
      yield* Effect.promise(own.start)
      yield* eventually("Redis to be up", Effect.sync(isUp))
      expect([yield* take, yield* take]).toEqual([8, 7])
    })
  )
})

describe.runIf(saidWithoutServer("Redis over TLS"))("Redis over TLS", () => {
  it.live(
    "Redis connection: authority and name of the settings are checked, also without an alternative name (K24)",
    () =>
      Effect.gen(function* () {
        const plain = new URL((yield* server()).url)
        const certificates = makeCertificates()
        const port = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const open = new Set<Socket>()
            const front = createServer(certificates.withoutAltName("127.0.0.1"), (socket) => {
              open.add(socket)
              const redis = connect(Number(plain.port), plain.hostname)
              redis.on("error", () => socket.destroy())
              socket
                .on("error", () => redis.destroy())
                .pipe(redis)
                .pipe(socket)
            })
            await once(front.listen(0, "127.0.0.1"), "listening")
            return { front, open }
          }),
          ({ front, open }) =>
            Effect.sync(() => {
              for (const socket of open) socket.destroy()
              front.close()
            })
        ).pipe(Effect.map(({ front }) => addressOf(front)))
        const url = Redacted.make(`rediss://127.0.0.1:${port}`)
        const plainTls = { ca: certificates.authority, cert: undefined, key: undefined, serverName: undefined }
        const isUp = (tls: AccountTls | undefined) =>
          Effect.scoped(
            Effect.map(Layer.build(SharedRedis.layer(url, tls)), (made) => Context.get(made, SharedRedis).isUp())
          )
        expect([
          yield* isUp(undefined),
          yield* isUp(plainTls),
          yield* isUp({ ...plainTls, serverName: "127.0.0.1" }),
          yield* isUp({ ...plainTls, serverName: "other.test" }),
          yield* isUp({ ...plainTls, ca: makeCertificates().authority })
        ]).toEqual([false, true, true, false, false])
      })
  )
})

const addressOf = (listening: Server): number => {
  const address = listening.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return address.port
}
