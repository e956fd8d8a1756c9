// What clients, operators and other gateways see of healed requests: headers, metrics, attempts, shared lessons.
import { randomUUID } from "node:crypto"
import { afterAll, describe, expect, it } from "@effect/vitest"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { explainModel, modelTable } from "../../src/domain/models/modelTable.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import type { ScriptedResponse } from "../../src/upstream/Transport.ts"
import * as Effect from "effect/Effect"
import { accountedGateway, adminKey } from "../support/accounted.ts"
import { until } from "../support/eventually.ts"
import { reply, stop } from "../support/gemini.ts"
import { redisUrl, removeKeys, saidWithoutRedis } from "../support/redis.ts"
import { gatewaysOver, replying, type SeenCall } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const path = "/v1/chat/completions"
const models = { "gemini-9-flash": { inherits: "gemini-3.5-flash", sampling: { refused: [] } } }
const request = {
  model: "@google/gemini-9-flash",
  messages: [{ role: "user", content: "hi" }],
  logprobs: true,
  reasoning_effort: "minimal"
}

const refused = (message: string): ScriptedResponse => ({
  status: 400,
  chunks: [JSON.stringify({ error: { code: 400, status: "INVALID_ARGUMENT", message } })]
})

/** Refuses log probabilities, then the level MINIMAL. */
const strictModel = ({ body }: TransportRequest) => {
  const text = typeof body === "string" ? body : ""
  return Effect.succeed(
    text.includes("responseLogprobs")
      ? refused("Logprobs is not enabled for models/gemini-9-flash")
      : text.includes("MINIMAL")
        ? refused("Thinking level MINIMAL is not supported for this model.")
        : replying(reply([{ text: "fine" }], stop))
  )
}

const shownOf = (answer: Response) => [
  answer.status,
  answer.headers.get("x-gateway-ignored-params"),
  answer.headers.get("x-gateway-adjusted-params")
]
const healed = [200, "logprobs", "reasoning_effort=minimal>low"]

describe("healed requests over HTTP", () => {
  it("healing: names its changes in headers and counts each row of a healed request once (M-902)", async () => {
    const gateway = accountedGateway(strictModel, { settings: { models } })
    for (const callsSoFar of [3, 4]) {
      const answer = await gateway.post(path, request)
      await answer.text()
      expect(shownOf(answer)).toEqual(healed)
      expect(gateway.seen.length).toBe(callsSoFar)
    }
    const counted = async () => (await gateway.metrics()).filter((line) => line.startsWith("gateway_heals_total{"))
    // The public price list is read in the background.
    await until(async () => (await counted()).length > 0)
    expect(await counted()).toEqual([
      'gateway_heals_total{provider="google",model="gemini-9-flash",row="H9"} 1',
      'gateway_heals_total{provider="google",model="gemini-9-flash",row="H2"} 1'
    ])
    await gateway.dispose()
  })

  it("healing: a key learns for itself, and the admin API shows whose lesson it is (M-906)", async () => {
    const keys = ["one", "two"].map((name) => ({
      name,
      key: Redacted.make(`mgk_${name}00000000000000000000000000000`)
    }))
    const boss = { name: "boss", key: Redacted.make(adminKey) }
    const gateway = accountedGateway(strictModel, {
      settings: { models, keys: [...keys, { ...boss, scopes: ["admin"] }] }
    })
    const calls = []
    for (const { key } of [...keys, ...keys]) {
      const before = gateway.seen.length
      const answer = await gateway.post(path, request, { "x-gateway-api-key": Redacted.value(key) })
      await answer.text()
      expect(shownOf(answer)).toEqual(healed)
      calls.push(gateway.seen.length - before)
    }
    await gateway.post(
      path,
      { ...request, model: "@vertex-ai/gemini-9-flash" },
      { "x-gateway-api-key": Redacted.value(keys[0]?.key ?? boss.key) }
    )
    expect(calls).toEqual([3, 3, 1, 1])
    const shown = (await gateway.admin("/admin/v1/models/facts?model=gemini-9-flash")) as { readonly learned: unknown }
    const lessonsOf = (key: string, place: object) => [
      { ...place, key, row: "H9", value: "" },
      { ...place, key, row: "H2", value: "minimal" }
    ]
    const google = { provider: "google", account: "google" }
    const vertex = { provider: "vertex-ai", account: "vertex-ai", project: "test-project", region: "us-central1" }
    expect(shown.learned).toEqual([
      ...lessonsOf("one", google),
      ...lessonsOf("two", google),
      ...lessonsOf("one", vertex)
    ])
    await gateway.dispose()
  })

  it("healing: refuses a learned parameter where the client wants none ignored or adjusted (M-903)", async () => {
    const gateway = accountedGateway(strictModel, { settings: { models } })
    await gateway.post(path, request)
    const answer = await gateway.post(path, request, { "x-gateway-unsupported-params": "reject" })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message: '"logprobs" has no equivalent at this model, and the request asked for refusal of such parameters.',
          type: "invalid_request_error",
          param: "logprobs",
          code: "unsupported_parameter"
        }
      }
    ])
    expect(gateway.seen.length).toBe(3)
    await gateway.dispose()
  })
})

