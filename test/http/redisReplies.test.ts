// Tests requests on a Redis that answers in shapes no command has: each counts as an outage, none fails a request.
// Must not depend on a real Redis.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { afterEach, describe, expect, it } from "vitest"
import { until } from "../support/eventually.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { type ScriptedRedis, startScriptedRedis } from "../support/scriptedRedis.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const counted = replying({
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
  modelVersion: "gemini-2.5-flash"
})
const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }], max_tokens: 20 }
const sha = `$40\r\n${"a".repeat(40)}\r\n`
const circuit = {
  "x-gateway-config": JSON.stringify({ cb_config: { failure_threshold: 1, cooldown_interval: 600_000 } })
}

const closing: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface World {
  readonly gateway: ScriptedGateway
  readonly redis: ScriptedRedis
  readonly lines: ReadonlyArray<string>
}

/** A gateway whose Redis answers scripts, reads of texts and lists of names with these bytes. */
const worldOf = async (
  { names = "*0\r\n", rates, texts = "*1\r\n$-1\r\n" }: Partial<Record<"names" | "rates" | "texts", string>>,
  script = () => Effect.succeed(counted)
): Promise<World> => {
  const loaded: Array<string> = []
  const redis = await startScriptedRedis((command) => {
    const [name, what = "", lua = ""] = command
    if (name === "SCRIPT") {
      loaded.push(lua)
      return sha.replace("a".repeat(40), String(loaded.length).padStart(40, "a"))
    }
    if (name === "MGET") return texts
    if (name !== "EVALSHA") return "+OK\r\n"
    const source = loaded[Number(what.replaceAll("a", "")) - 1] ?? ""
    if (source.includes("ZREVRANGE")) return names
    return rates ?? `*${1 + Number(command[2])}\r\n:-1\r\n${"$1\r\n0\r\n".repeat(Number(command[2]))}`
  })
  closing.push(redis.close)
  const lines: Array<string> = []
  const gateway = gatewayOver(script, {
    settings: {
      redis: Redacted.make(redis.url),
      keys: [
        {
          name: "ci",
          key: Redacted.make(gatewayKey),
          // A request a minute comes back: none while a test runs.
          rate_limit: { requests_per_minute: 1, requests_burst: 10, tokens_per_minute: 1_000, tokens_burst: 1_000 }
        }
      ]
    },
    references: Layer.mergeAll(
      Layer.sync(Metric.MetricRegistry, () => new Map()),
      Logger.layer([
        Logger.make<unknown, void>(({ message }) => {
          const text = String(message)
          if (text.startsWith("Redis")) lines.push(text)
        })
      ])
    )
  })
  closing.push(gateway.dispose)
  return { gateway, redis, lines }
}

const ofRates = ({ commands }: ScriptedRedis) =>
  commands.filter((command) => command[0] === "EVALSHA" && command.some((part) => part.includes("rate:ci")))

/** The outage as the log has it. */
const outage = (reason: string): string =>
  `Redis does not answer (${reason}): until it does, limits, circuits, signatures and cached answers are this process's own.`

const logged = async ({ lines }: World): Promise<ReadonlyArray<string>> => {
  await until(() => lines.length > 0)
  return lines
}

describe("limits in one round trip", () => {
  it("Redis: both limits of a request are one command, and its settlement is another", async () => {
    const { gateway, redis } = await worldOf({})
    for (let at = 1; at <= 3; at++) {
      expect((await gateway.post("/v1/chat/completions", hello)).status).toBe(200)
      await until(() => ofRates(redis).length === 2 * at)
    }
    const keys = ["mgw:rate:ci:requests:1:10", "mgw:rate:ci:tokens:1000:1000"]
    expect(ofRates(redis).map((command) => command.slice(2, 3 + Number(command[2])))).toEqual(
      Array.from({ length: 3 }, () => [
        ["2", ...keys],
        ["1", keys[1]]
      ]).flat()
    )
  })
})

