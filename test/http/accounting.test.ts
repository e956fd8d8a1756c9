// Tests the accounting of ended requests: the exact log line, metric and request record for each kind of request.
// Must not depend on the units of accounting: requests go through the whole service.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import * as Layer from "effect/Layer"
import { MetricsAccess } from "../../src/http/routes/StatusHandlers.ts"
import { metrics, type MetricSpec, prometheusName } from "../../src/telemetry/metrics.ts"
import { type AccountedGateway, accountedGateway, adminKey } from "../support/accounted.ts"
import { until } from "../support/eventually.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { parseMetrics } from "../support/prometheus.ts"
import { replying } from "../support/scripted.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-01-31T12:00:00Z") })
})
afterEach(() => {
  vi.useRealTimers()
})

const frames = (...events: ReadonlyArray<unknown>) => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
const named = (...events: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }>) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

const text = (words: string, finishReason?: string) => ({
  content: { role: "model", parts: [{ text: words }] },
  ...(finishReason === undefined ? {} : { finishReason })
})
const gemini = {
  candidates: [text("Hi", "STOP")],
  usageMetadata: {
    promptTokenCount: 1000,
    candidatesTokenCount: 60,
    thoughtsTokenCount: 40,
    totalTokenCount: 1100,
    cachedContentTokenCount: 200
  }
}
const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 20 }
}
const messages = [{ role: "user", content: "Hello" }]

/** The lines of a request after its fixed beginning. */
const facts = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) =>
    line
      .replace('"request_id":"request-1","trace_id":"01a1feb1fd447fb5884aaa19e8c22cad",', "")
      .replace(/^\{"ts":"2027-01-31T12:00:00\.\d{3}Z",/, "{")
  )

const accountedFor = async (gateway: AccountedGateway): Promise<number> =>
  (await gateway.metrics()).reduce(
    (sum, line) => sum + Number(/^http_server_request_duration_seconds_count\S* (\d+)$/.exec(line)?.[1] ?? 0),
    0
  )

/** Reads an answer to its end, and waits until its request is accounted for: the first one waits for the price list. */
const settled = async (gateway: AccountedGateway, send: () => Promise<Response>): Promise<Response> => {
  const before = await accountedFor(gateway)
  const response = await send()
  await response.text()
  await until(async () => (await accountedFor(gateway)) !== before)
  return response
}

const once = async (
  script: Parameters<typeof accountedGateway>[0],
  path: string,
  body: unknown,
  headers?: Record<string, string>
) => {
  const gateway = accountedGateway(script)
  const { status } = await settled(gateway, () => gateway.post(path, body, headers))
  return { status, lines: facts(await gateway.lines()) }
}

