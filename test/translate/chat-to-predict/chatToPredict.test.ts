// Tests chat over predict: T2013 with exact bodies and answers.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { chatToPredict } from "../../../src/translate/chat-to-predict/ChatToPredict.ts"
import { predictChatParams } from "../../../src/translate/chat-to-predict/params.ts"
import { strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import type { TranslateContext } from "../../../src/translate/Translator.ts"
import { PredictReply } from "../../../src/wire/google.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, deepFreeze } from "../../support/chat.ts"
import { validChunk, validCompletion } from "../../support/openAi.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"
import { bytesOf, bytesThrough, cutAt, eachByte, eventsThrough, isChunk, joined } from "../../support/streams.ts"

if (sharedDir() === undefined) loudlySkipped("predict bodies against the published schema")
const oracle = schemaOracle("google-aiplatform-v1.schema.json", "PredictRequest")

const base = chatContext("my-endpoint", { kind: "vertex-ai" })
const context: TranslateContext = {
  ...base,
  target: { ...base.target, family: "predict", modelId: "my-endpoint", issuer: "predict/vertex-ai" }
}
const hi = [{ role: "user", content: "hi" }]
const prompt = "user: hi\nassistant:"

const sent = (messages: ChatRequest["messages"], rest: Omit<Partial<ChatRequest>, "messages"> = {}) => {
  const translated = Result.getOrThrow(chatToPredict.request(chatRequest(messages, rest), context))
  if (oracle !== undefined)
    expect([oracle(JSON.parse(JSON.stringify(translated.body))), oracle.errors]).toStrictEqual([true, null])
  return translated
}
const promptOf = (...asked: Parameters<typeof sent>) => sent(...asked).body.instances[0]?.["prompt"]
const refused = (messages: ChatRequest["messages"], rest: Omit<Partial<ChatRequest>, "messages"> = {}) => {
  const result = chatToPredict.request(chatRequest(messages, rest), context)
  return Result.isFailure(result) && result.failure._tag === "UnsupportedParameter" ? result.failure.param : result
}

describe("predict chat requests", () => {
  it("a chat becomes one instance with a prompt", () => {
    expect(sent(hi)).toStrictEqual({ body: { instances: [{ prompt }] }, headers: {}, ignored: [] })
  })
  it("the prompt has system texts first, one line per message, and an open assistant turn (T2013)", () => {
    expect(
      promptOf([
        { role: "user", content: "a" },
        { role: "system", content: "S" },
        { role: "assistant", content: "b" },
        {
          role: "user",
          content: [
            { type: "text", text: "c" },
            { type: "text", text: "d" }
          ]
        },
        { role: "developer", content: "D" }
      ])
    ).toBe("system: S\nsystem: D\nuser: a\nassistant: b\nuser: c\nd\nassistant:")
  })
  it("a prefill continues the assistant turn; empty turns are dropped (T107)", () => {
    expect(promptOf([...hi, { role: "assistant", content: "Once" }])).toBe("user: hi\nassistant: Once")
    expect(promptOf([...hi, { role: "assistant", content: "" }, { role: "user", content: "b" }])).toBe(
      "user: hi\nuser: b\nassistant:"
    )
    expect(
      promptOf([
        ...hi,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "a" }
          ]
        },
        ...hi
      ])
    ).toBe("user: hi\nassistant: a\nuser: hi\nassistant:")
  })
  it("parameters go in the instance and in parameters", () => {
    const parameters = { max_tokens: 9, temperature: 0.5, top_p: 0.9, top_k: 5, stop: ["a"], seed: 7 }
    expect(
      sent(hi, {
        ...parameters,
        stream: true,
        stream_options: { include_usage: true },
        n: 1,
        tools: [],
        response_format: { type: "text" }
      })
    ).toStrictEqual({ body: { instances: [{ prompt, ...parameters }], parameters }, headers: {}, ignored: [] })
  })
  it("max_completion_tokens becomes max_tokens; a different older value is reported", () => {
    const limited = (rest: Partial<ChatRequest>) => {
      const { body, ignored } = sent(hi, rest)
      return [body.parameters, ignored]
    }
    expect(limited({ max_completion_tokens: 5 })).toStrictEqual([{ max_tokens: 5 }, []])
    expect(limited({ max_completion_tokens: 5, max_tokens: 5 })).toStrictEqual([{ max_tokens: 5 }, []])
    expect(limited({ max_completion_tokens: 5, max_tokens: 6 })).toStrictEqual([{ max_tokens: 5 }, ["max_tokens"]])
  })
  it("all other parameters are listed as ignored, unknown ones too (L29)", () => {
    const ignored = Object.entries(predictChatParams).flatMap(([name, rule]) => (rule.kind === "ignored" ? [name] : []))
    const rest = Object.fromEntries([...ignored, "brand_new"].map((name) => [name, {}]))
    expect(sent(hi, rest)).toStrictEqual({
      body: { instances: [{ prompt }] },
      headers: {},
      ignored: [...ignored, "brand_new"]
    })
  })
  it("a JSON format is words of the prompt (W43)", () => {
    expect(promptOf(hi, { response_format: { type: "json_object" } })).toBe(
      "system: Answer with one JSON object, without any text or code fence around it.\nuser: hi\nassistant:"
    )
    expect(promptOf(hi, { response_format: { type: "json_object", response_schema: { type: "object" } } })).toBe(
      'system: Answer with JSON that follows this schema: {"type":"object"}\nuser: hi\nassistant:'
    )
  })
  it("tools and media are refused at their path", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
    expect(refused(hi, { tools: [{ type: "function", function: { name: "f" } }] })).toBe("tools")
    expect(refused(hi, { functions: [{ name: "f" }] })).toBe("functions")
    expect(refused([...hi, { role: "user", content: [{ type: "text", text: "a" }, image] }])).toBe(
      "messages[1].content[1].image_url.url"
    )
    expect(
      sent([
        ...hi,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: "1" }
      ]).body.instances
    ).toStrictEqual([{ prompt: `${prompt.replace(/assistant:$/, "")}assistant: f({})\nf: 1\nassistant:` }])
  })
  it("message shapes are checked as for every family (T119, T120)", () => {
    const result = chatToPredict.request(chatRequest([{ role: "user", content: 5 }]), context)
    expect(Result.isFailure(result) && result.failure).toMatchObject({
      _tag: "BodyInvalid",
      param: "messages[0].content",
      code: "invalid_type"
    })
  })
})

