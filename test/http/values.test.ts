// Tests the JSON values of a request, through the whole service: one budget for a body and its texts, and their memory.
// Must not reach the network: upstreams are scripted.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import { reply } from "../support/gemini.ts"
import { promptsOf } from "../support/prompts.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"
import { gatewayKey, settingsFor } from "../support/TestGateway.ts"

const over = gatewaysOver()
const answered = replying(reply([{ text: "hi" }], { finishReason: "STOP" }))
const model = "@google/gemini-2.5-flash"
const chat = "/v1/chat/completions"

const gatewayWith = (limits: Partial<LimitValues>) =>
  over(
    () => answered,
    settingsFor("https://upstream.test", {
      limits,
      keys: [{ name: "one", key: Redacted.make(gatewayKey), scopes: ["inference", "admin"] }]
    })
  )

/** The text of an object with so many small values, and two more. */
const textOf = (values: number): string => JSON.stringify({ a: Array.from({ length: values }, () => ({})) })
const user = { role: "user", content: "Hi" }
const called = (text: string, id: string) => ({
  role: "assistant",
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: text } }]
})
const result = (text: unknown, id: string) => ({ role: "tool", tool_call_id: id, content: text })
const turns = (text: string, times: number) =>
  Array.from({ length: times }, (_, at) => [called(text, `c${at}`), result("ok", `c${at}`)]).flat()
const results = (text: unknown, times: number) =>
  Array.from({ length: times }, (_, at) => [called("{}", `c${at}`), result(text, `c${at}`)]).flat()

const tooMany = (param: string) => ({
  error: {
    message: `${param} has JSON with which the request holds more values than limits.jsonValues allows in its body, its arguments and its tool results together; send large results as plain text, and fewer of them.`,
    type: "invalid_request_error",
    param,
    code: "json_too_large"
  }
})

describe("values in the texts of a request", () => {
  const large = textOf(600)
  const rows: ReadonlyArray<readonly [what: string, path: string, of: (times: number) => object, param: string]> = [
    [
      "arguments",
      chat,
      (n) => ({ model, messages: [user, ...turns(large, n)] }),
      "messages[3].tool_calls[0].function.arguments"
    ],
    ["results", chat, (n) => ({ model, messages: [user, ...results(large, n)] }), "messages[4].content"],
    [
      "results in parts",
      chat,
      (n) => ({ model, messages: [user, ...results([{ type: "text", text: large }], n)] }),
      "messages[4].content"
    ],
    [
      "legacy arguments",
      chat,
      (n) => ({
        model,
        messages: [
          user,
          ...Array.from({ length: n }, () => [
            { role: "assistant", function_call: { name: "f", arguments: large } },
            { role: "function", name: "f", content: "ok" }
          ]).flat()
        ]
      }),
      "messages[3].function_call.arguments"
    ],
    [
      "a count of tokens",
      `${chat}/count_tokens`,
      (n) => ({ model, messages: [user, ...turns(large, n)] }),
      "messages[3].tool_calls[0].function.arguments"
    ],
    [
      "items of the Responses API",
      "/v1/responses",
      (n) => ({
        model,
        input: Array.from({ length: n }, (_, at) => [
          { role: "user", content: "Hi" },
          { type: "function_call", call_id: `c${at}`, name: "f", arguments: large },
          { type: "function_call_output", call_id: `c${at}`, output: "ok" }
        ]).flat()
      }),
      "input[4].arguments"
    ]
  ]
  it.each(rows)("values: those of %s count together, and too many are refused (TH40)", async (_, path, of, param) => {
    const { post } = gatewayWith({ jsonValues: 1_000 })
    expect((await post(path, of(1))).status).not.toBe(400)
    const refused = await post(path, of(2))
    const body = await refused.json()
    expect([refused.status, body.error.code, body.error.param]).toEqual([400, "json_too_large", param])
    if (path === chat) expect(body).toEqual(tooMany(param))
  })

  it("values: those of the body leave less to its texts (TH40)", async () => {
    const { post } = gatewayWith({ jsonValues: 2_000 })
    const messages = [user, called(large, "c0"), result("ok", "c0")]
    const extra = Array.from({ length: 1_700 }, () => 0)
    expect((await post(chat, { model, messages })).status).toBe(200)
    const refused = await post(chat, { model, messages, extra })
    expect([refused.status, await refused.json()]).toEqual([
      400,
      tooMany("messages[1].tool_calls[0].function.arguments")
    ])
  })

  it("values: a result that is no JSON, or too large by itself, stays text and counts nothing (TH40)", async () => {
    const { post, seen } = gatewayWith({ jsonValues: 1_000 })
    const listed = `These: ${large}`
    expect((await post(chat, { model, messages: [user, ...results(listed, 3)] })).status).toBe(200)
    expect(JSON.stringify(seen[0]?.body)).toContain('"response":{"output":"These: ')
  })
})

describe("memory of values", () => {
  const full = {
    error: {
      message: "The gateway is at its limit of requests; try again shortly.",
      type: "api_error",
      param: null,
      code: "overloaded"
    }
  }
  const many = Array.from({ length: 6_000 }, () => ({}))
  const claude = "@vertex-ai/anthropic.claude-sonnet-4-6"
  const rows: ReadonlyArray<readonly [what: string, path: string, body: object]> = [
    ["a chat", chat, { model, messages: [user], extra: many }],
    ["the arguments of a chat", chat, { model, messages: [user, ...turns(textOf(6_000), 1)] }],
    ["a count of tokens", `${chat}/count_tokens`, { model, messages: [user], extra: many }],
    ["a message", "/v1/messages", { model: claude, max_tokens: 5, messages: [user], extra: many }],
    ["a response", "/v1/responses", { model, input: "Hi", extra: many }],
    ["embeddings", "/v1/embeddings", { model: "@google/gemini-embedding-001", input: "x", extra: many }],
    ["an image", "/v1/images/generations", { model: "@vertex-ai/imagen-4.0", prompt: "x", extra: many }],
    [
      "a native call",
      "/v1beta/models/gemini-2.5-flash:generateContent",
      { contents: [{ role: "user", parts: [{ text: "Hi" }] }], labels: many }
    ],
    ["a prompt", "/v1/prompts/p/completions", { variables: {}, extra: many }],
    ["an entry of the admin API", "/admin/v1/prompts", { id: "x", extra: many }]
  ]
  it.each(rows)(
    "memory: the values of %s count as 64 bytes each, and are refused without room (TH40)",
    async (_, path, body) => {
      const { post } = over(
        () => answered,
        settingsFor("https://upstream.test", {
          limits: { bodiesInFlightBytes: 256 * 1024 },
          keys: [{ name: "one", key: Redacted.make(gatewayKey), scopes: ["inference", "admin"] }],
          prompts: promptsOf([{ id: "p", model, messages: [user] }])
        })
      )
      expect(JSON.stringify(body).length).toBeLessThan(64 * 1024)
      const refused = await post(path, body)
      const got = await refused.json()
      expect([refused.status, JSON.stringify(got).includes(full.error.message)]).toEqual([503, true])
      if (path === chat) expect(got).toEqual(full)
    }
  )
})