describe("log lines of successful requests", () => {
  it("accounting: a chat leaves one request line", async () => {
    const { lines } = await once(() => replying(gemini), "/v1/chat/completions", {
      model: "@google/gemini-2.5-flash",
      messages
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/chat/completions","status":200,"provider":"google","model":"gemini-2.5-flash","target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",' +
        '"attempts":1,"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":1000,"output_tokens":100,' +
        '"cost_usd":0.000496,"key_id":"test"}'
    ])
  })

  it("accounting: a streamed chat leaves one request line", async () => {
    const { candidates: _candidates, ...counts } = gemini
    const chunks = frames(
      { candidates: [text("Hi")] },
      { candidates: [text(" there")] },
      { candidates: [text("!", "STOP")], ...counts }
    )
    const { lines } = await once(() => ({ status: 200, chunks }), "/v1/chat/completions", {
      model: "@google/gemini-2.5-flash",
      stream: true,
      messages
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/chat/completions","status":200,"provider":"google","model":"gemini-2.5-flash","target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",' +
        '"attempts":1,"stream":true,"cache":"DISABLED","duration_ms":7,"ttft_ms":3,"overhead_ms":2,"input_tokens":1000,"output_tokens":100,' +
        '"cost_usd":0.000496,"key_id":"test"}'
    ])
  })

  it("accounting: a message leaves one request line", async () => {
    const { lines } = await once(() => replying(claude), "/v1/messages", {
      model: "@vertex-ai/claude-sonnet-4-6",
      max_tokens: 9,
      messages
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/messages","status":200,"provider":"vertex-ai","model":"claude-sonnet-4-6","target":0,' +
        '"attempts":1,"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":100,"output_tokens":20,' +
        '"cost_usd":0.000357,"key_id":"test"}'
    ])
  })

  it("accounting: a streamed message leaves one request line", async () => {
    const { usage, ...message } = claude
    const chunks = named(
      { type: "message_start", message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } },
      { type: "message_stop" }
    )
    const { lines } = await once(() => ({ status: 200, chunks: [chunks.join("")] }), "/v1/messages", {
      model: "@vertex-ai/claude-sonnet-4-6",
      max_tokens: 9,
      stream: true,
      messages
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/messages","status":200,"provider":"vertex-ai","model":"claude-sonnet-4-6","target":0,' +
        '"attempts":1,"stream":true,"cache":"DISABLED","duration_ms":4,"ttft_ms":3,"overhead_ms":2,"input_tokens":100,"output_tokens":20,' +
        '"cost_usd":0.000357,"key_id":"test"}'
    ])
  })

  it("accounting: an answer from the cache costs nothing after a call that failed (W10)", async () => {
    const gateway = accountedGateway(({ url }) =>
      url.includes("pro") ? { status: 503, chunks: ["{}"] } : replying(gemini)
    )
    const target = (model: string) => ({ provider: "google", override_params: { model } })
    const config = JSON.stringify({
      strategy: { mode: "fallback" },
      retry: { attempts: 0 },
      cache: { mode: "simple" },
      targets: [target("gemini-2.5-pro"), target("gemini-2.5-flash")]
    })
    for (const _round of [1, 2])
      await settled(gateway, () =>
        gateway.post("/v1/chat/completions", { model: "gemini-2.5-pro", messages }, { "x-gateway-config": config })
      )
    const rows = (await gateway.lines()).map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request")
    expect(rows.map(({ attempts, cache, cost_usd, saved_usd }) => [attempts, cache, cost_usd, saved_usd])).toEqual([
      [2, "MISS", 0.000496, undefined],
      [1, "HIT", undefined, 0.000496]
    ])
  })

  it("accounting: an answer from the cache makes no upstream call and costs nothing", async () => {
    const { candidates: _candidates, ...counts } = gemini
    const chunks = frames({ candidates: [text("Hi", "STOP")], ...counts })
    for (const stream of [false, true]) {
      const gateway = accountedGateway(() => (stream ? { status: 200, chunks } : replying(gemini)))
      const ask = () =>
        gateway.post(
          "/v1/chat/completions",
          { model: "@google/gemini-2.5-flash", stream, messages },
          { "x-gateway-cache": "60" }
        )
      for (const _round of [1, 2]) await settled(gateway, ask)
      const [made, given] = (await gateway.lines()).map((line) => JSON.parse(line))
      expect(
        [made, given].map((line) => [
          line.attempts,
          line.cache,
          line.cost_usd,
          line.input_tokens,
          line.output_tokens,
          line.saved_usd,
          line.saved_input_tokens,
          line.saved_output_tokens
        ])
      ).toEqual([
        [1, "MISS", 0.000496, 1000, 100, undefined, undefined, undefined],
        [0, "HIT", undefined, 0, 0, 0.000496, 1000, 100]
      ])
    }
  })

  it("accounting: embeddings leave one request line", async () => {
    const predictions = ["a", "b"].map(() => ({
      embeddings: { values: [0.5], statistics: { token_count: 500_000, truncated: false } }
    }))
    const { lines } = await once(() => replying({ predictions }), "/v1/embeddings", {
      model: "@vertex-ai/text-embedding-005",
      input: ["a", "b"]
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/embeddings","status":200,"provider":"vertex-ai","model":"text-embedding-005","target":0,' +
        '"attempts":1,"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":1000000,"output_tokens":0,"cost_usd":0.1,"key_id":"test"}'
    ])
  })

  it("accounting: images are paid per image", async () => {
    const picture = { mimeType: "image/png", bytesBase64Encoded: "AAAA" }
    const { lines } = await once(() => replying({ predictions: [picture, picture] }), "/v1/images/generations", {
      model: "@vertex-ai/imagen-3.0-generate-001",
      n: 2,
      prompt: "A cat"
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/images/generations","status":200,"provider":"vertex-ai","model":"imagen-3.0-generate-001","target":0,"model_warning":"deprecated; successor=gemini-3.1-flash-image",' +
        '"attempts":1,"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":0,"output_tokens":0,"cost_usd":0.08,"key_id":"test"}'
    ])
  })

  it("accounting: a token count costs nothing and uses no tokens", async () => {
    const { lines } = await once(() => replying({ totalTokens: 5 }), "/v1/chat/completions/count_tokens", {
      model: "@google/gemini-2.5-flash",
      messages
    })
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/chat/completions/count_tokens","status":200,"provider":"google","model":"gemini-2.5-flash","target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",' +
        '"attempts":1,"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"key_id":"test"}'
    ])
  })

  it("accounting: a dry run makes no upstream call", async () => {
    const { lines } = await once(
      () => replying(gemini),
      "/v1/chat/completions",
      { model: "@google/gemini-2.5-flash", messages },
      { "x-gateway-dry-run": "true" }
    )
    expect(lines).toEqual([
      '{"level":"info","msg":"request","route":"/v1/chat/completions","status":200,"attempts":0,"stream":false,"duration_ms":1,"overhead_ms":1,"key_id":"test"}'
    ])
  })
})

