// Tests Redis outages (F33): requests are served with little delay, and sharing resumes after the outage.
// Must not run without a Redis: it is skipped there.
import { randomUUID } from "node:crypto"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { afterEach, describe, expect, it } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { redisUrl, removeKeys, saidWithoutRedis } from "../support/redis.ts"
import { saidWithoutServer, startRedisServer } from "../support/redisServer.ts"
import { startRelay } from "../support/relay.ts"
import { passUntil, passUntilEnded, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, geminiKey, settingsFor, startGateway } from "../support/TestGateway.ts"

/** No Redis that answers takes so much of the time that passes between two turns of the event loop. */
const redisMillis = 60_000
const stepMillis = 100
const prefix = `mgw-test:${randomUUID()}:`

const closing: Array<() => Promise<void>> = []
afterEach(async () => {
  resumeTime()
  for (const close of closing.splice(0).toReversed()) await close()
  if (redisUrl !== undefined) await removeKeys(prefix)
})

const gone =
  "Warn Redis does not answer (why): until it does, limits, circuits, signatures and cached answers are this process's own."
const back = "Info Redis answers again: limits, circuits, signatures and cached answers are shared."

interface Gateway {
  readonly ask: (question: string) => Promise<string>
  readonly health: () => Promise<unknown>
  /** Lets time pass until the service reports this health. */
  readonly reaches: (health: unknown) => Promise<void>
  /** The log lines of the service once there are this many, without their reasons. Time passes meanwhile. */
  readonly said: (lines: number) => Promise<ReadonlyArray<string>>
}

const gatewayOn = async (upstream: string, redis: string): Promise<Gateway> => {
  const said: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    const text = String(message)
    // The model of the requests may end one day, which is of no interest here.
    if (!text.startsWith("Requests go to a model")) said.push(`${logLevel} ${text.replace(/\(.*\)/, "(why)")}`)
  })
  const settings = settingsFor(upstream, { limits: { redisMillis } })
  const gateway = await startGateway(
    { ...settings, redis: Redacted.make(redis) },
    Layer.mergeAll(
      Layer.succeed(RedisPrefix, prefix),
      Logger.layer([logger]),
      Layer.sync(Metric.MetricRegistry, () => new Map())
    )
  )
  closing.push(gateway.close)
  const health = async () => {
    const answer = await fetch(`${gateway.url}/health/ready`)
    return [answer.status, await answer.json()]
  }
  return {
    said: async (lines) => {
      await passUntil(stepMillis, () => said.length >= lines)
      return said
    },
    health,
    reaches: (state) => passUntil(stepMillis, async () => JSON.stringify(await health()) === JSON.stringify(state)),
    ask: async (question) => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, "x-gateway-cache": "600" },
        body: JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: question }] })
      })
      await answer.text()
      return `${answer.status} ${answer.headers.get("x-gateway-cache-status")}`
    }
  }
}

const startUpstream = async (): Promise<string> => {
  const upstream = await makeSimulator({ geminiApiKeys: [geminiKey] }).listen()
  closing.push(upstream.close)
  return upstream.url
}

const redisMessage =
  "Redis does not answer: each gateway uses its own memory for limits, circuits and caches. Look at the server of redis.url; the gateway returns to it by itself."
const health = (status: string, redis: string) => [
  200,
  {
    status,
    checks: { config: "ok", redis },
    ...(redis === "ok" ? {} : { messages: { redis: redisMessage } }),
    version: "0.1.0"
  }
]

/** A Redis as two gateways see it, the first through what fails. */
interface World {
  readonly first: string
  readonly second: string
  readonly begin: () => Promise<void> | void
  readonly end: () => Promise<void> | void
  /** All that the first has sent. */
  readonly sent: () => string
}

const relayed = (begin: "cut" | "stall" | "delay") => async (): Promise<World> => {
  const { hostname, pathname, port } = new URL(redisUrl ?? "")
  const relay = await startRelay(hostname, Number(port || 6379))
  closing.push(relay.close)
  const faults = { cut: relay.cut, stall: relay.stall, delay: () => relay.delay(5 * redisMillis) }
  return {
    first: `redis://127.0.0.1:${relay.port}${pathname}`,
    second: redisUrl ?? "",
    begin: faults[begin],
    end: relay.heal,
    sent: relay.sent
  }
}

const served = (begin: "stop" | "freeze", end: "start" | "thaw") => async (): Promise<World> => {
  const server = await startRedisServer()
  closing.push(server.close)
  return { first: server.url, second: server.url, begin: server[begin], end: server[end], sent: () => "" }
}

