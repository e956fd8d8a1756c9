// Tests attempts to spend more than a key's budget, through the whole service.
// Must not depend on how budgets are kept.
import { afterEach, describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { KeySetting, Settings } from "../../src/domain/settings/Settings.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { TransportFault } from "../../src/upstream/HttpExchange.ts"
import { accountedGateway, type AccountedGateway, adminKey, leaveStream, silence } from "../support/accounted.ts"
import { replying, type ScriptedOptions } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { overRouter, webFace } from "../support/ways.ts"

const chat = "/v1/chat/completions"
const open: Array<AccountedGateway> = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose()
})

const gatewayFor = (
  key: Partial<KeySetting>,
  script: TransportScript,
  settings: Partial<Settings> = {},
  { over = webFace, limits = {} }: Pick<ScriptedOptions, "over" | "limits"> = {}
): AccountedGateway => {
  const gateway = accountedGateway(script, {
    over,
    limits,
    settings: {
      keys: [
        { name: "ci", key: Redacted.make(gatewayKey), ...key },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ],
      ...settings
    }
  })
  open.push(gateway)
  return gateway
}

const cents = (usd: number) => ({ budget: { usd, per: "month" } as const })
const spentOf = async (gateway: AccountedGateway): Promise<unknown> => {
  const answer = await gateway.admin("/admin/v1/keys/ci")
  return typeof answer === "object" && answer !== null && "spent_usd" in answer ? answer.spent_usd : answer
}
/** Status and code of an answer whose body was read to its end. */
const outcome = async (answer: Response | Promise<Response>): Promise<readonly [number, unknown]> => {
  const { status, text } = await Promise.resolve(answer).then(async (one) => ({
    status: one.status,
    text: await one.text()
  }))
  return [status, status === 200 ? undefined : JSON.parse(text)?.error?.code]
}
const refusal = async (answer: Response) => ({
  status: answer.status,
  retry: answer.headers.get("x-should-retry"),
  body: await answer.json()
})

const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }
const gemini = (usage: object, parts: ReadonlyArray<object> = [{ text: "Hello" }]) =>
  replying({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: usage,
    modelVersion: "m"
  })

describe("image requests and the budget", () => {
  /** A picture of Gemini: 1,290 tokens at 30 dollars a million are 38,700 micro-dollars. */
  const drawn = gemini(
    {
      promptTokenCount: 2,
      candidatesTokenCount: 1290,
      totalTokenCount: 1292,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }]
    },
    [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }]
  )
  const image = { model: "@google/gemini-2.5-flash-image", prompt: "A cat" }

  it("budget: Gemini images are priced before the call, and one more is refused when the rest is too small", async () => {
    const gateway = gatewayFor(cents(0.1), () => drawn)
    const outcomes = []
    for (let at = 0; at < 5; at++) outcomes.push(await outcome(gateway.post("/v1/images/generations", image)))
    const refused = [402, "insufficient_quota"]
    expect([outcomes, gateway.seen.length]).toEqual([
      [[200, undefined], [200, undefined], refused, refused, refused],
      2
    ])
    expect(await spentOf(gateway)).toBe(0.077402)
  })

  it("budget: images are reserved by number and size", async () => {
    const gateway = gatewayFor(cents(0.1), () => drawn)
    const asked = [{ n: 3 }, { n: 2, size: "2048x2048" }, { image_size: "4K", n: 2 }, { imageSize: "4K", n: 2 }]
    for (const more of asked)
      expect(await outcome(gateway.post("/v1/images/generations", { ...image, ...more }))).toEqual([
        402,
        "insufficient_quota"
      ])
    expect(gateway.seen).toEqual([])
    expect(await outcome(gateway.post("/v1/images/generations", { ...image, n: 2 }))).toEqual([200, undefined])
  })

  it("budget: images drawn in a chat are reserved by the request and by the model", async () => {
    const gateway = gatewayFor(cents(0.03), () => drawn)
    const asked = { ...hello, model: "@google/gemini-2.5-flash-image", max_tokens: 10 }
    for (const more of [{}, { modalities: ["text", "image"] }])
      expect(await outcome(gateway.post(chat, { ...asked, ...more }))).toEqual([402, "insufficient_quota"])
    expect(gateway.seen).toEqual([])
  })
})