describe("log lines of failed requests", () => {
  it("accounting: an upstream failure leaves one line for the call and one for the request", async () => {
    const { lines, status } = await once(
      () => ({
        status: 429,
        chunks: [JSON.stringify({ error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } })]
      }),
      "/v1/chat/completions",
      { model: "@google/gemini-2.5-flash", messages }
    )
    expect(status).toBe(429)
    expect(lines).toEqual([
      '{"level":"warn","msg":"attempt","provider":"google","model":"gemini-2.5-flash","target":0,"attempt":1,"upstream_status":429,"duration_ms":1,"error_code":"rate_limit_exceeded","error_message":"Slow down."}',
      '{"level":"warn","msg":"request","route":"/v1/chat/completions","status":429,"provider":"google","model":"gemini-2.5-flash","target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",' +
        '"attempts":1,"stream":false,"duration_ms":3,"overhead_ms":2,"key_id":"test","error_code":"rate_limit_exceeded","error_message":"Slow down."}'
    ])
  })

  it("accounting: retries and a fallback leave a line per failure, the answering target, and the reasons", async () => {
    let calls = 0
    const overloaded = { status: 503, chunks: ['{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}'] }
    const gateway = accountedGateway(() => (++calls < 3 ? overloaded : replying(gemini)), {
      limits: { retryBaseMillis: 0, retryCapMillis: 0 }
    })
    const config = {
      strategy: { mode: "fallback" },
      retry: { attempts: 1 },
      targets: [{ provider: "@google" }, { provider: "@vertex-ai", override_params: { model: "gemini-2.5-pro" } }]
    }
    await settled(gateway, () =>
      gateway.post(
        "/v1/chat/completions",
        { model: "gemini-2.5-flash", messages },
        { "x-gateway-config": JSON.stringify(config) }
      )
    )
    const counted = (await gateway.metrics()).filter((line) =>
      /^gateway_(retries|fallbacks|upstream_attempts|requests)_total/.test(line)
    )
    const lines = facts(await gateway.lines())
    const attempt = (n: number) =>
      `{"level":"warn","msg":"attempt","provider":"google","model":"gemini-2.5-flash","target":0,"attempt":${n},"upstream_status":503,"duration_ms":1,"error_code":"upstream_unavailable","error_message":"m"}`
    expect(lines).toEqual([
      attempt(1),
      attempt(2),
      '{"level":"info","msg":"request","route":"/v1/chat/completions","status":200,"provider":"vertex-ai","model":"gemini-2.5-pro","target":1,"model_warning":"deprecated; shutdown=2027-03-31; successor=gemini-3.8-flash",' +
        '"attempts":3,"stream":false,"cache":"DISABLED","duration_ms":7,"overhead_ms":2,"input_tokens":1000,"output_tokens":100,"cost_usd":0.002025,"key_id":"test"}'
    ])
    expect(counted).toEqual([
      'gateway_requests_total{route="/v1/chat/completions",provider="vertex-ai",model="gemini-2.5-pro",status_class="2xx"} 1',
      'gateway_upstream_attempts_total{provider="google",outcome="upstream_unavailable"} 2',
      'gateway_upstream_attempts_total{provider="vertex-ai",outcome="ok"} 1',
      'gateway_retries_total{provider="google",reason="upstream_unavailable"} 1',
      'gateway_fallbacks_total{provider="vertex-ai",reason="upstream_unavailable"} 1'
    ])
  })

  it("accounting: a failure after the first byte keeps its status, has its code, and pays its counts so far", async () => {
    const chunks = frames(
      {
        candidates: [text("Hi")],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 10, totalTokenCount: 1010 }
      },
      { error: { code: 500, message: "Internal failure.", status: "INTERNAL" } }
    )
    const { lines, status } = await once(() => ({ status: 200, chunks }), "/v1/chat/completions", {
      model: "@google/gemini-2.5-flash",
      stream: true,
      messages
    })
    expect(status).toBe(200)
    expect(lines).toEqual([
      '{"level":"warn","msg":"request","route":"/v1/chat/completions","status":200,"provider":"google","model":"gemini-2.5-flash","target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",' +
        '"attempts":1,"stream":true,"cache":"DISABLED","duration_ms":4,"ttft_ms":3,"overhead_ms":2,"input_tokens":1000,"output_tokens":10,' +
        '"usage_estimated":true,"cost_usd":0.000325,"key_id":"test","error_code":"upstream_error","error_message":"Internal failure."}'
    ])
  })

  it.each([
    [
      "without a key",
      "/v1/chat/completions",
      { "x-gateway-api-key": "" },
      401,
      '{"level":"warn","msg":"request","route":"/v1/chat/completions","status":401,"attempts":0,"stream":false,"duration_ms":1,"overhead_ms":1,"error_code":"missing_gateway_key","error_message":"No gateway key: send it as x-gateway-api-key, or as the API key of your SDK."}'
    ],
    [
      "on no route",
      "/v1/nowhere?secret=1",
      {},
      404,
      '{"level":"warn","msg":"request","route":"unmatched","status":404,"attempts":0,"stream":false,"duration_ms":1,"overhead_ms":1,"error_code":"unknown_url","error_message":"There is no such URL here: served are /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, /v1/models and Google\'s own paths below /v1beta, /v1/projects and /v1/publishers."}'
    ],
    [
      "for an unknown slug",
      "/v1/chat/completions",
      { "x-gateway-provider": "nobody" },
      404,
      '{"level":"warn","msg":"request","route":"/v1/chat/completions","status":404,"attempts":0,"stream":false,"duration_ms":1,"overhead_ms":1,"key_id":"test","error_code":"provider_not_found","error_message":"There is no provider \\"nobody\\"; known here: google, vertex-ai.","error_param":"x-gateway-provider"}'
    ]
  ])("accounting: a refused request leaves one line: %s", async (_, path, headers, wanted, line) => {
    const { lines, status } = await once(() => replying(gemini), path, { model: "secret-model", messages }, headers)
    expect([status, lines]).toEqual([wanted, [line]])
  })

  it("accounting: a trace id with a quote cannot end its string in the line (TH31)", async () => {
    const gateway = accountedGateway(() => replying(gemini))
    await settled(gateway, () =>
      gateway.post(
        "/v1/chat/completions",
        { model: "@google/gemini-2.5-flash", messages },
        { "x-gateway-trace-id": 'a","b":"\\' }
      )
    )
    const [line = ""] = await gateway.lines()
    expect(JSON.parse(line)).toMatchObject({ trace_id: 'a","b":"\\' })
  })

  it("accounting: lines below the least level are not written", async () => {
    const gateway = accountedGateway(() => ({ status: 503, chunks: ["{}"] }), {
      settings: { log: { format: "json", level: "error" } }
    })
    await settled(gateway, () => gateway.post("/v1/nowhere", {}))
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages }))
    expect((await gateway.lines()).map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "request", status: 503, level: "error" })
    ])
  })
})

