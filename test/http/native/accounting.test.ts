// What native requests count, cost and leave in records: rows, limits, budgets, answers from the cache, and no key in any text.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type AccountedGateway, accountedGateway } from "../../support/accounted.ts"
import { until } from "../../support/eventually.ts"
import { gatewaysOver, replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-01-31T12:00:00Z") })
})
afterEach(() => {
  vi.useRealTimers()
})

const over = gatewaysOver()
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
const counted = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
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
const event = `data: ${JSON.stringify(counted)}\r\n\r\n`
const array = `[${JSON.stringify(counted)}]`

type Ask = readonly [path: string, body: unknown, reply: string]
const google = "/v1beta/models/gemini-2.5-flash"
const claudeAt = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-6"
const messages = { max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }
const asks: Readonly<Record<string, Ask>> = {
  unary: [`${google}:generateContent?key=${gatewayKey}`, { contents }, JSON.stringify(counted)],
  sse: [`${google}:streamGenerateContent?alt=sse&key=${gatewayKey}`, { contents }, event],
  array: [`${google}:streamGenerateContent`, { contents }, array],
  count: [`${google}:countTokens`, { contents }, '{"totalTokens":5}'],
  raw: [`${claudeAt}:rawPredict`, messages, JSON.stringify(claude)],
  predict: [
    "/v1/publishers/google/models/imagen-4.0-generate-001:predict",
    { instances: [{ prompt: "A cat" }], parameters: { sampleCount: 2 } },
    '{"predictions":[{"bytesBase64Encoded":"AA=="},{"raiFilteredReason":"x"}]}'
  ],
  refused: [`/v1beta/files?key=${gatewayKey}`, {}, ""]
}

const ask = async (gateway: AccountedGateway, [path, body]: Ask): Promise<void> => {
  const answer = await gateway.send(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-request-id": "request-1",
      ...(path.includes("key=") ? {} : { "x-goog-api-key": gatewayKey })
    },
    body: JSON.stringify(body)
  })
  await answer.text()
}

const served = '"target":0,"attempts":1'
const endedFlash =
  '"target":0,"model_warning":"shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite","attempts":1'
const endedImagen = '"target":0,"model_warning":"shut_down; successor=gemini-3.1-flash-image","attempts":1'
const chatUsage = '"input_tokens":1000,"output_tokens":100,"cost_usd":0.000496,"key_id":"test"}'
const lines: Readonly<Record<string, string>> = {
  unary: `"route":"/v1beta/models/:model:generateContent","status":200,"provider":"google","model":"gemini-2.5-flash",${endedFlash},"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,${chatUsage}`,
  sse: `"route":"/v1beta/models/:model:generateContent","status":200,"provider":"google","model":"gemini-2.5-flash",${endedFlash},"stream":true,"cache":"DISABLED","duration_ms":4,"ttft_ms":3,"overhead_ms":2,${chatUsage}`,
  array: `"route":"/v1beta/models/:model:generateContent","status":200,"provider":"google","model":"gemini-2.5-flash",${endedFlash},"stream":true,"cache":"DISABLED","duration_ms":5,"ttft_ms":3,"overhead_ms":2,${chatUsage}`,
  count: `"route":"/v1beta/models/:model:countTokens","status":200,"provider":"google","model":"gemini-2.5-flash",${endedFlash},"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"key_id":"test"}`,
  raw: `"route":"/v1/publishers/anthropic/models/:model:rawPredict","status":200,"provider":"vertex-ai","model":"claude-sonnet-4-6",${served},"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":100,"output_tokens":20,"cost_usd":0.000357,"key_id":"test"}`,
  predict: `"route":"/v1beta/models/:model:predict","status":200,"provider":"vertex-ai","model":"imagen-4.0-generate-001",${endedImagen},"stream":false,"cache":"DISABLED","duration_ms":3,"overhead_ms":2,"input_tokens":0,"output_tokens":0,"cost_usd":0.04,"key_id":"test"}`,
  refused: `"route":"/v1beta/*","status":400,"attempts":0,"stream":false,"duration_ms":1,"overhead_ms":1,"key_id":"test","error_code":"unsupported_operation","error_message":"files is not offered by this gateway: send the data as inlineData up to the body limit, name a gs:// object on Vertex AI, or upload with a key of your own at Google and call with that key.","error_param":"model"}`
}

describe("native requests: records", () => {
  it.each(Object.entries(asks))(
    "native %s: is logged with its usage and cost, and without a key (N204, N407, N408)",
    async (name, one) => {
      const gateway = accountedGateway(() => ({ status: 200, chunks: [one[2]] }))
      await ask(gateway, one)
      const written = await gateway.lines()
      expect(written.map((line) => line.slice(line.indexOf('"route"')))).toStrictEqual([lines[name]])
      expect(written.join("").includes(gatewayKey)).toBe(false)
    }
  )
})