const faults: ReadonlyArray<readonly [name: string, start: () => Promise<World>]> = [
  ...(saidWithoutRedis("F33 Redis behind a relay")
    ? ([
        ["cut off", relayed("cut")],
        ["silent", relayed("stall")],
        ["minutes late", relayed("delay")]
      ] as const)
    : []),
  ...(saidWithoutServer("F33 Redis stopped and frozen")
    ? ([
        ["stopped", served("stop", "start")],
        ["frozen", served("freeze", "thaw")]
      ] as const)
    : [])
]

describe.each(faults)("Redis that is %s (F33)", (_name, start) => {
  it("Redis outage: no request fails, and sharing resumes after it (F33)", async () => {
    const world = await start()
    const upstream = await startUpstream()
    stopTime()
    const gateway = await gatewayOn(upstream, world.first)
    expect([await gateway.health(), await gateway.ask("one"), await gateway.ask("one")]).toEqual([
      health("ok", "ok"),
      "200 MISS",
      "200 HIT"
    ])

    await world.begin()
    const before = world.sent().length
    // One request may wait for it; none after it does.
    expect(await passUntilEnded(redisMillis / 4, gateway.ask("one"))).toBe("200 HIT")
    const answers = []
    for (let n = 0; n < 20; n++)
      answers.push(await gateway.ask("one"), await gateway.ask(`two ${n}`), await gateway.ask(`two ${n}`))
    expect(answers).toEqual(Array.from({ length: 20 }, () => ["200 HIT", "200 MISS", "200 HIT"]).flat())
    await gateway.reaches(health("degraded", "down"))
    expect(await gateway.said(1)).toEqual([gone])
    expect(
      world
        .sent()
        .slice(before)
        .match(/\r\n(GET|MGET)\r\n/g)?.length ?? 0
    ).toBeLessThanOrEqual(1)

    await world.end()
    await gateway.reaches(health("ok", "ok"))
    const other = await gatewayOn(upstream, world.second)
    expect([await gateway.ask("three"), await other.ask("three"), await other.ask("two 1")]).toEqual([
      "200 MISS",
      "200 HIT",
      "200 MISS"
    ])
    expect([await gateway.said(2), await other.said(0)]).toEqual([[gone, back], []])
  })
})

describe.runIf(saidWithoutRedis("F33 Redis behind a relay"))("Redis whose connections are all reset (F33)", () => {
  it("Redis reset: sharing resumes without a failed request (F33)", async () => {
    const { hostname, pathname, port } = new URL(redisUrl ?? "")
    const relay = await startRelay(hostname, Number(port || 6379))
    closing.push(relay.close)
    stopTime()
    const gateway = await gatewayOn(await startUpstream(), `redis://127.0.0.1:${relay.port}${pathname}`)
    const answers = []
    for (let n = 0; n < 20; n++) {
      if (n % 5 === 0) {
        await gateway.reaches(health("ok", "ok"))
        relay.reset()
      }
      answers.push(await gateway.ask("again"))
    }
    expect(answers).toEqual(["200 MISS", ...Array.from({ length: 19 }, () => "200 HIT")])
    await gateway.reaches(health("ok", "ok"))
  })
})

describe("Redis that is absent when the service starts", () => {
  it("absent Redis: the service starts without it (F33)", async () => {
    stopTime()
    const gateway = await gatewayOn(await startUpstream(), "redis://:sekret@127.0.0.1:1")
    expect([await gateway.health(), await gateway.ask("one"), await gateway.ask("one")]).toEqual([
      health("degraded", "down"),
      "200 MISS",
      "200 HIT"
    ])
    expect(await gateway.said(1)).toEqual([gone])
  })

  it.runIf(saidWithoutServer("F33 Redis that comes later"))(
    "absent Redis: is used once it is there (F33)",
    async () => {
      const server = await startRedisServer()
      closing.push(server.close)
      await server.stop()
      const upstream = await startUpstream()
      stopTime()
      const [gateway, other] = [await gatewayOn(upstream, server.url), await gatewayOn(upstream, server.url)]
      expect(await gateway.ask("one")).toBe("200 MISS")
      await server.start()
      await gateway.reaches(health("ok", "ok"))
      await other.reaches(health("ok", "ok"))
      expect([await gateway.ask("two"), await other.ask("two")]).toEqual(["200 MISS", "200 HIT"])
    }
  )
})