const decode = Schema.decodeUnknownResult(PredictReply)
const request = chatRequest(hi)
const respond = (body: Json) => chatToPredict.response(deepFreeze(Result.getOrThrow(decode(body))), context, request)
const content = (prediction: Json) =>
  Result.getOrThrow(respond({ predictions: [prediction] })).choices[0]?.message.content
const empty = {
  _tag: "BadReply",
  kind: "empty",
  message: "The endpoint answered without a prediction in text. Its dialect may be another one."
}

describe("predict chat answers", () => {
  it("a prediction becomes a completion with zero usage", () => {
    const full = Result.getOrThrow(respond({ predictions: ["Hello"], deployedModelId: "1", model: "projects/p" }))
    validCompletion(full)
    expect(full).toStrictEqual({
      id: context.id,
      object: "chat.completion",
      created: 1_700_000_000,
      model: "my-endpoint",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello", refusal: null },
          logprobs: null,
          finish_reason: "stop"
        }
      ],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } },
      provider: "vertex-ai"
    })
  })
  it.each<readonly [string, Json, string]>([
    ["text", " Hello", " Hello"],
    ["content", { content: "a", output: "b" }, "a"],
    ["generated_text", { generated_text: "a" }, "a"],
    ["output", { output: "a" }, "a"],
    ["a list of these", [{ generated_text: "a" }, { generated_text: "b" }], "a"],
    ["nothing said", "", ""],
    ["an echo with marks (T2013)", `Prompt:\n${prompt}\nOutput:\n Hello`, "Hello"],
    ["an echo whose prompt holds the mark", "Prompt:\nuser: hi\nassistant:\nOutput:\nsay\nOutput:", "say\nOutput:"],
    ["an echo of another form of the prompt", "Prompt: <s>hi</s>\nOutput:\nHello", "Hello"],
    ["a bare echo", `${prompt} Hello`, "Hello"],
    ["the word alone", "Prompt: write one", "Prompt: write one"]
  ])("a prediction's text is read: %s", (_name, prediction, text) => expect(content(prediction)).toBe(text))
  it("a prediction without text fails", () => {
    for (const body of [
      {},
      { predictions: [] },
      { predictions: null },
      { predictions: [[]] },
      { predictions: [{ scores: [1] }] },
      { predictions: [5] }
    ]) {
      expect(respond(body)).toStrictEqual(Result.fail(empty))
    }
  })
  it("errors map as for every endpoint (T2014)", () => {
    expect(
      chatToPredict.failure(403, {}, { error: { message: "aiplatform.endpoints.predict denied" } }, "stored")._tag
    ).toBe("PermissionDenied")
  })
})