describe("replies of unexpected shape", () => {
  it.each([
    ["a status", "+OK\r\n"],
    ["a number", ":7\r\n"],
    ["nothing", "$-1\r\n"],
    ["no list", "*-1\r\n"],
    ["an empty list", "*0\r\n"],
    ["too few numbers", "*2\r\n:-1\r\n$1\r\n0\r\n"],
    ["too many numbers", "*4\r\n:-1\r\n$1\r\n0\r\n$1\r\n0\r\n$1\r\n0\r\n"],
    ["texts", "*3\r\n$2\r\nhi\r\n$2\r\nhi\r\n$2\r\nhi\r\n"],
    ["lists", "*3\r\n*0\r\n*0\r\n*0\r\n"],
    ["infinite numbers", "*3\r\n:-1\r\n$3\r\ninf\r\n$3\r\nnan\r\n"]
  ])("Redis: %s as the answer to limits counts as an outage, and the gateway counts for itself", async (_, rates) => {
    const world = await worldOf({ rates })
    const remaining = []
    for (let at = 0; at < 3; at++) {
      const answer = await world.gateway.post("/v1/chat/completions", hello)
      remaining.push([answer.status, answer.headers.get("x-ratelimit-remaining-requests")])
      await answer.text()
    }
    expect([remaining, ofRates(world.redis).length]).toEqual([
      [
        [200, "9"],
        [200, "8"],
        [200, "7"]
      ],
      1
    ])
  })

  it("Redis: an error as the answer to limits leaves Redis in use", async () => {
    const world = await worldOf({ rates: "-ERR no\r\n" })
    const remaining = []
    for (let at = 0; at < 2; at++) {
      const answer = await world.gateway.post("/v1/chat/completions", hello)
      remaining.push([answer.status, answer.headers.get("x-ratelimit-remaining-requests")])
      await answer.text()
    }
    await until(() => ofRates(world.redis).length >= 4)
    expect([remaining, world.lines]).toEqual([
      [
        [200, "9"],
        [200, "8"]
      ],
      []
    ])
  })

  it("Redis: bytes that are not its protocol count as an outage", async () => {
    const world = await worldOf({ rates: "HTTP/1.1 400 Bad Request\r\n\r\n" })
    const answer = await world.gateway.post("/v1/chat/completions", hello)
    expect([answer.status, answer.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "9"])
  })

  it.each([
    ["a status", "+OK\r\n"],
    ["no list", "*-1\r\n"],
    ["a list of another length", "*0\r\n"],
    ["a number in the list", "*1\r\n:5\r\n"]
  ])("Redis: %s as the answer to a read of the cache is a miss and an outage", async (_, texts) => {
    const { gateway, redis } = await worldOf({ texts })
    const ask = async () => {
      const answer = await gateway.post("/v1/chat/completions", hello, { "x-gateway-cache": "60" })
      await answer.text()
      return [answer.status, answer.headers.get("x-gateway-cache-status")]
    }
    // The second answer is that of the cache of this process.
    expect([await ask(), await ask(), redis.commands.filter(([name]) => name === "MGET").length]).toEqual([
      [200, "MISS"],
      [200, "HIT"],
      1
    ])
  })

  it.each([
    ["a status", "+OK\r\n"],
    ["texts", "*1\r\n$2\r\nhi\r\n"],
    ["pairs of texts", "*1\r\n*2\r\n$2\r\nhi\r\n$2\r\nhi\r\n"]
  ])("Redis: %s as the list of open circuits counts as an outage", async (_, names) => {
    const world = await worldOf({ names })
    const ask = async () => (await world.gateway.post("/v1/chat/completions", hello, circuit)).status
    expect(await ask()).toBe(200)
    expect(await logged(world)).toEqual([outage("an unexpected reply to a list of names")])
    expect(await ask()).toBe(200)
  })

  it("Redis: a circuit whose script answers in another shape opens in this process", async () => {
    const world = await worldOf({ rates: "*1\r\n$2\r\nhi\r\n" }, () => Effect.succeed({ status: 500, chunks: ["{}"] }))
    const ask = async () => (await world.gateway.post("/v1/chat/completions", hello, circuit)).status
    expect([await ask(), await ask(), await ask()]).toEqual([502, 503, 503])
  })
})
