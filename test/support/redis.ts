// A Redis for tests, named by TEST_REDIS_URL; warns when there is none. Each test has keys of its own.
// Must not start a server.
import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as RedisService from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import { createClient } from "redis"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { SharedState } from "../../src/state/SharedState.ts"
import { RedisPrefix, SharedRedis } from "../../src/store/SharedRedis.ts"
import { patientLimits } from "./patientLimits.ts"

/** Undefined where there is no Redis to test with. */
export const redisUrl: string | undefined = process.env["TEST_REDIS_URL"] || undefined

export const saidWithoutRedis = (what: string): boolean => {
  if (redisUrl === undefined) console.warn(`\n*** LEFT OUT: ${what}: no Redis (TEST_REDIS_URL) ***\n`)
  return redisUrl !== undefined
}

/** Keys that begin so are the test's own, and removed when the scope ends. */
export const ownPrefix = (): Layer.Layer<never> => {
  const prefix = `mgw-test:${randomUUID()}:`
  return Layer.merge(
    Layer.succeed(RedisPrefix, prefix),
    Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.promise(() => removeKeys(prefix))))
  )
}

export const removeKeys = async (prefix: string): Promise<void> => {
  const client = createClient({ url: redisUrl ?? "" })
  await client.connect()
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 }))
    if (keys.length > 0) await client.del(keys)
  client.destroy()
}

/** A connection and what processes share on it, under names of its own. */
export const redisLayer = (url = redisUrl ?? ""): Layer.Layer<SharedRedis | RedisService.Redis | SharedState> =>
  SharedState.layerRedis.pipe(
    Layer.provideMerge(SharedRedis.layer(Redacted.make(url))),
    Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...patientLimits })),
    Layer.orDie
  )