describe("estimates from the edited body", () => {
  const counted = gemini({ promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 })
  const config = (edits: object) => ({ "x-gateway-config": JSON.stringify({ provider: "@google", ...edits }) })

  // A router takes headers of any length.
  it.each([
    ["max_tokens is raised by an override", { max_tokens: 1 }, { override_params: { max_tokens: 60_000 } }],
    ["max_tokens is a default", {}, { default_params: { max_tokens: 60_000 } }],
    ["more answers are asked for by an override", { max_tokens: 10_000 }, { override_params: { n: 8 } }],
    [
      "the messages are an override",
      { max_tokens: 1 },
      { override_params: { messages: [{ role: "user", content: "x".repeat(2_000_000) }] } }
    ],
    [
      "the bound is dropped, and the usual length is more",
      { max_tokens: 1, reasoning_effort: "high" },
      { drop_params: ["max_tokens"] }
    ],
    ["a more expensive model is an override", { max_tokens: 10_000 }, { override_params: { model: "gemini-2.5-pro" } }]
  ])("budget: the estimate follows the edited body when %s", async (_name, more, edits) => {
    const gateway = gatewayFor(cents(0.05), () => counted, {}, { over: overRouter })
    expect(await outcome(gateway.post(chat, { ...hello, ...more }))).toEqual([200, undefined])
    expect(await outcome(gateway.post(chat, { ...hello, ...more }, config(edits)))).toEqual([402, "insufficient_quota"])
    expect(gateway.seen.length).toBe(1)
  })

  it("budget: the most expensive of several targets counts, each with its own edits", async () => {
    const gateway = gatewayFor(cents(0.05), () => counted)
    const fallback = (most: number) => ({
      "x-gateway-config": JSON.stringify({
        strategy: { mode: "fallback" },
        targets: [{ provider: "@google" }, { provider: "@vertex-ai", override_params: { max_tokens: most } }]
      })
    })
    expect(await outcome(gateway.post(chat, { ...hello, max_tokens: 10 }, fallback(60_000)))).toEqual([
      402,
      "insufficient_quota"
    ])
    expect(await outcome(gateway.post(chat, { ...hello, max_tokens: 10 }, fallback(20)))).toEqual([200, undefined])
  })

  it("budget: every target that load balancing may draw counts", async () => {
    const gateway = gatewayFor(cents(0.05), () => counted)
    const balance = (other: object) => ({
      "x-gateway-config": JSON.stringify({
        strategy: { mode: "loadbalance" },
        targets: [
          { provider: "@google", weight: 0.999999 },
          { provider: "@google", weight: 0.000001, ...other }
        ]
      })
    })
    const body = { ...hello, max_tokens: 10 }
    expect(await outcome(gateway.post(chat, body, balance({ override_params: { max_tokens: 60_000 } })))).toEqual([
      402,
      "insufficient_quota"
    ])
    expect(
      await outcome(gateway.post(chat, body, balance({ override_params: { model: "gemini-9-unheard-of" } })))
    ).toEqual([403, "model_not_priced"])
    expect(
      await outcome(gateway.post(chat, body, balance({ weight: 0, override_params: { model: "gemini-9-unheard-of" } })))
    ).toEqual([200, undefined])
  })

  it("budget: edits of a native body count", async () => {
    const message = replying({
      type: "message",
      id: "m",
      model: "claude-sonnet-4-6",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 }
    })
    const gateway = gatewayFor(cents(0.05), () => message)
    const body = { model: "@vertex-ai/claude-sonnet-4-6", max_tokens: 10, messages: hello.messages }
    const edited = {
      "x-gateway-config": JSON.stringify({ provider: "@vertex-ai", override_params: { max_tokens: 60_000 } })
    }
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "x".repeat(100_000) } }
    expect(await outcome(gateway.post("/v1/messages", body, edited))).toEqual([402, undefined])
    expect(
      await outcome(gateway.post("/v1/messages", { ...body, messages: [{ role: "user", content: [document] }] }))
    ).toEqual([402, undefined])
    expect(await outcome(gateway.post("/v1/messages", body))).toEqual([200, undefined])
    expect(gateway.seen.length).toBe(1)
  })

  it("budget: an edit that makes the body invalid is still charged", async () => {
    const gateway = gatewayFor(cents(0.05), () => counted)
    const broken = config({ override_params: { temperature: "hot" } })
    expect(await outcome(gateway.post(chat, { ...hello, max_tokens: 60_000 }, broken))).toEqual([
      402,
      "insufficient_quota"
    ])
    expect(await outcome(gateway.post(chat, { ...hello, max_tokens: 10 }, broken))).toEqual([400, "invalid_config"])
  })

  it("budget: tokens per minute are those of the edited body", async () => {
    const gateway = gatewayFor({ rate_limit: { tokens_per_minute: 1000, tokens_burst: 1000 } }, () => counted)
    const edited = config({ override_params: { messages: [{ role: "user", content: "x".repeat(2000) }] } })
    const answer = await gateway.post(chat, hello, edited)
    expect([answer.status, Number(answer.headers.get("x-ratelimit-remaining-tokens")) < 500]).toEqual([200, true])
  })

  it("budget: thinking counts in each of its parameters", async () => {
    const gateway = gatewayFor(cents(0.05), () => counted)
    for (const more of [
      { reasoning_effort: "high" },
      { thinking: { type: "enabled", budget_tokens: 24_000 } },
      { extra_body: { google: { thinking_config: { thinking_budget: 24_000 } } } },
      { google: { thinking_config: { thinkingBudget: 24_000 } } },
      { max_completion_tokens: null, max_tokens: 24_000 },
      { max_completion_tokens: 1, max_tokens: 24_000 }
    ])
      expect(await outcome(gateway.post(chat, { ...hello, ...more }))).toEqual([402, "insufficient_quota"])
    expect(await outcome(gateway.post(chat, { ...hello, thinking: { type: "disabled" } }))).toEqual([200, undefined])
  })

  it("budget: text that begins like media counts as text, in schemas too", async () => {
    const gateway = gatewayFor(cents(0.05), () => counted)
    const long = `data:image/png;base64,${"A".repeat(900_000)}`
    const tool = (parameters: object) => ({ tools: [{ type: "function", function: { name: "f", parameters } }] })
    for (const more of [
      { messages: [{ role: "user", content: long }] },
      { messages: [{ role: "user", content: [{ type: "text", text: long }] }] },
      { messages: [{ role: "system", content: long }, ...hello.messages] },
      {
        messages: [
          {
            role: "user",
            content: [{ type: "file", file: { file_data: `data:text/plain;base64,${"A".repeat(1_200_000)}` } }]
          }
        ]
      },
      tool({ type: "object", properties: { image_url: { url: long }, data: { description: long } } }),
      tool({ type: "object", description: long }),
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", schema: { type: "object", description: long } }
        }
      }
    ])
      expect(await outcome(gateway.post(chat, { max_tokens: 1, ...hello, ...more }))).toEqual([
        402,
        "insufficient_quota"
      ])
    const picture = { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: long } }] }] }
    expect(await outcome(gateway.post(chat, { max_tokens: 1, ...hello, ...picture }))).toEqual([200, undefined])
  })
})

