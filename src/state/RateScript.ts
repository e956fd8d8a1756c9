// The arithmetic of rate limits as a Redis script: all buckets of a request in one round trip.
// Must not know gateway keys or the limits themselves. It follows domain/RateCounts.ts step by step.
import * as Duration from "effect/Duration"
import * as Redis from "effect/persistence/Redis"
import { type RateAnswer, type RateAsk, roundingMillis } from "../domain/RateCounts.ts"

/** No key is kept in Redis for longer, whatever its debt. */
const longestMillis = Duration.toMillis(Duration.days(30))

/** Returns `refusedAt`, then each of `fullMillis`. */
export const takeScript = Redis.script(
  (prefix: string, asks: ReadonlyArray<RateAsk>, isForced: boolean, nowMillis: number) => [
    ...asks.map(({ key }) => prefix + key),
    nowMillis,
    isForced ? 1 : 0,
    ...asks.flatMap(({ capacityMillis, costMillis }) => [costMillis, capacityMillis])
  ],
  {
    numberOfKeys: (_prefix, asks) => asks.length,
    lua: `
local now = tonumber(ARGV[1])
local forced = ARGV[2] == "1"
local refused = -1
local reply = {}
for place, key in ipairs(KEYS) do
  local cost = tonumber(ARGV[1 + 2 * place])
  local capacity = tonumber(ARGV[2 + 2 * place])
  local full, at = string.match(redis.call("GET", key) or "", "^(%S+) (%S+)$")
  full = tonumber(full or "") or 0
  at = tonumber(at or "") or now
  full = math.max(0, full - math.max(0, now - at))
  if refused < 0 then
    if not forced and full + math.min(cost, capacity) > capacity + ${roundingMillis} then
      refused = place - 1
    elseif cost ~= 0 then
      full = math.max(0, full + cost)
      if full > 0 then
        redis.call("SET", key, string.format("%.17g %.17g", full, math.max(at, now)), "PX", string.format("%.0f", math.min(math.ceil(full), ${longestMillis})))
      else
        redis.call("DEL", key)
      end
    end
  end
  reply[place + 1] = string.format("%.17g", full)
end
reply[1] = refused
return reply
`
  }
).withReturnType<unknown>()

/** Reads the reply of the script; undefined where it is none. */
export const readTaken = (reply: unknown, asks: number): RateAnswer | undefined => {
  if (!Array.isArray(reply) || reply.length !== asks + 1) return undefined
  const numbers = reply.map((part: unknown) =>
    typeof part === "number" || (typeof part === "string" && part !== "") ? Number(part) : Number.NaN
  )
  const [refusedAt, ...fullMillis] = numbers
  return refusedAt !== undefined &&
    Number.isInteger(refusedAt) &&
    refusedAt >= -1 &&
    refusedAt < asks &&
    fullMillis.every((millis) => Number.isFinite(millis) && millis >= 0)
    ? { refusedAt, fullMillis }
    : undefined
}