describe("model names in accounting", () => {
  const message = replying({
    type: "message",
    id: "m",
    model: "claude-sonnet-4-20250514",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 20 }
  })
  const labels = (lines: ReadonlyArray<string>) => [
    ...new Set(lines.flatMap((line) => [...(/(?:\bmodel|gen_ai_request_model)="([^"]+)"/g.exec(line)?.slice(1) ?? [])]))
  ]

  const loggedModels = async (gateway: AccountedGateway) =>
    (await gateway.lines()).map((line): unknown => JSON.parse(line).model).filter((model) => model !== undefined)

  it("accounting: every spelling of a model appears as its id in sums, metrics, list and log", async () => {
    const gateway = accountedGateway(() => message)
    const spellings = [
      "anthropic.claude-sonnet-4@20250514",
      "claude-sonnet-4@20250514",
      "claude-sonnet-4-20250514",
      "publishers/anthropic/models/claude-sonnet-4@20250514"
    ]
    for (const name of spellings) {
      await settled(gateway, () =>
        gateway.post("/v1/messages", { model: `@vertex-ai/${name}`, max_tokens: 10, messages })
      )
    }
    const id = "claude-sonnet-4@20250514"
    expect(await gateway.admin("/admin/v1/usage?group_by=model")).toMatchObject({
      data: [{ model: id, requests: 4, input_tokens: 40, output_tokens: 80, cost_usd: 0.00132 }]
    })
    const rows: unknown = await gateway.admin(`/admin/v1/requests?model=${id}`)
    expect(rows).toMatchObject({ data: spellings.map(() => ({ model: id, attempts: [{ model: id }] })) })
    // The admin routes reach no provider.
    expect(labels(await gateway.metrics())).toEqual([id, "none"])
    expect(await loggedModels(gateway)).toEqual(spellings.map(() => id))
  })

  it("accounting: an unknown model is other in sums and metrics, and has its id in list and log (TH32)", async () => {
    const gateway = accountedGateway(() => replying(gemini))
    for (const name of ["gemini-2.5-flash-zz1", "gemini-2.5-flash-zz2"])
      await settled(gateway, () => gateway.post("/v1/chat/completions", { model: `@google/${name}`, messages }))
    expect(await gateway.admin("/admin/v1/usage?group_by=model")).toMatchObject({
      data: [{ model: "other", requests: 2 }]
    })
    expect(labels(await gateway.metrics())).toEqual(["other", "none"])
    expect(await loggedModels(gateway)).toEqual(["gemini-2.5-flash-zz1", "gemini-2.5-flash-zz2"])
  })

  it("accounting: a circuit is labelled with the model's id", async () => {
    const gateway = accountedGateway(() => ({ status: 503, chunks: ["{}"] }))
    const config = { provider: "@vertex-ai", cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } }
    const body = { model: "anthropic.claude-sonnet-4@20250514", max_tokens: 10, messages }
    await settled(gateway, () => gateway.post("/v1/messages", body, { "x-gateway-config": JSON.stringify(config) }))
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_circuit_state{"))).toEqual([
      'gateway_circuit_state{target="vertex-ai/claude-sonnet-4@20250514"} 2'
    ])
    await gateway.dispose()
  })
})