const fold = chatToPredict.stream(context, chatRequest(hi, { stream: true }))
const outputs = (events: ReadonlyArray<Json>) => eventsThrough(fold, events)

describe("predict chat streams (T2013)", () => {
  it("a stream sends the whole answer as one chunk, finish and usage, equal to the unary answer (L1)", () => {
    const seen = outputs([{ predictions: ["Hello"] }])
    const chunks = seen.filter(isChunk)
    chunks.forEach(validChunk)
    expect(seen.length).toBe(chunks.length)
    expect(chunks.map(({ choices, usage }) => [choices, usage])).toStrictEqual([
      [[{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }], undefined],
      [[{ index: 0, delta: { content: "Hello" }, finish_reason: null }], undefined],
      [[{ index: 0, delta: {}, finish_reason: "stop" }], undefined],
      [[], { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } }]
    ])
    expect(strictlyCompletion(joined(chunks) as object as Parameters<typeof strictlyCompletion>[0])).toEqual(
      strictlyCompletion(Result.getOrThrow(respond({ predictions: ["Hello"] })))
    )
  })
  it("plain JSON in any cut gives the answer; a truncated answer fails (L6, L7)", () => {
    const bytes = bytesOf(JSON.stringify({ predictions: ["Hé\n\ndata: x"], deployedModelId: "1" }, null, 2))
    const whole = outputs([{ predictions: ["Hé\n\ndata: x"] }])
    expect(bytesThrough(fold, eachByte(bytes))).toStrictEqual(whole)
    for (let at = 0; at < bytes.length; at++) {
      expect(bytesThrough(fold, cutAt(bytes, at))).toStrictEqual(whole)
      expect(bytesThrough(fold, [bytes.slice(0, at)])).toStrictEqual([{ _tag: "StreamFailed", reason: empty }])
    }
  })
  it("an error, a malformed reply or an empty prediction gives one failure (T1318)", () => {
    const failed = (reason: object) => [{ _tag: "StreamFailed", reason }]
    expect(outputs([{ error: { code: 503, message: "busy" } }, { predictions: ["a"] }])).toStrictEqual(
      failed({ _tag: "Overloaded", code: "upstream_unavailable", message: "busy" })
    )
    expect(outputs([{ predictions: "a" }])).toStrictEqual(
      failed({
        _tag: "BadReply",
        kind: "unreadable",
        message: "The upstream sent an event that does not have the shape of an answer."
      })
    )
    expect(outputs([{ predictions: [] }])).toStrictEqual(failed(empty))
    expect(outputs([])).toStrictEqual(failed(empty))
    expect(outputs([{ predictions: ["a"] }, { predictions: ["b"] }]).length).toBe(4)
  })
})
