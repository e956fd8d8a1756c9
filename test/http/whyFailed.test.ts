// Why a request failed: answer, log line, request detail and span have the same code, message and param.
// Must not depend on a particular store.
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { KeySetting } from "../../src/domain/settings/Settings.ts"
import { type SpanFacts, Tracing } from "../../src/telemetry/Tracing.ts"
import { accountedGateway, adminKey } from "../support/accounted.ts"
import { until } from "../support/eventually.ts"
import { replying } from "../support/scripted.ts"

const key = "mgk_why00000000000000000000000000000"
const setting = (more: Partial<KeySetting> = {}): KeySetting => ({
  name: "why",
  key: Redacted.make(key),
  ...more
})

const chat = (more: object = {}) => ({
  model: "@google/gemini-2.5-flash",
  messages: [{ role: "user", content: "Hello" }],
  ...more
})

const refused = {
  status: 400,
  chunks: [
    JSON.stringify({
      error: { code: 400, message: "Bad part of projects/secret-1 with AIzaSecret.", status: "INVALID_ARGUMENT" }
    })
  ]
}

/** A hundred tokens of output, which cost 5 cents. */
const answered = replying({
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 100, totalTokenCount: 101 }
})

interface Why {
  readonly code: unknown
  readonly message: unknown
  readonly param: unknown
}

/** Sends one request, and reads why it failed wherever that is shown. */
const whyOf = async (path: string, body: object, own: Partial<KeySetting> = {}) => {
  const spans: Array<SpanFacts> = []
  const gateway = accountedGateway(() => refused, {
    settings: {
      keys: [setting(own), { ...setting(), name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }],
      prices: { "gemini-2.5-flash": { output: 500 } }
    },
    references: Layer.succeed(Tracing, { content: false, record: (span) => void spans.push(span) })
  })
  const { error } = (await (await gateway.post(path, body, { "x-gateway-api-key": key })).json()) as {
    readonly error: { readonly code: string; readonly message: string; readonly param: string | null }
  }
  await until(() => spans.length > 0)
  const [span] = spans
  const list = (await gateway.admin("/admin/v1/requests")) as { readonly data: ReadonlyArray<Record<string, unknown>> }
  const detail = (await gateway.admin(`/admin/v1/requests/${String(list.data[0]?.["request_id"])}`)) as Record<
    string,
    unknown
  >
  const lines = (await gateway.lines()).map((line): Record<string, unknown> => JSON.parse(line))
  const row = ({ error_code, error_message, error_param }: Record<string, unknown>): Why => ({
    code: error_code,
    message: error_message,
    param: error_param
  })
  const ofSpan = ({ attributes }: SpanFacts): Why => ({
    code: attributes["error.type"],
    message: attributes["error.message"],
    param: attributes["gateway.error_param"]
  })
  const failed = lines.find(({ msg, route }) => msg === "request" && !String(route).startsWith("/admin"))
  return {
    answer: { code: error.code, message: error.message, param: error.param ?? undefined },
    shown: [row(failed ?? {}), row(detail), ...(span === undefined ? [] : [ofSpan(span)])],
    calls: (span?.below ?? []).flatMap(({ below = [] }) => below).map(ofSpan),
    attempts: lines.filter(({ msg }) => msg === "attempt").map(row)
  }
}

describe("why a request failed", () => {
  it.each<readonly [string, string, object, Partial<KeySetting>, Why]>([
    [
      "a model that the key may not use",
      "/v1/chat/completions",
      chat(),
      { models: ["gemini-3*"] },
      {
        code: "model_not_allowed",
        message: 'This key may not use the model "gemini-2.5-flash"; GET /v1/models lists what it may call.',
        param: "model"
      }
    ],
    [
      "a provider that the key may not use",
      "/v1/chat/completions",
      chat(),
      { providers: ["vertex-ai"] },
      { code: "model_not_allowed", message: 'This key may not use the provider "google".', param: "model" }
    ],
    [
      "a scope that the key lacks",
      "/v1/chat/completions",
      chat(),
      { scopes: ["admin"] },
      {
        code: "key_scope_missing",
        message: 'The gateway key lacks the scope "inference"; an operator gives it one under "scopes" of the key.',
        param: undefined
      }
    ],
    [
      "a request beyond a whole budget",
      "/v1/chat/completions",
      chat({ max_tokens: 100 }),
      { budget: { usd: 0.03, per: "day" } },
      {
        code: "insufficient_quota",
        message:
          "This request may cost 0.05 US dollars, and 0.03 are left of the gateway key's budget of 0.03 a day. Lower max_tokens, or let an operator raise budget.usd of the key.",
        param: undefined
      }
    ],
    [
      "a wrong parameter",
      "/v1/chat/completions",
      chat({ temperature: "hot" }),
      {},
      { code: "invalid_type", message: "temperature has the wrong type: expected number.", param: "temperature" }
    ],
    [
      "an unknown URL",
      "/v1/completions",
      {},
      {},
      { code: "unknown_url", message: "There is no such URL here: use /v1/chat/completions.", param: undefined }
    ]
  ])(
    "failed requests: %s has one code, message and param in answer, log, list and span",
    async (...[, path, body, own, why]) => {
      const { answer, shown } = await whyOf(path, body, own)
      expect([answer, shown]).toEqual([why, [why, why, why]])
    }
  )

  it("failed requests: a refusal of the upstream is scrubbed, and its call has the same code and message", async () => {
    const why = {
      code: "upstream_invalid_argument",
      message: "Bad part of projects/[redacted] with [redacted].",
      param: undefined
    }
    expect(await whyOf("/v1/chat/completions", chat())).toEqual({
      answer: why,
      shown: [why, why, why],
      calls: [why],
      attempts: [why]
    })
  })

  it("failed requests: a budget refusal names a time only where a whole budget covers the request", async () => {
    const refusal = async (micros: number) => {
      const gateway = accountedGateway(() => answered, {
        settings: {
          keys: [setting({ budget: { usd: micros / 1e6, per: "day" } })],
          prices: { "gemini-2.5-flash": { output: 500 } }
        }
      })
      const send = () => gateway.post("/v1/chat/completions", chat({ max_tokens: 100 }), { "x-gateway-api-key": key })
      let answer = await send()
      if (answer.status === 200) answer = await send()
      await gateway.dispose()
      const { headers, status } = answer
      return [status, headers.has("retry-after"), headers.get("x-should-retry")]
    }
    expect([await refusal(30_000), await refusal(60_000)]).toEqual([
      [402, false, "false"],
      [402, true, "false"]
    ])
  })
})