it("accounting: a stream cut before any count is listed and logged with the usage that passed, as an estimate (W10)", async () => {
  const chunks = frames({ candidates: [text("x".repeat(400))], usageMetadata: { trafficType: "ON_DEMAND" } })
  const gateway = accountedGateway(() => ({ status: 200, chunks, fault: "reset" }))
  await settled(gateway, () =>
    gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", stream: true, messages })
  )
  expect(await gateway.admin("/admin/v1/requests")).toMatchObject({
    data: [{ usage: { input_tokens: 0, output_tokens: 100 }, usage_estimated: true, cost_usd: 0.00025 }]
  })
  expect(
    (await gateway.lines()).filter((line) => line.includes('"output_tokens":100,"usage_estimated":true'))
  ).toHaveLength(1)
})

it("accounting: a whole stream has no estimate (W10)", async () => {
  const gateway = accountedGateway(() => ({ status: 200, chunks: frames(gemini) }))
  await settled(gateway, () =>
    gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", stream: true, messages })
  )
  expect((await gateway.lines()).filter((line) => line.includes("usage_estimated"))).toEqual([])
})

describe("targets that an open circuit skips", () => {
  const busy = { status: 503, chunks: ["{}"] }
  const down = ({ url }: { readonly url: string }) => (url.includes("generativelanguage") ? busy : replying(gemini))
  const once = { cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } }
  const [google, vertex] = [{ provider: "@google", retry: { attempts: 0 } }, { provider: "@vertex-ai" }]
  const ask = async (gateway: AccountedGateway, config: object, stream = false) => {
    const answer = await gateway.post(
      "/v1/chat/completions",
      { model: "gemini-2.5-flash", messages, stream },
      { "x-portkey-config": JSON.stringify(config) }
    )
    await answer.text()
    return ["x-gateway-skipped-targets", "x-portkey-skipped-targets", "x-gateway-last-used-option-index"].map((name) =>
      answer.headers.get(name)
    )
  }

  it("circuits: skipped targets are in the header, the log and the list of requests (F19)", async () => {
    const gateway = accountedGateway(down)
    const both = { strategy: { mode: "fallback", ...once }, targets: [google, vertex] }
    expect(await ask(gateway, both)).toEqual([null, null, "1"])
    expect(await ask(gateway, both)).toEqual(["0", "0", "1"])
    expect(await ask(gateway, both, true)).toEqual(["0", "0", "1"])
    expect(await gateway.admin("/admin/v1/requests")).toMatchObject({
      data: [{ skipped_targets: [0] }, { skipped_targets: [0] }, { target: 1 }]
    })
    expect((await gateway.lines()).filter((line) => line.includes('"attempts":1,"skipped_targets":[0],'))).toHaveLength(
      2
    )
  })

  it("circuits: a share without load, and the only target, are named as skipped too (F19)", async () => {
    const gateway = accountedGateway(down)
    const shared = { strategy: { mode: "loadbalance", ...once }, targets: [google, vertex] }
    const alone = { ...google, ...once }
    expect(await ask(gateway, alone)).toEqual([null, null, "0"])
    expect(await ask(gateway, alone)).toEqual(["0", "0", "0"])
    expect(await ask(gateway, shared)).toEqual(["0", "0", "1"])
    await gateway.dispose()
  })
})

