// Histories, prompts, limits and outages on POST /v1/responses, through every layer.
// It must not know how a response is kept.
import { DatabaseSync } from "node:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import { FreshId } from "../../src/http/request/IncomingRequest.ts"
import { randomMasterText } from "../../src/store/Encryption.ts"
import { accountedGateway } from "../support/accounted.ts"
import { promptsOf } from "../support/prompts.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"
import { schemaOracle } from "../support/shared.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const gatewayWith = gatewaysOver()
const folder = mkdtempSync(join(tmpdir(), "gateway-responses-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const model = "@google/gemini-2.5-flash"
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 20, totalTokenCount: 23 }
const answered = (...parts: ReadonlyArray<object>) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
  usageMetadata,
  modelVersion: "gemini-2.5-flash"
})
const said = (text: string) => answered({ text })
const sse = (...values: ReadonlyArray<unknown>) => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: values.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`)
})
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const userSays = (text: string) => ({ role: "user", parts: [{ text }] })

describe("the input of a kept response", () => {
  const check = schemaOracle("openai-responses.schema.json", "strict.ResponseItemList")
  const listed = async (input: unknown) => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const made = await (await gateway.post("/v1/responses", { model, input })).json()
    const answer = await gateway.send(`/v1/responses/${made.id}/input_items?order=asc`, {
      headers: { "x-gateway-api-key": gatewayKey }
    })
    const list = await answer.json()
    if (check !== undefined) expect(check(list) ? [] : check.errors).toEqual([])
    return list.data.map(({ id: _id, ...item }: { readonly id: string }) => item)
  }

  it("responses: is listed in the form of OpenAI's schema, whatever form it came in (R111)", async () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }
    expect(
      await listed([
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            picture,
            { type: "input_image", image_url: picture.image_url.url, detail: null }
          ]
        },
        { role: "assistant", content: "I look." },
        { type: "reasoning", id: "rs_1", summary: [], content: null, status: null },
        { type: "function_call", call_id: "c1", name: "look", status: null },
        { type: "function_call_output", call_id: "c1", output: [{ type: "text", text: "seen" }] },
        { type: "custom_tool_call", call_id: "c2", name: "patch", input: "x" },
        { type: "custom_tool_call_output", call_id: "c2", output: "done" }
      ])
    ).toEqual([
      { type: "message", role: "developer", status: "completed", content: [{ type: "input_text", text: "Be kind." }] },
      {
        type: "message",
        role: "user",
        status: "completed",
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: picture.image_url.url, detail: "auto" },
          { type: "input_image", image_url: picture.image_url.url, detail: "auto" }
        ]
      },
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }]
      },
      { type: "reasoning", status: "completed", summary: [] },
      { type: "function_call", status: "completed", call_id: "c1", name: "look", arguments: "{}" },
      {
        type: "function_call_output",
        status: "completed",
        call_id: "c1",
        output: [{ type: "input_text", text: "seen" }]
      },
      { type: "custom_tool_call", status: "completed", call_id: "c2", name: "patch", input: "x" },
      { type: "custom_tool_call_output", status: "completed", call_id: "c2", output: "done" }
    ])
  })
})

describe("items of older turns", () => {
  it("responses: what describes an older answer is read and not sent (R209)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const answer = await gateway.post("/v1/responses", {
      model,
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi", prompt_cache_breakpoint: { mode: "explicit" } }] },
        {
          id: "msg_elsewhere",
          type: "message",
          role: "assistant",
          status: null,
          phase: "final_answer",
          content: [
            {
              type: "output_text",
              text: "Hello",
              annotations: [
                { type: "url_citation", url: "https://a.example/", title: "A", start_index: 0, end_index: 1 }
              ],
              logprobs: [{ token: "Hello", bytes: [72], logprob: -1, top_logprobs: [] }]
            }
          ]
        },
        { role: "user", content: "Again", status: "completed" }
      ]
    })
    expect([answer.status, answer.headers.get("x-gateway-ignored-params")]).toEqual([200, null])
    expect(gateway.seen.map(({ body }) => body)).toEqual([
      { contents: [userSays("Hi"), { role: "model", parts: [{ text: "Hello" }] }, userSays("Again")] }
    ])
  })

  it("responses: a mark of the prompt cache is Claude's own (R209)", async () => {
    const claude = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 }
    }
    const gateway = gatewayWith(() => replying(claude))
    const part = { type: "input_text", text: "Hi", prompt_cache_breakpoint: { mode: "explicit" } }
    const input = [{ role: "user", content: [part] }]
    const answer = await gateway.post("/v1/responses", { model: "@vertex-ai/anthropic.claude-sonnet-4-6", input })
    expect(answer.status).toBe(200)
    expect(gateway.seen.map(({ body }) => (body as { messages: unknown }).messages)).toEqual([
      [{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }]
    ])
  })

  it("responses: a picture of an answer goes back as the model's own, with its signature (R219)", async () => {
    const image = { inlineData: { mimeType: "image/png", data: png }, thoughtSignature: "c2lnbmVk" }
    const replies = [answered(image), said("Done")]
    const gateway = gatewayWith(() => replying(replies.shift()))
    const drawing = { model: "@google/gemini-3-pro-image-preview", store: false }
    const drawn = await (await gateway.post("/v1/responses", { ...drawing, input: "Draw" })).json()
    expect(drawn.output).toMatchObject([
      { type: "image_generation_call", status: "completed", result: png },
      { type: "reasoning", summary: [], encrypted_content: expect.stringMatching(/^mgr1\./) }
    ])
    const next = [{ role: "user", content: "Draw" }, ...drawn.output, { role: "user", content: "More" }]
    const answer = await gateway.post("/v1/responses", { ...drawing, input: next })
    expect([answer.status, answer.headers.get("x-gateway-ignored-params")]).toEqual([200, null])
    expect(gateway.seen[1]?.body).toMatchObject({
      contents: [userSays("Draw"), { role: "model", parts: [image] }, userSays("More")]
    })
  })

  it("responses: a picture that cannot be read is named as the item it is (R219 R612)", async () => {
    const gateway = gatewayWith(() => replying(said("Done")))
    const answer = await gateway.post("/v1/responses", {
      model: "@google/gemini-3-pro-image-preview",
      input: [
        { role: "user", content: "Draw" },
        { role: "assistant", content: "Here" },
        { type: "image_generation_call", id: "ig_elsewhere", status: "completed", result: "AAAA" }
      ]
    })
    expect([answer.status, (await answer.json()).error.param]).toEqual([400, "input[2].result"])
  })

  it("responses: code that ran goes back as the model's own parts, other code is named (R220)", async () => {
    const code = { executableCode: { language: "PYTHON", code: "print(1)" } }
    const ran = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } }
    const replies = [answered(code, ran, { text: "One" }), said("Done")]
    const gateway = gatewayWith(() => replying(replies.shift()))
    const running = { model, store: false, tools: [{ type: "code_interpreter", container: { type: "auto" } }] }
    const first = await (await gateway.post("/v1/responses", { ...running, input: "Run" })).json()
    expect(first.output.map(({ type }: { type: string }) => type)).toEqual([
      "message",
      "code_interpreter_call",
      "reasoning"
    ])
    const foreign = {
      type: "code_interpreter_call",
      id: "ci_elsewhere",
      code: "2",
      container_id: "c",
      outputs: null,
      status: "completed"
    }
    const input = [{ role: "user", content: "Run" }, ...first.output, foreign, { role: "user", content: "More" }]
    const answer = await gateway.post("/v1/responses", { ...running, input })
    expect([answer.status, answer.headers.get("x-gateway-ignored-params")]).toEqual([200, "input[4]"])
    expect(gateway.seen[1]?.body).toMatchObject({
      contents: [userSays("Run"), { role: "model", parts: [{ text: "One" }, code, ran] }, userSays("More")]
    })
  })
})

describe("a kept response that is read again", () => {
  it("responses: shows sources, outputs and reasoning as include asks, whatever the request asked for (R111 R115)", async () => {
    const grounding = {
      webSearchQueries: ["rivers"],
      groundingChunks: [{ web: { uri: "https://a.example/", title: "A" } }]
    }
    const answer = answered(
      { text: "Let me think", thought: true, thoughtSignature: "c2lnbmVk" },
      { executableCode: { language: "PYTHON", code: "print(1)" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
      { functionCall: { name: "f", args: {} }, thoughtSignature: "c2lnbmVk" }
    )
    const gateway = gatewayWith(() =>
      replying({ ...answer, candidates: answer.candidates.map((one) => ({ ...one, groundingMetadata: grounding })) })
    )
    const made = await (
      await gateway.post("/v1/responses", {
        model: "@google/gemini-3-flash-preview",
        input: "Hi",
        reasoning: { summary: "auto" },
        tools: [{ type: "function", name: "f", parameters: null, strict: null }]
      })
    ).json()
    const shownOf = (output: ReadonlyArray<Record<string, unknown>>) =>
      output.flatMap((item) => {
        if (item["type"] === "web_search_call") return [item["action"]]
        if (item["type"] === "code_interpreter_call") return [item["outputs"]]
        return item["type"] === "reasoning" ? [item["encrypted_content"] !== undefined] : []
      })
    const read = async (query: string) => {
      const again = await gateway.send(`/v1/responses/${made.id}${query}`, {
        headers: { "x-gateway-api-key": gatewayKey }
      })
      return again.json()
    }
    const search = { type: "search", query: "rivers", queries: ["rivers"] }
    const everything = [
      "web_search_call.action.sources",
      "code_interpreter_call.outputs",
      "reasoning.encrypted_content"
    ]
    const included = await read(`?${everything.map((word) => `include[]=${word}`).join("&")}`)
    expect(await read("")).toEqual(made)
    expect(shownOf(made.output)).toEqual([false, search, null])
    expect(shownOf(included.output)).toEqual([
      true,
      { ...search, sources: [{ type: "url", url: "https://a.example/" }] },
      [{ type: "logs", logs: "1\n" }]
    ])
  })
})

describe("prompts of the gateway in a response", () => {
  const prompts = promptsOf([
    {
      id: "haiku",
      model,
      messages: [
        { role: "system", content: "You write haiku." },
        { role: "user", content: "About {{topic}}" }
      ],
      parameters: { temperature: 0.5, top_p: 0.9 }
    }
  ])

  it("responses: its messages come first, its model and parameters where the body has none (R228)", async () => {
    const gateway = gatewayWith(() => replying(said("Rain")), { prompts })
    const answer = await gateway.post("/v1/responses", {
      prompt: { id: "haiku", version: "1", variables: { topic: "rain" } },
      input: "In English",
      temperature: 1
    })
    const made = await answer.json()
    expect([answer.status, made.model]).toEqual([200, "gemini-2.5-flash"])
    expect(gateway.seen.map(({ body }) => body)).toEqual([
      {
        systemInstruction: { parts: [{ text: "You write haiku." }] },
        contents: [{ role: "user", parts: [{ text: "About rain" }, { text: "In English" }] }],
        generationConfig: { temperature: 1, topP: 0.9 }
      }
    ])
    const items = await gateway.send(`/v1/responses/${made.id}/input_items?order=asc`, {
      headers: { "x-gateway-api-key": gatewayKey }
    })
    expect((await items.json()).data).toMatchObject([
      { type: "message", role: "system", content: [{ type: "input_text", text: "You write haiku." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "About rain" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "In English" }] }
    ])
  })

  it.each([
    [{ id: "none" }, 404, "prompt_not_found", "id"],
    [{ id: "haiku", version: 9 }, 404, "prompt_not_found", "id"],
    [{ id: "haiku", variables: { topic: 1 } }, 400, "invalid_type", "prompt.variables.topic"],
    [{ id: "haiku" }, 400, "missing_variable", "prompt.variables.topic"],
    [{ id: 1 }, 400, "invalid_type", "prompt.id"]
  ])("responses: a prompt that cannot be rendered is refused, %j (R228)", async (prompt, status, code, param) => {
    const gateway = gatewayWith(() => replying(said("Rain")), { prompts })
    const answer = await gateway.post("/v1/responses", { prompt, input: "Hi" })
    const { error } = await answer.json()
    expect([answer.status, error.code, error.param]).toEqual([status, code, param])
    expect(gateway.seen).toEqual([])
  })
})

describe("limits of keys on responses", () => {
  it("responses: a key at its rate limit is refused in OpenAI's form, a stream too (R711)", async () => {
    const rateLimit = { requests_per_minute: 1 }
    const gateway = accountedGateway(() => Effect.succeed(replying(said("Hello"))), {
      settings: { keys: [{ name: "ci", key: Redacted.make(gatewayKey), rate_limit: rateLimit }] }
    })
    const first = await gateway.post("/v1/responses", { model, input: "Hi" })
    expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "0"])
    for (const stream of [false, true]) {
      const refused = await gateway.post("/v1/responses", { model, input: "Hi", stream })
      const wait = refused.headers.get("retry-after")
      expect([refused.status, await refused.json()]).toEqual([
        429,
        {
          error: {
            message: `The gateway key has reached its limit of 1 requests a minute; try again in ${wait} s.`,
            type: "rate_limit_error",
            param: null,
            code: "rate_limit_exceeded"
          }
        }
      ])
    }
    await gateway.dispose()
  })

  it("responses: a budget counts the history that a short request continues (R711)", async () => {
    let number = 0
    const counts = { promptTokenCount: 1_000, candidatesTokenCount: 1, totalTokenCount: 1_001 }
    const gateway = accountedGateway(() => Effect.succeed(replying({ ...said("Hello"), usageMetadata: counts })), {
      settings: {
        // The long text is estimated as more than half of it, and counts as half of it.
        keys: [{ name: "ci", key: Redacted.make(gatewayKey), budget: { usd: 0.004, per: "month" } }],
        prices: { "gemini-2.5-flash": { input: 2, output: 2 } }
      },
      references: Layer.succeed(FreshId, () => `01a1feb1-fd44-7fb5-884a-${String(number++).padStart(12, "0")}`)
    })
    const ask = (body: object) => gateway.post("/v1/responses", { model, max_output_tokens: 20, ...body })
    const first = await ask({ input: "word ".repeat(1_000) })
    const { id } = await first.json()
    const chained = await ask({ input: "Hi", previous_response_id: id })
    const alone = await ask({ input: "Hi" })
    expect([first.status, chained.status, alone.status]).toEqual([200, 402, 200])
    expect((await chained.json()).error).toMatchObject({ type: "insufficient_quota", code: "insufficient_quota" })
    await gateway.dispose()
  })
})

describe("a store that goes away", () => {
  let number = 0
  const broken = async () => {
    const path = join(folder, `store-${number++}.db`)
    const gateway = accountedGateway(
      ({ url }) => Effect.succeed(url.includes("stream") ? sse(said("Hello")) : replying(said("Hello"))),
      {
        settings: {
          keys: [{ name: "ci", key: Redacted.make(gatewayKey) }],
          store: {
            location: { kind: "sqlite", path },
            keyFile: "unused",
            secretKeys: [Redacted.make(randomMasterText())]
          }
        }
      }
    )
    const made = await (await gateway.post("/v1/responses", { model, input: "Hi" })).json()
    const other = new DatabaseSync(path)
    other.exec("DROP TABLE responses")
    other.close()
    return { gateway, made }
  }

  it("responses: an answer goes out unkept, a stream as it was promised, and both are counted (R709)", async () => {
    const { gateway } = await broken()
    const answer = await gateway.post("/v1/responses", { model, input: "Hi" })
    const made = await answer.json()
    expect([answer.status, made.status, made.store]).toEqual([200, "completed", false])
    const streamed = await gateway.post("/v1/responses", { model, input: "Hi", stream: true })
    const last = JSON.parse((await streamed.text()).split("\n").at(-3)?.slice("data: ".length) ?? "")
    expect([streamed.status, last.type, last.response.store]).toEqual([200, "response.completed", true])
    const lines = await gateway.metrics()
    expect(lines.filter((line) => line.startsWith("gateway_responses_unstored_total"))).toEqual([
      'gateway_responses_unstored_total{reason="unavailable"} 2'
    ])
    await gateway.dispose()
  })

  it("responses: what must be read of it is refused for now, and nothing is sent upstream (R709)", async () => {
    const { gateway, made } = await broken()
    gateway.seen.length = 0
    const headers = { "x-gateway-api-key": gatewayKey }
    const answers = [
      await gateway.post("/v1/responses", { model, input: "Hi", previous_response_id: made.id }),
      await gateway.post("/v1/responses", { model, input: [{ type: "item_reference", id: made.output[0].id }] }),
      await gateway.send(`/v1/responses/${made.id}`, { headers }),
      await gateway.send(`/v1/responses/${made.id}`, { method: "DELETE", headers })
    ]
    for (const answer of answers)
      expect([answer.status, answer.headers.get("retry-after"), (await answer.json()).error.code]).toEqual([
        503,
        "1",
        "dependency_unavailable"
      ])
    expect(gateway.seen).toEqual([])
    await gateway.dispose()
  })
})