describe("rows of refused requests", () => {
  it("requests: a refusal for rate, budget, price or a faulty header keeps the team of the request (W11)", async () => {
    const settings = { usageMetadata: ["team"], prices: { "gemini-2.5-flash": { output: 500 } } }
    const team = { "x-gateway-metadata": '{"team":"own"}' }
    const rowOf = async (key: Partial<KeySetting>, body: object, headers: Record<string, string>) => {
      const gateway = gatewayFor({ metadata: { team: "key" }, ...key }, () => gemini({}), settings)
      await gateway.post(chat, { max_tokens: 1, ...body }, headers)
      await gateway.post(chat, { max_tokens: 1, ...body }, headers)
      return await gateway.admin("/admin/v1/requests?limit=1")
    }
    const rate = { rate_limit: { requests_per_minute: 1 } }
    const row = (code: string, of: string) => ({ data: [{ error_code: code, metadata: { team: of } }] })
    expect(await rowOf(rate, hello, team)).toMatchObject(row("rate_limit_exceeded", "own"))
    expect(await rowOf(cents(0.000_01), hello, team)).toMatchObject(row("insufficient_quota", "own"))
    const unheardOf = { ...hello, model: "@google/gemini-9-unheard-of" }
    expect(await rowOf(cents(1), unheardOf, {})).toMatchObject(row("model_not_priced", "key"))
    expect(await rowOf({}, hello, { "x-gateway-cache": "odd" })).toMatchObject(row("invalid_header", "key"))
  })
})