describe("the lessons on the admin API", () => {
  it("admin: forgets all lessons, for holders of an admin key only (M-901)", async () => {
    const gateway = accountedGateway(strictModel, { settings: { models } })
    const forget = async (key: string) => {
      const { status } = await gateway.send("/admin/v1/models/learned", {
        method: "DELETE",
        headers: { "x-gateway-api-key": key }
      })
      return status
    }
    await gateway.post(path, request)
    expect(await forget(gatewayKey)).toBe(401)
    await gateway.post(path, request)
    expect(gateway.seen.length).toBe(4)
    expect(await forget(adminKey)).toBe(204)
    await gateway.post(path, request)
    expect(gateway.seen.length).toBe(7)
    await gateway.dispose()
  })
})

describe("the facts of a model on the admin API", () => {
  it("admin: shows the record, where each fact comes from, and what was learned (M-103)", async () => {
    const gateway = accountedGateway(strictModel, { settings: { models } })
    const facts = "/admin/v1/models/facts"
    const explained = explainModel(modelTable(models), "gemini-9-flash")
    expect(await gateway.admin(`${facts}?model=gemini-9-flash`)).toEqual({ ...explained, learned: [] })
    await gateway.post(path, request)
    const learned = [
      { provider: "google", account: "google", key: "test", row: "H9", value: "" },
      { provider: "google", account: "google", key: "test", row: "H2", value: "minimal" }
    ]
    expect(await gateway.admin(`${facts}?model=@google/models/gemini-9-flash`)).toEqual({ ...explained, learned })
    const refusals = await Promise.all(
      ["", "?model=", "?id=x"].map(async (query) => {
        const answer = await gateway.send(facts + query, { headers: { "x-gateway-api-key": adminKey } })
        const { detail } = await answer.json()
        return [answer.status, detail]
      })
    )
    expect(refusals).toEqual([
      [400, "model is required: the id of a model, such as gemini-3.8-flash."],
      [400, "model is required: the id of a model, such as gemini-3.8-flash."],
      [400, "id is not known here; there are model."]
    ])
    const { status } = await gateway.send(`${facts}?model=x`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(status).toBe(401)
    await gateway.dispose()
  })
})

describe("moving names", () => {
  /** Answers as 3.5 Flash, which takes the level MINIMAL. */
  const answering = (stream: boolean, modelVersion = "gemini-3.5-flash") => {
    const event = { ...reply([{ text: "fine" }], stop), modelVersion }
    return stream
      ? {
          status: 200,
          headers: { "content-type": "text/event-stream" },
          chunks: [`data: ${JSON.stringify(event)}\n\n`]
        }
      : replying(event)
  }
  const body = (stream: boolean) => ({
    model: "@google/gemini-flash-latest",
    messages: [{ role: "user", content: "hi" }],
    reasoning_effort: "minimal",
    stream
  })
  const levelOf = ({ body }: SeenCall) => JSON.stringify(body).match(/"thinkingLevel":"(\w+)"/)?.[1]

  it.each([false, true])(
    "a moving name has the facts of the model that answered, by its answer; streamed: %s (M-111)",
    async (stream) => {
      const gateway = accountedGateway(() => Effect.succeed(answering(stream)), { settings: { models } })
      const shown = []
      for (let at = 0; at < 2; at++) {
        const answer = await gateway.post(path, body(stream))
        await answer.text()
        shown.push([answer.headers.get("x-gateway-adjusted-params"), answer.headers.get("x-gateway-model-warning")])
      }
      expect([shown, gateway.seen.map(levelOf), new Set(gateway.seen.map(({ url }) => url)).size]).toEqual([
        [
          ["reasoning_effort=minimal>low", null],
          [null, null]
        ],
        ["LOW", "MINIMAL"],
        1
      ])
      const learned = async () =>
        ((await gateway.admin("/admin/v1/models/facts?model=gemini-flash-latest")) as { learned: unknown }).learned
      expect(await learned()).toEqual([
        { provider: "google", account: "google", key: "test", answers: "gemini-3.5-flash" }
      ])
      await gateway.send("/admin/v1/models/learned", { method: "DELETE", headers: { "x-gateway-api-key": adminKey } })
      expect(await learned()).toEqual([])
      await gateway.dispose()
    }
  )

  it("what the operator states of a moving name stays, and an odd version teaches nothing (M-111)", async () => {
    const overlay = { "gemini-flash-latest": { thinking: { levels: ["low", "high"] } } } as const
    const stated = accountedGateway(() => Effect.succeed(answering(false)), { settings: { models: overlay } })
    const odd = accountedGateway(() => Effect.succeed(answering(false, "a model\n")))
    for (const gateway of [stated, odd]) {
      for (let at = 0; at < 2; at++) await (await gateway.post(path, body(false))).text()
      expect(gateway.seen.map(levelOf)).toEqual(["LOW", "LOW"])
      await gateway.dispose()
    }
  })
})

describe.runIf(saidWithoutRedis("lessons of two gateways"))("two gateways on one Redis", () => {
  const over = gatewaysOver()
  const otherKey = "mgk_other000000000000000000000000000"
  const keys = [gatewayKey, otherKey].map((key) => ({
    name: key.slice(4, 9),
    key: Redacted.make(key)
  }))
  const prefix = `mgw-test:${randomUUID()}:`
  afterAll(() => removeKeys(prefix))

  it("healing: one gateway learns for a key, and the other one sends no refused call of this key (M-901, M-906)", async () => {
    const one = () =>
      over(strictModel, {
        settings: { models, keys, ...(redisUrl === undefined ? {} : { redis: Redacted.make(redisUrl) }) },
        references: Layer.merge(
          Layer.succeed(RedisPrefix, prefix),
          Layer.sync(Metric.MetricRegistry, () => new Map())
        )
      })
    const [teacher, pupil] = [one(), one()]
    expect(shownOf(await teacher.post(path, request))).toEqual(healed)
    // A dry run shows what is known and sends nothing.
    await until(async () => {
      const dry: { readonly [list: string]: ReadonlyArray<string> | undefined } = JSON.parse(
        await (await pupil.post(path, request, { "x-gateway-dry-run": "true" })).text()
      )
      return dry["ignored_params"]?.length === 1 && dry["adjusted_params"]?.length === 1
    })
    expect(shownOf(await pupil.post(path, request))).toEqual(healed)
    expect([teacher.seen.length, pupil.seen.length]).toEqual([3, 1])
    const other = { "x-gateway-api-key": otherKey }
    expect(shownOf(await pupil.post(path, request, other))).toEqual(healed)
    expect(pupil.seen.length).toBe(4)
  })
})
