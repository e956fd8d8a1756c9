// The connection to the Redis that several gateways share. A Redis outage makes each command fail immediately.
// Must not know what is stored in Redis.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { isIP } from "node:net"
import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { AccountTls } from "../domain/settings/network.ts"
import { PackageMissing } from "../domain/settings/Settings.ts"

/** The prefix of every name that the gateway stores in Redis. */
export const RedisPrefix: Context.Reference<string> = Context.Reference<string>("gateway/store/RedisPrefix", {
  defaultValue: () => "mgw:"
})

export class SharedRedis extends Context.Service<
  SharedRedis,
  {
    /** Whether commands are sent: false after a late answer or a lost connection, until Redis answers again. */
    readonly isUp: () => boolean
    /** A reply had a shape that its command cannot have: Redis counts as gone for a while. */
    readonly distrust: (reason: string) => void
  }
>()("gateway/store/SharedRedis") {
  /** Loads the driver. Starts also without Redis, after waiting at most `redisConnectMillis` for a connection. */
  static readonly layer = (
    url: Redacted.Redacted<string>,
    tls?: AccountTls
  ): Layer.Layer<SharedRedis | Redis.Redis, PackageMissing> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const limits = yield* Limits
        const connection = yield* connect(url, tls, limits, `${yield* RedisPrefix}look`)
        yield* connection.settled
        yield* Effect.forkScoped(watch(connection))
        const unused = Effect.fail(new Redis.RedisError({ cause: "subscribing and reserving are not supported" }))
        const redis = yield* Redis.make({ send: connection.send, subscribe: () => unused, connect: unused })
        const { distrust, isUp } = connection
        return Context.make(SharedRedis, { isUp, distrust }).pipe(Context.add(Redis.Redis, redis))
      })
    )
}

/** The pause between two looks at Redis. A look is a small write that shows whether Redis works. */
const watchMillis = 500
/** The longest pause between attempts to connect; up to half of it is added at random. */
const mostPauseMillis = 600
const leastPauseMillis = 25

interface Connection {
  readonly send: Redis.Redis["Service"]["send"]
  readonly isUp: () => boolean
  readonly distrust: (reason: string) => void
  /** The reason of the outage. */
  readonly fault: () => string
  /** How often Redis stopped to work, also for a moment. */
  readonly outages: () => number
  /** Writes an empty value under a name of its own, unless a look is running. */
  readonly look: Effect.Effect<void>
  /** Ends with the first look, a failure to connect, or after `redisConnectMillis`. */
  readonly settled: Effect.Effect<void>
}

const gone = new Redis.RedisError({ cause: "Redis is gone" })

/** The part of the driver's client that a look needs. */
interface Probed {
  readonly isReady: boolean
  readonly sendCommand: (command: Array<string>) => Promise<unknown>
}

/** Whether Redis works, from the looks and from commands that fail. */
const trackHealth = (client: Probed, lookName: string, limits: LimitValues) => {
  const { redisConnectMillis, redisDistrustMillis, redisMillis } = limits
  let up = false
  let fault = `no connection within ${redisConnectMillis} ms`
  let looking = false
  let believedFrom = 0
  let outages = 0
  const fail = (cause: unknown): void => {
    if (up) outages++
    up = false
    fault = reasonOf(cause)
  }
  return {
    isUp: () => up,
    fault: () => fault,
    outages: () => outages,
    fail,
    distrust: (reason: string): void => {
      fail(reason)
      believedFrom = performance.now() + redisDistrustMillis
    },
    look: async (): Promise<void> => {
      if (looking || !client.isReady || performance.now() < believedFrom) return
      looking = true
      // A full Redis and a replica answer reads, so the look must write.
      const reply = client.sendCommand(["SET", lookName, "", "PX", String(redisConnectMillis)])
      const ended = () => {
        looking = false
      }
      reply.then(ended, ended)
      await replyInTime(reply, redisMillis).then((written) => {
        // A reply without a failure could also be one to another command.
        if (written === "OK") up = client.isReady
        else fail("an unexpected reply to SET")
      }, fail)
    }
  }
}