describe("models without a price", () => {
  const counted = gemini({ promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 })
  const unpriced = { ...hello, model: "@google/gemini-9-unheard-of" }

  it("budget: unpriced models are refused before the call for keys with a budget, and served for other keys", async () => {
    const gateway = gatewayFor(cents(1), () => counted)
    const refused = await refusal(await gateway.post(chat, unpriced))
    expect(refused).toEqual({
      status: 403,
      retry: "false",
      body: {
        error: {
          message:
            'The key has a budget, and "gemini-9-unheard-of" on google has no price: an operator states one under prices; 0 is a price.',
          type: "permission_error",
          param: "model",
          code: "model_not_priced"
        }
      }
    })
    expect(gateway.seen).toEqual([])
    const free = gatewayFor({}, () => counted)
    expect(await outcome(free.post(chat, unpriced))).toEqual([200, undefined])
  })

  it("budget: the refusal of a misspelt model names the near one (W11)", async () => {
    const gateway = gatewayFor(cents(1), () => counted)
    const { error } = (await refusal(await gateway.post(chat, { ...hello, model: "@google/gemini-2.5-flsh" }))).body
    expect(error).toEqual({
      message:
        'The key has a budget, and "gemini-2.5-flsh" on google has no price: did you mean gemini-2.5-flash? Else an operator states one under prices; 0 is a price.',
      type: "permission_error",
      param: "model",
      code: "model_not_priced"
    })
  })

  it("budget: an unpriced model is refused as any target of a config, on every route", async () => {
    const gateway = gatewayFor(cents(1), () => counted)
    const second = {
      strategy: { mode: "fallback" },
      targets: [{ provider: "@google" }, { provider: "@google", override_params: { model: "gemini-9-unheard-of" } }]
    }
    const refused = [403, "model_not_priced"]
    expect(await outcome(gateway.post(chat, hello, { "x-gateway-config": JSON.stringify(second) }))).toEqual(refused)
    expect(await outcome(gateway.post("/v1/images/generations", { model: unpriced.model, prompt: "A cat" }))).toEqual(
      refused
    )
    expect(await outcome(gateway.post("/v1/embeddings", { model: unpriced.model, input: "Hi" }))).toEqual(refused)
    expect(
      await outcome(gateway.post("/v1/messages", { ...hello, model: "@vertex-ai/claude-unheard-of", max_tokens: 1 }))
    ).toEqual([403, undefined])
    expect(gateway.seen).toEqual([])
  })

  it("budget: a model priced by the operator is served, even at 0, and refused once the budget is spent", async () => {
    const gateway = gatewayFor(cents(0.000_01), () => counted, {
      prices: { "gemini-9-unheard-of": { input: 0, output: 0 }, "gemini-2.5-flash": { output: 10 } }
    })
    expect(await outcome(gateway.post(chat, unpriced))).toEqual([200, undefined])
    expect(await outcome(gateway.post(chat, { ...hello, max_tokens: 1 }))).toEqual([200, undefined])
    expect(await spentOf(gateway)).toBe(0.000_01)
    const none = await refusal(await gateway.post(chat, unpriced))
    expect([none.status, none.retry, none.body.error.type, none.body.error.code]).toEqual([
      402,
      "false",
      "insufficient_quota",
      "insufficient_quota"
    ])
    expect(await outcome(gateway.post(`${chat}/count_tokens`, unpriced))).toEqual([402, "insufficient_quota"])
    expect(gateway.seen.length).toBe(2)
  })

  it("budget: models with a moving name or a version count as priced", async () => {
    const gateway = gatewayFor(cents(1), () => counted)
    for (const name of [
      "gemini-flash-latest",
      "gemini-pro-latest",
      "gemini-flash-lite-latest",
      "gemini-2.5-flash-001"
    ]) {
      expect(await outcome(gateway.post(chat, { ...hello, model: `@google/${name}`, max_tokens: 10 }))).toEqual([
        200,
        undefined
      ])
    }
    expect(Number(await spentOf(gateway))).toBeGreaterThan(0)
  })
})

