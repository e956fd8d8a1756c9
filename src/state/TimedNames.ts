// Redis scripts for a list of names that each become due at a time, such as circuit breakers that are open.
// Must not know what a name stands for. The scripts use the clock of Redis, so the clocks of the processes need not agree.
import * as Redis from "effect/persistence/Redis"

const now = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

/**
 * Adds a name that is due in `openMillis`. Beyond `most` names the owner with most of them, which is the first line of a
 * name, loses the one that is due first. In a list of names of one line the name that is due first leaves.
 */
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
local function ownerOf(name) return string.match(name, "^(.-)\\n") or "" end
local owner = ownerOf(ARGV[1])
if owner == "" then redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -1 - tonumber(ARGV[3])) end
for over = redis.call("ZCARD", KEYS[1]) - tonumber(ARGV[3]), 1, -1 do
  local names, counts, crowd = redis.call("ZRANGE", KEYS[1], 0, -1), {}, owner
  for _, name in ipairs(names) do counts[ownerOf(name)] = (counts[ownerOf(name)] or 0) + 1 end
  for one, count in pairs(counts) do if count > counts[crowd] then crowd = one end end
  for _, name in ipairs(names) do
    if ownerOf(name) == crowd then redis.call("ZREM", KEYS[1], name) break end
  end
end
if redis.call("PTTL", KEYS[1]) < life then redis.call("PEXPIRE", KEYS[1], string.format("%.0f", life)) end
`
  }
)

/** Each name with its remaining milliseconds; names that became due more than `idleMillis` ago are removed first. */
const list = Redis.script((name: string, most: number, idleMillis: number) => [name, most, idleMillis], {
  numberOfKeys: 1,
  lua: `${now}
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now - tonumber(ARGV[2])))
local listed = redis.call("ZREVRANGE", KEYS[1], 0, tonumber(ARGV[1]) - 1, "WITHSCORES")
local rows = {}
for at = 1, #listed, 2 do table.insert(rows, { listed[at], tonumber(listed[at + 1]) - now }) end
return rows
`
}).withReturnType<ReadonlyArray<readonly [name: string, leftMillis: number]>>()

export const TimedNames = { add, list }
