// What Redis does at once with the list of breakers that are not closed: names, each with the moment it may be tried again.
// It must not know what a breaker is. Time is Redis' own, so that clocks need not agree.
import * as Redis from "effect/persistence/Redis"

const now = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

/** Puts a name in, open for so long; the oldest leave beyond so many. */
const add = Redis.script(
  (list: string, name: string, openMillis: number, most: number, idleMillis: number) => [
    list,
    name,
    openMillis,
    most,
    idleMillis
  ],
  {
    numberOfKeys: 1,
    lua: `${now}
local life = tonumber(ARGV[2]) + tonumber(ARGV[4])
redis.call("ZADD", KEYS[1], string.format("%.0f", now + tonumber(ARGV[2])), ARGV[1])
redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -1 - tonumber(ARGV[3]))
if redis.call("PTTL", KEYS[1]) < life then redis.call("PEXPIRE", KEYS[1], string.format("%.0f", life)) end
`
  }
)

/** Every name and how long it is open yet, without those that nobody has tried for long. */
const list = Redis.script((name: string, most: number, idleMillis: number) => [name, most, idleMillis], {
  numberOfKeys: 1,
  lua: `${now}
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now - tonumber(ARGV[2])))
local found = redis.call("ZREVRANGE", KEYS[1], 0, tonumber(ARGV[1]) - 1, "WITHSCORES")
local told = {}
for at = 1, #found, 2 do table.insert(told, { found[at], tonumber(found[at + 1]) - now }) end
return told
`
}).withReturnType<ReadonlyArray<readonly [name: string, leftMillis: number]>>()

export const CircuitScripts = { add, list }