/** Samples without buckets, as `name{labels} value`. */
const samples = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.filter((line) => !line.startsWith("#") && !line.includes("_bucket{"))

describe("metrics of requests", () => {
  it("metrics: key labels appear only where the operator asks for them", async () => {
    const gateway = accountedGateway(() => replying(gemini), { settings: { keyLabel: true } })
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages }))
    const lines = await gateway.metrics()
    await gateway.dispose()
    const chat =
      'gen_ai_operation_name="chat",gen_ai_provider_name="gcp.gemini",gen_ai_request_model="gemini-2.5-flash",key_id="test"'
    expect(samples(lines).filter((line) => line.includes("key_id"))).toEqual([
      'gateway_requests_total{route="/v1/chat/completions",provider="google",model="gemini-2.5-flash",key_id="test",status_class="2xx"} 1',
      `gen_ai_client_token_usage_sum{${chat},gen_ai_token_type="input"} 1000`,
      `gen_ai_client_token_usage_count{${chat},gen_ai_token_type="input"} 1`,
      `gen_ai_client_token_usage_sum{${chat},gen_ai_token_type="output"} 100`,
      `gen_ai_client_token_usage_count{${chat},gen_ai_token_type="output"} 1`,
      'gateway_cost_usd_total{provider="google",model="gemini-2.5-flash",key_id="test"} 0.000496'
    ])
  })

  it("metrics: one request moves exactly its own series", async () => {
    const gateway = accountedGateway(() => replying(gemini))
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages }))
    const lines = await gateway.metrics()
    await gateway.dispose()
    const chat =
      'gen_ai_operation_name="chat",gen_ai_provider_name="gcp.gemini",gen_ai_request_model="gemini-2.5-flash"'
    const http = 'http_request_method="POST",http_route="/v1/chat/completions",http_response_status_code="200"'
    expect(samples(lines).filter((line) => !/^gateway_(active_requests|log_queue_depth)/.test(line))).toEqual([
      "gateway_content_dropped_total 0",
      "gateway_log_dropped_total 0",
      `http_server_request_duration_seconds_sum{${http}} 0.003`,
      `http_server_request_duration_seconds_count{${http}} 1`,
      'gateway_requests_total{route="/v1/chat/completions",provider="google",model="gemini-2.5-flash",status_class="2xx"} 1',
      'gateway_overhead_seconds_sum{route="/v1/chat/completions",streamed="false"} 0.002',
      'gateway_overhead_seconds_count{route="/v1/chat/completions",streamed="false"} 1',
      'gateway_upstream_attempts_total{provider="google",outcome="ok"} 1',
      `gen_ai_client_operation_duration_seconds_sum{${chat}} 0.001`,
      `gen_ai_client_operation_duration_seconds_count{${chat}} 1`,
      `gen_ai_server_request_duration_seconds_sum{${chat}} 0.003`,
      `gen_ai_server_request_duration_seconds_count{${chat}} 1`,
      `gen_ai_client_token_usage_sum{${chat},gen_ai_token_type="input"} 1000`,
      `gen_ai_client_token_usage_count{${chat},gen_ai_token_type="input"} 1`,
      `gen_ai_client_token_usage_sum{${chat},gen_ai_token_type="output"} 100`,
      `gen_ai_client_token_usage_count{${chat},gen_ai_token_type="output"} 1`,
      'gateway_model_warnings_total{provider="google",model="gemini-2.5-flash",stage="shut_down"} 1',
      'gateway_cost_usd_total{provider="google",model="gemini-2.5-flash"} 0.000496'
    ])
    expect(lines.filter((line) => line.startsWith("gateway_overhead"))).toEqual([
      ...[
        "0.0001",
        "0.00025",
        "0.0005",
        "0.001",
        "0.0025",
        "0.005",
        "0.01",
        "0.025",
        "0.05",
        "0.1",
        "0.25",
        "0.5",
        "1",
        "+Inf"
      ].map(
        (le) =>
          `gateway_overhead_seconds_bucket{route="/v1/chat/completions",streamed="false",le="${le}"} ${["0.0001", "0.00025", "0.0005", "0.001"].includes(le) ? 0 : 1}`
      ),
      'gateway_overhead_seconds_sum{route="/v1/chat/completions",streamed="false"} 0.002',
      'gateway_overhead_seconds_count{route="/v1/chat/completions",streamed="false"} 1'
    ])
  })

  it("metrics: a stream records time to first token, to first chunk, between chunks and per token", async () => {
    const { candidates: _candidates, ...counts } = gemini
    const chunks = frames(
      { candidates: [text("Hi")] },
      { candidates: [text(" there")] },
      { candidates: [text("!", "STOP")], ...counts }
    )
    const gateway = accountedGateway(() => ({ status: 200, chunks }))
    await settled(gateway, () =>
      gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", stream: true, messages })
    )
    const families = parseMetrics(`${(await gateway.metrics()).join("\n")}\n`)
    await gateway.dispose()
    const totals = families.flatMap(({ name, samples: all }) =>
      /time_|streams|overhead/.test(name)
        ? all.filter((one) => !one.name.endsWith("_bucket")).map((one) => [one.name, one.value])
        : []
    )
    expect(totals).toEqual([
      ["gateway_active_streams", 0],
      ["gateway_overhead_seconds_sum", 0.002],
      ["gateway_overhead_seconds_count", 1],
      ["gen_ai_client_operation_time_to_first_chunk_seconds_sum", 0.001],
      ["gen_ai_client_operation_time_to_first_chunk_seconds_count", 1],
      ["gen_ai_server_time_to_first_token_seconds_sum", 0.003],
      ["gen_ai_server_time_to_first_token_seconds_count", 1],
      ["gen_ai_client_operation_time_per_output_chunk_seconds_sum", expect.closeTo(0.003, 9)],
      ["gen_ai_client_operation_time_per_output_chunk_seconds_count", 4],
      ["gen_ai_server_time_per_output_token_seconds_sum", expect.closeTo(0.004 / 99, 9)],
      ["gen_ai_server_time_per_output_token_seconds_count", 1]
    ])
  })

  it("metrics: failures are labelled by status class, outcome and error code, never by text from a client", async () => {
    const gateway = accountedGateway(() => ({
      status: 503,
      chunks: ['{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}']
    }))
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/made-up-1", messages }))
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/made-up-2", messages }))
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@made-up/x", messages }))
    await settled(gateway, () => gateway.post("/v1/made-up", {}))
    const lines = await gateway.metrics()
    await gateway.dispose()
    expect(lines.filter((line) => line.includes("made-up"))).toEqual([])
    expect(
      samples(lines).filter((line) =>
        /^gateway_(requests|upstream)|operation_duration_seconds_count|http_server_request_duration_seconds_count/.test(
          line
        )
      )
    ).toEqual([
      'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/v1/chat/completions",http_response_status_code="503"} 2',
      'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/v1/chat/completions",http_response_status_code="404"} 1',
      'http_server_request_duration_seconds_count{http_request_method="_OTHER",http_route="unmatched",http_response_status_code="404"} 1',
      'gateway_requests_total{route="/v1/chat/completions",provider="google",model="other",status_class="5xx"} 2',
      'gateway_requests_total{route="/v1/chat/completions",provider="none",model="none",status_class="4xx"} 1',
      'gateway_requests_total{route="unmatched",provider="none",model="none",status_class="4xx"} 1',
      'gateway_upstream_attempts_total{provider="google",outcome="upstream_unavailable"} 2',
      'gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="gcp.gemini",gen_ai_request_model="other",error_type="upstream_unavailable"} 2'
    ])
  })

  it("metrics: every series has a listed name and listed labels", async () => {
    const gateway = accountedGateway(({ url }) =>
      url.includes("stream") ? { status: 200, chunks: frames(gemini) } : replying(gemini)
    )
    await settled(gateway, () =>
      gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", stream: true, messages })
    )
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/x", messages: [] }))
    const listed = new Map(
      Object.values<MetricSpec>(metrics).map((spec) => [prometheusName(spec.name).replaceAll(".", "_"), spec.labels])
    )
    for (const { name, samples: all } of parseMetrics(`${(await gateway.metrics()).join("\n")}\n`)) {
      const labels = new Set(all.flatMap((one) => Object.keys(one.labels)).filter((label) => label !== "le"))
      expect([name, [...labels].filter((label) => listed.get(name)?.includes(label) !== true)]).toEqual([name, []])
    }
    await gateway.dispose()
  })

  it("metrics: the scrape names its format and needs a key only where the operator asks for one", async () => {
    const open = accountedGateway(() => replying(gemini))
    const answer = await open.send("/metrics")
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      "no-store"
    ])
    await open.dispose()
    const guarded = accountedGateway(() => replying(gemini), {
      references: Layer.succeed(MetricsAccess, "admin" as const)
    })
    const statusFor = async (key: string | undefined) =>
      (await guarded.send("/metrics", key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })).status
    expect([await statusFor(undefined), await statusFor(gatewayKey), await statusFor(adminKey)]).toEqual([
      401, 401, 200
    ])
    await guarded.dispose()
  })
})