const connect = (
  url: Redacted.Redacted<string>,
  tls: AccountTls | undefined,
  limits: LimitValues,
  lookName: string
): Effect.Effect<Connection, PackageMissing, Scope.Scope> =>
  Effect.gen(function* () {
    const { createClient, ErrorReply } = yield* Effect.tryPromise({
      try: () => import("redis"),
      catch: () => new PackageMissing({ setting: "redis.url", packages: "the package redis" })
    })
    const client = yield* Effect.orDie(
      Effect.try({
        try: () => createClient(options(url, tls, limits)),
        // The driver's own error quotes the address, with the password in it.
        catch: () =>
          new Error(
            "The address of Redis in the settings is none: redis://host:6379 or rediss://user:password@host:6380/0 is."
          )
      })
    )
    const { distrust, fail, fault, isUp, look, outages } = trackHealth(client, lookName, limits)
    const first = new Promise<void>((resolve) => {
      client.on("error", (cause) => {
        fail(cause)
        resolve()
      })
      client.on("ready", () => void look().then(resolve))
    })
    yield* Effect.acquireRelease(
      // The promise ends with the client; failures arrive as "error" events.
      Effect.sync(() => void client.connect().catch(() => undefined)),
      // `close` would wait for replies that may never come.
      () => Effect.sync(() => client.destroy())
    )
    return {
      isUp,
      distrust,
      fault,
      outages,
      look: Effect.promise(look),
      settled: Effect.promise(() => Promise.race([first, pause(limits.redisConnectMillis)])),
      send: <A>(...command: ReadonlyArray<string>) =>
        Effect.suspend(() =>
          isUp()
            ? Effect.tryPromise({
                // Effect's `send` leaves the type of the reply to its caller.
                try: () => replyInTime(client.sendCommand([...command]), limits.redisMillis) as Promise<A>,
                catch: (cause) => {
                  // An error reply is an answer: Redis works.
                  if (!(cause instanceof ErrorReply)) fail(cause)
                  return new Redis.RedisError({ cause })
                }
              })
            : Effect.fail(gone)
        )
    }
  })

/**
 * Certificates of Redis, for rediss:// only. Memorystore names its address in the common name alone, which Node does not
 * read for addresses.
 */
const tlsOptions = (url: Redacted.Redacted<string>, tls: AccountTls | undefined) => {
  const { hostname, protocol } = new URL(Redacted.value(url))
  if (tls === undefined || protocol !== "rediss:") return {}
  const name = tls.serverName ?? hostname.replace(/^\[|\]$/g, "")
  return {
    tls: true as const,
    ...(tls.ca === undefined ? {} : { ca: [...getCACertificates("default"), tls.ca] }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: Redacted.value(tls.key) }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_host: string, cert: PeerCertificate) =>
      cert.subjectaltname === undefined && cert.subject.CN === name ? undefined : checkServerIdentity(name, cert)
  }
}

const options = (
  url: Redacted.Redacted<string>,
  tls: AccountTls | undefined,
  { redisConnectMillis, redisQueue }: LimitValues
) =>
  ({
    url: Redacted.value(url),
    // Older servers and proxies speak this version too.
    RESP: 2,
    maintNotifications: "disabled",
    disableClientInfo: true,
    disableOfflineQueue: true,
    commandsQueueMaxLength: redisQueue,
    // The driver's own timer stops once a command is written, so `replyInTime` has the timer.
    commandOptions: { timeout: 0 },
    socket: {
      ...tlsOptions(url, tls),
      connectTimeout: redisConnectMillis,
      // A vanished server closes no connection. The looks keep a healthy connection busy.
      socketTimeout: 2 * redisConnectMillis,
      reconnectStrategy: (retries: number) =>
        Math.min(leastPauseMillis * 2 ** retries, mostPauseMillis) * (1 + Math.random() / 2)
    }
  }) as const

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause ? String(cause.code) : cause.message
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis).unref())

/**
 * Fails when the reply takes longer than `millis`. A reply that arrived while the process was busy counts as in time.
 */
const replyInTime = (reply: Promise<unknown>, millis: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${millis} ms`))
    const timer = setTimeout(() => setImmediate(late), millis)
    const inTime =
      <A>(settle: (value: A) => void) =>
      (value: A): void => {
        clearTimeout(timer)
        settle(value)
      }
    reply.then(inTime(resolve), inTime(reject))
  })

/** Looks at Redis again and again, and logs when an outage begins and ends. */
const watch = ({ fault, isUp, look, outages }: Connection): Effect.Effect<never> => {
  let reported = true
  let seen = 0
  const report = Effect.suspend(() => {
    const isNews = outages() > seen
    seen = outages()
    if (isUp() === reported)
      return reported && isNews
        ? Effect.logWarning(
            `Redis did not answer for a moment (${fault()}): meanwhile limits, circuits, signatures and cached answers were this process's own.`
          )
        : Effect.void
    reported = isUp()
    return reported
      ? Effect.logInfo("Redis answers again: limits, circuits, signatures and cached answers are shared.")
      : Effect.logWarning(
          `Redis does not answer (${fault()}): until it does, limits, circuits, signatures and cached answers are this process's own.`
        )
  })
  const rest = Effect.suspend(() => Effect.sleep(watchMillis * (1 + Math.random())))
  return Effect.forever(Effect.andThen(report, Effect.andThen(rest, look)))
}