describe("native requests: metrics", () => {
  it.each([
    ["unary", 'gen_ai_operation_name="generate_content",gen_ai_provider_name="gcp.gemini"'],
    ["count", 'gen_ai_operation_name="count_tokens",gen_ai_provider_name="gcp.gemini"'],
    ["raw", 'gen_ai_operation_name="chat",gen_ai_provider_name="gcp.vertex_ai"'],
    ["predict", 'gen_ai_operation_name="image_generation",gen_ai_provider_name="gcp.vertex_ai"']
  ])("native %s: is counted under its operation as native (N606)", async (name, labels) => {
    const one = asks[name] ?? ["", {}, ""]
    const gateway = accountedGateway(() => ({ status: 200, chunks: [one[2]] }))
    await ask(gateway, one)
    const counted = async () =>
      (await gateway.metrics()).filter((line) => line.startsWith("gen_ai_server_request_duration_seconds_count"))
    // The public price list is read in the background.
    await until(async () => (await counted()).length > 0)
    const model = /models\/([^:]*)/.exec(one[0])?.[1]
    expect(await counted()).toStrictEqual([
      `gen_ai_server_request_duration_seconds_count{${labels},gen_ai_request_model="${model}",dialect="native"} 1`
    ])
    await gateway.dispose()
  })
})

/** The time by which limits are measured stands still. */
const still = Layer.succeed(
  Clock.Clock,
  Object.assign(Object.create(Context.get(Context.empty(), Clock.Clock)), { monotonicTimeNanosUnsafe: () => 0n })
)
const limited = (more: object) =>
  over(() => replying(counted), {
    references: still,
    settings: {
      prices: { "gemini-2.5-flash": { output: 500 } },
      keys: [{ name: "ci", key: Redacted.make(gatewayKey), ...more }]
    }
  })
const generate = `${google}:generateContent`
const info = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "model-gateway",
  metadata: { requestId: "request-1" }
})
const retry = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })

describe("native requests: limits", () => {
  it("native budget: a spent one names a day's quota, so that Google's clients stop (N604, N1001)", async () => {
    const gateway = limited({ budget: { usd: 0.03, per: "day" } })
    const body = { contents, generationConfig: { maxOutputTokens: 10 } }
    const first = await gateway.post(generate, body)
    const second = await gateway.post(generate, body)
    const message =
      "This request may cost 0.005 US dollars, and 0 are left of the gateway key's budget of 0.03 a day. Lower max_tokens, or let an operator raise budget.usd of the key; the next day begins 2027-02-01T00:00:00.000Z."
    const quota = {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [
        { quotaId: "GatewayBudgetPerDay", description: "The budget of the gateway key does not cover the request." }
      ]
    }
    expect([first.status, second.status, await second.json()]).toStrictEqual([
      200,
      429,
      {
        error: {
          code: 429,
          message,
          status: "RESOURCE_EXHAUSTED",
          details: [info("INSUFFICIENT_QUOTA"), quota, retry("43200s")]
        }
      }
    ])
  })
  it("native rate limit: the delay is in the details and in the header (N604, N1001)", async () => {
    const gateway = limited({ rate_limit: { requests_per_minute: 1 } })
    const first = await gateway.post(generate, { contents })
    const second = await gateway.post(generate, { contents })
    expect([first.status, second.status, second.headers.get("retry-after"), await second.json()]).toStrictEqual([
      200,
      429,
      "60",
      {
        error: {
          code: 429,
          message: "The gateway key has reached its limit of 1 requests a minute; try again in 60 s.",
          status: "RESOURCE_EXHAUSTED",
          details: [info("RATE_LIMIT_EXCEEDED"), retry("60s")]
        }
      }
    ])
  })
})

describe("native requests: answers from the cache", () => {
  it("native cache: keeps the bytes of a body, verb and framing (N410)", async () => {
    const bodies = [event, array, JSON.stringify(counted)]
    let calls = 0
    const gateway = over(() => ({ status: 200, chunks: [bodies[calls++] ?? ""] }))
    const cache = { "x-gateway-cache": "60" }
    const paths = [`${google}:streamGenerateContent?alt=sse`, `${google}:streamGenerateContent`, generate]
    const found: Array<unknown> = []
    for (const path of [...paths, ...paths]) {
      const answer = await gateway.post(path, { contents }, cache)
      found.push([answer.headers.get("x-gateway-cache-status"), await answer.text()])
    }
    expect(found).toStrictEqual([...bodies.map((body) => ["MISS", body]), ...bodies.map((body) => ["HIT", body])])
  })
})