it("accounting: no content and no credential is in a line, a metric or a list (TH21, P10)", async () => {
  const canary = (n: number) => `canary${n}zzz`
  const gateway = accountedGateway(({ url }) =>
    url.includes(":stream")
      ? {
          status: 200,
          chunks: frames(
            { candidates: [text(canary(20))] },
            { error: { code: 500, message: canary(21), status: "INTERNAL" } }
          )
        }
      : {
          status: 400,
          chunks: [JSON.stringify({ error: { code: 400, message: canary(22), status: "INVALID_ARGUMENT" } })]
        }
  )
  const headers = {
    authorization: `Bearer ${canary(1)}`,
    "x-goog-api-key": canary(2),
    "x-gateway-metadata": JSON.stringify({ [canary(3)]: canary(4), conversation_id: canary(5) }),
    "x-gateway-vertex-project-id": canary(6),
    "user-agent": canary(7),
    cookie: canary(8)
  }
  const body = {
    model: "@google/gemini-2.5-flash",
    messages: [{ role: "user", content: canary(9), name: canary(10) }],
    user: canary(11),
    stop: canary(12),
    [canary(13)]: canary(14),
    tools: [{ type: "function", function: { name: canary(15), parameters: {} } }]
  }
  for (const stream of [true, false]) {
    await settled(gateway, () => gateway.post(`/v1/chat/completions?${canary(16)}`, { ...body, stream }, headers))
    await settled(gateway, () =>
      gateway.post(`/v1/${canary(17)}`, { ...body, stream }, { ...headers, "x-gateway-api-key": canary(18) })
    )
  }
  const listed = JSON.stringify(await gateway.admin("/admin/v1/requests"))
  const said = JSON.stringify([await gateway.metrics(), await gateway.admin("/admin/v1/usage"), await gateway.lines()])
  const shown = [said, listed].map((text) => [
    [...new Set(text.match(/canary\d+/g))].toSorted(),
    text.includes(gatewayKey),
    text.includes(adminKey)
  ])
  // The error messages of an upstream (21 and 22) are shown, without credentials; the list names the program (7) too.
  expect(shown).toEqual([
    [["canary21", "canary22"], false, false],
    [["canary21", "canary22", "canary7"], false, false]
  ])
})

describe("accounting turned off", () => {
  it("accounting: accounting: false leaves no line, no series and no list", async () => {
    const gateway = accountedGateway(() => replying(gemini), { settings: { accounting: false } })
    const answer = await gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages })
    expect(answer.status).toBe(200)
    expect([await gateway.metrics(), await gateway.admin("/admin/v1/requests"), await gateway.lines()]).toEqual([
      [],
      { object: "list", data: [], next_cursor: null },
      []
    ])
  })

  it("accounting: log.format off writes no lines and keeps counting", async () => {
    const gateway = accountedGateway(() => replying(gemini), { settings: { log: { format: "off" } } })
    await settled(gateway, () => gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages }))
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_requests_total"))).toHaveLength(1)
    expect(await gateway.lines()).toEqual([])
  })
})