describe("cut streams and the budget", () => {
  /** Of Claude at 3 dollars a million in, 15 out. */
  const claude = { model: "@vertex-ai/anthropic.claude-sonnet-4-6", messages: hello.messages, stream: true }
  const event = (value: { readonly type: string; readonly [field: string]: unknown }) =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
  const began = [
    event({
      type: "message_start",
      message: { id: "m", model: "claude-sonnet-4-6", content: [], usage: { input_tokens: 1000, output_tokens: 1 } }
    }),
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
  ]
  const delta = (text: string) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
  const ended = [
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 40 } }),
    event({ type: "message_stop" })
  ]

  it.each([
    ["in a chat", chat, { ...claude, max_tokens: 1000 }],
    ["natively", "/v1/messages", { ...claude, max_tokens: 1000 }],
    ["in a response", "/v1/responses", { model: claude.model, input: "Hi", stream: true, max_output_tokens: 1000 }]
  ])("budget: a stream cut by the client %s costs what it has received (N311)", async (_name, path, body) => {
    const chunks = [...began, delta("Hello"), ...Array.from({ length: 50 }, () => delta(" and")), delta("!"), silence]
    const gateway = gatewayFor(cents(1), () => ({ status: 200, chunks }))
    await leaveStream(gateway, path, body, "!")
    const [prompt, output] = [1000, Math.ceil("Hello and!".length / 4) + (49 * " and".length) / 4]
    expect(await spentOf(gateway)).toBe((3 * prompt + 15 * output) / 1e6)
    expect(await gateway.admin("/admin/v1/usage?group_by=key")).toMatchObject({
      data: [{ key: "ci", input_tokens: prompt, output_tokens: output, cost_usd: (3 * prompt + 15 * output) / 1e6 }]
    })
  })

  it("budget: thoughts that come encrypted count in a stream that the client cuts (N311)", async () => {
    const hidden = event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: "A".repeat(4000) }
    })
    const thinking = event({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } })
    const text = [
      event({ type: "content_block_stop", index: 0 }),
      event({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
      event({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hey!" } })
    ]
    const gateway = gatewayFor(cents(1), () => ({
      status: 200,
      chunks: [began[0] ?? "", thinking, hidden, ...text, silence]
    }))
    for (const path of [chat, "/v1/messages"])
      await leaveStream(gateway, path, { ...claude, max_tokens: 10_000 }, "Hey!")
    // The frame of a signature has 10 characters more around its text than that of a text.
    const outputs = [4000 / 4 + 1, Math.ceil((4000 + 10 + 4) / 4)]
    expect(await spentOf(gateway)).toBe((2 * 3 * 1000 + 15 * (outputs[0] ?? 0) + 15 * (outputs[1] ?? 0)) / 1e6)
  })

  it.each([
    ["in a chat", chat, 4000 / 4],
    ["natively", "/v1/messages", 4000 / 4]
  ])(
    "budget: a stream cut by the upstream %s costs the passed tokens where that is more",
    async (_name, path, tokens) => {
      const script = () =>
        Effect.succeed({
          status: 200,
          chunks: [...began, ...Array.from({ length: 40 }, () => delta("x".repeat(100)))],
          fault: "reset"
        } as const)
      const gateway = gatewayFor(cents(1), script)
      await (await gateway.post(path, { ...claude, max_tokens: 10 })).text()
      expect(await gateway.admin("/admin/v1/usage?group_by=model")).toMatchObject({
        data: [
          {
            model: "claude-sonnet-4-6",
            requests: 1,
            input_tokens: 1000,
            output_tokens: tokens,
            cost_usd: (3 * 1000 + 15 * tokens) / 1e6
          }
        ]
      })
      expect(await spentOf(gateway)).toBe((3 * 1000 + 15 * tokens) / 1e6)
    }
  )

  it("budget: a stream that ends in an upstream error without counts costs what has passed (N311)", async () => {
    const error = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })
    const gateway = gatewayFor(cents(1), () => ({ status: 200, chunks: [...began, delta("Hello"), error] }))
    for (const path of [chat, "/v1/messages"]) await (await gateway.post(path, { ...claude, max_tokens: 1000 })).text()
    expect(await spentOf(gateway)).toBe((2 * (3 * 1000 + 15 * 2)) / 1e6)
  })

  it("budget: a cut stream with final counts costs those", async () => {
    const gateway = gatewayFor(cents(1), () =>
      Effect.succeed({ status: 200, chunks: [...began, delta("Hello"), ...ended.slice(0, 2)], fault: "reset" } as const)
    )
    await (await gateway.post("/v1/messages", { ...claude, max_tokens: 1000 })).text()
    expect(await spentOf(gateway)).toBe((3 * 1000 + 15 * 40) / 1e6)
  })

  it("budget: a whole stream costs its counted usage", async () => {
    const gateway = gatewayFor(cents(1), () => ({ status: 200, chunks: [...began, delta("Hello"), ...ended] }))
    for (const path of [chat, "/v1/messages"]) await (await gateway.post(path, { ...claude, max_tokens: 1000 })).text()
    expect(await spentOf(gateway)).toBe((2 * (3 * 1000 + 15 * 40)) / 1e6)
  })

  it("budget: an abandoned call costs its reservation, and a refused call costs nothing", async () => {
    const gateway = gatewayFor(cents(1), () => Effect.fail(new TransportFault({ kind: "total_timeout" })))
    const answer = await gateway.post(chat, { ...hello, max_tokens: 1000 }, { "x-gateway-request-timeout": "600000" })
    await answer.text()
    expect([answer.status, await spentOf(gateway)]).toEqual([504, 0.002502])
    const refusing = gatewayFor(
      cents(1),
      () => Effect.fail(new TransportFault({ kind: "refused" })),
      {},
      { limits: { retries: 2, retryBaseMillis: 0 } }
    )
    await (await refusing.post(chat, { ...hello, max_tokens: 1000 })).text()
    expect(await spentOf(refusing)).toBe(0)
  })
})

