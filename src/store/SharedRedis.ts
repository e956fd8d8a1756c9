// The connection to the Redis that several gateways share: one that answers within its time, or none.
// It must not know what is kept there. While it is gone every command fails at once, so that nobody waits for it.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { PackageMissing } from "../domain/PackageMissing.ts"

/** All that the gateway keeps in Redis has a name that begins so. */
export const RedisPrefix: Context.Reference<string> = Context.Reference<string>("gateway/store/RedisPrefix", {
  defaultValue: () => "mgw:"
})

export class SharedRedis extends Context.Service<
  SharedRedis,
  {
    /** Whether commands are sent; false from the first one that was not answered in time until one is again. */
    readonly isUp: () => boolean
  }
>()("gateway/store/SharedRedis") {
  /** Starts whether or not Redis is there, and waits for it no longer than for a connection. The driver is loaded here. */
  static readonly layer = (url: Redacted.Redacted<string>): Layer.Layer<SharedRedis | Redis.Redis, PackageMissing> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const limits = yield* Limits
        const connection = yield* connect(url, limits, `${yield* RedisPrefix}look`)
        yield* connection.settled
        yield* Effect.forkScoped(watch(connection))
        const unused = Effect.fail(new Redis.RedisError({ cause: "nobody subscribes or reserves" }))
        const redis = yield* Redis.make({ send: connection.send, subscribe: () => unused, connect: unused })
        return Context.make(SharedRedis, { isUp: connection.isUp }).pipe(Context.add(Redis.Redis, redis))
      })
    )
}

/** How often Redis is looked at when nobody uses it. */
const watchMillis = 500
/** The longest pause between attempts to connect, with up to half of it more. */
const mostPauseMillis = 600
const leastPauseMillis = 25

interface Connection {
  readonly send: Redis.Redis["Service"]["send"]
  readonly isUp: () => boolean
  /** Why it is not. */
  readonly fault: () => string
  /** Writes a name of no meaning, up or not, unless that is under way. */
  readonly look: Effect.Effect<void>
  /** Ends with the first look, the failure to connect, or the time for that. */
  readonly settled: Effect.Effect<void>
}

const gone = new Redis.RedisError({ cause: "Redis is gone" })

const connect = (
  url: Redacted.Redacted<string>,
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
        try: () => createClient(options(url, limits)),
        // The driver's own error quotes the address, with the password in it.
        catch: () =>
          new Error(
            "The address of Redis in the settings is none: redis://host:6379 or rediss://user:password@host:6380/0 is."
          )
      })
    )
    let up = false
    let fault = `no connection within ${limits.redisConnectMillis} ms`
    const failed = (cause: unknown): void => {
      up = false
      fault = reasonOf(cause)
    }
    let looking = false
    const look = async (): Promise<void> => {
      if (looking || !client.isReady) return
      looking = true
      // A full one and a replica answer, but are of no use: they must take something in.
      const reply = client.sendCommand(["SET", lookName, "", "PX", String(limits.redisConnectMillis)])
      const ended = () => {
        looking = false
      }
      reply.then(ended, ended)
      await answered(reply, limits.redisMillis).then(() => {
        up = client.isReady
      }, failed)
    }
    const first = new Promise<void>((resolve) => {
      client.on("error", (cause) => {
        failed(cause)
        resolve()
      })
      client.on("ready", () => void look().then(resolve))
    })
    yield* Effect.acquireRelease(
      // It ends when the client does; what went wrong was an event.
      Effect.sync(() => void client.connect().catch(() => undefined)),
      // A friendly end would wait for answers that may never come.
      () => Effect.sync(() => client.destroy())
    )
    return {
      isUp: () => up,
      fault: () => fault,
      look: Effect.promise(look),
      settled: Effect.promise(() => Promise.race([first, pause(limits.redisConnectMillis)])),
      send: <A>(...command: ReadonlyArray<string>) =>
        Effect.suspend(() =>
          up
            ? Effect.tryPromise({
                try: () => answered(client.sendCommand([...command]), limits.redisMillis) as Promise<A>,
                catch: (cause) => {
                  // What Redis refuses it has answered.
                  if (!(cause instanceof ErrorReply)) failed(cause)
                  return new Redis.RedisError({ cause })
                }
              })
            : Effect.fail(gone)
        )
    }
  })

const options = (url: Redacted.Redacted<string>, { redisConnectMillis, redisQueue }: LimitValues) =>
  ({
    url: Redacted.value(url),
    // What older servers and proxies speak as well.
    RESP: 2,
    maintNotifications: "disabled",
    disableClientInfo: true,
    disableOfflineQueue: true,
    commandsQueueMaxLength: redisQueue,
    // The driver's own timer stops when a command was written.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: redisConnectMillis,
      // A peer that vanished closes nothing. Looks keep a healthy connection from being silent for so long.
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

/** The reply, unless it takes longer than this. What arrived while the process was busy is read before it counts as late. */
const answered = (reply: Promise<unknown>, millis: number): Promise<unknown> =>
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

/** Looks again and again, and says when Redis goes and when it is back. */
const watch = ({ fault, isUp, look }: Connection): Effect.Effect<never> => {
  let told = true
  const tell = Effect.suspend(() => {
    if (isUp() === told) return Effect.void
    told = isUp()
    return told
      ? Effect.logInfo("Redis answers again: limits, circuits, signatures and cached answers are shared.")
      : Effect.logWarning(
          `Redis does not answer (${fault()}): until it does, limits, circuits, signatures and cached answers are this process's own.`
        )
  })
  const rest = Effect.suspend(() => Effect.sleep(watchMillis * (1 + Math.random())))
  return Effect.forever(Effect.andThen(tell, Effect.andThen(rest, look)))
}