it("budget: an expensive call that times out before a cheap one answers costs its reservation", async () => {
  const gateway = gatewayFor(cents(1), ({ url }) =>
    url.includes("gemini-2.5-pro")
      ? Effect.fail(new TransportFault({ kind: "total_timeout" }))
      : gemini({ promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 })
  )
  const config = {
    strategy: { mode: "fallback" },
    targets: [
      { provider: "@google", request_timeout: 600_000, override_params: { model: "gemini-2.5-pro" } },
      { provider: "@google" }
    ]
  }
  const answer = await gateway.post(
    chat,
    { ...hello, max_tokens: 1000 },
    { "x-gateway-config": JSON.stringify(config) }
  )
  await answer.text()
  // 5 tokens at 1.25 dollars a million, and 1,000 at 10.
  expect([answer.status, gateway.seen.length, await spentOf(gateway)]).toEqual([200, 2, 0.010006])
})

it("budget: several images of which one fails cost the reservation", async () => {
  let calls = 0
  const gateway = gatewayFor(cents(1), () =>
    ++calls === 1
      ? gemini({ promptTokenCount: 2, candidatesTokenCount: 1290, totalTokenCount: 1292 }, [
          { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }
        ])
      : { status: 400, chunks: [JSON.stringify({ error: { code: 400, message: "no", status: "INVALID_ARGUMENT" } })] }
  )
  const answer = await gateway.post("/v1/images/generations", {
    model: "@google/gemini-2.5-flash-image",
    prompt: "A cat",
    n: 2
  })
  await answer.text()
  expect([answer.status, await spentOf(gateway)]).toEqual([400, 0.077401])
})

describe("concurrent requests and the budget", () => {
  it("budget: of 50 concurrent requests one passes where the budget covers one", async () => {
    const gateway = gatewayFor(cents(0.003), () =>
      gemini({ promptTokenCount: 1, candidatesTokenCount: 1000, totalTokenCount: 1001 })
    )
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => outcome(gateway.post(chat, { ...hello, max_tokens: 1000 })))
    )
    expect([
      outcomes.filter(([status]) => status === 200).length,
      outcomes.filter(([, code]) => code === "insufficient_quota").length
    ]).toEqual([1, 49])
    expect(gateway.seen.length).toBe(1)
  })
})
