// Law W3: every answer that a route can give, cut at every event, is taken as history by every route and family.
// It must not know how an answer is translated back.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/text/json.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { runs } from "../support/release.ts"
import { gatewaysOver } from "../support/scripted.ts"

const gatewayOver = gatewaysOver()
const accounts = [
  googleAccount,
  { ...vertexAccount, endpoints: { "3001": { dialect: "predict", host: undefined, model: undefined } as const } }
]
const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "d",
      parameters: { type: "object", properties: { city: { type: "string" } } }
    }
  }
]
const user = { role: "user", content: "hi" }
const models = [
  "@google/gemini-2.5-flash",
  "@vertex-ai/gemini-3-flash-preview",
  "@google/gemini-4-neon",
  "@google/gemma-4-31b-it",
  "@google/gemini-2.5-flash-image",
  "@vertex-ai/claude-sonnet-4-5",
  "@vertex-ai/claude-opus-4-8",
  "@vertex-ai/meta/llama-4-maverick-17b-128e-instruct-maas",
  "@vertex-ai/endpoints.3001"
]

const text = fc.constantFrom("", " ", "Hello", '{"a"', "\u{1F600}")
const cutText = fc.constantFrom('{"city":"Paris"}', '{"city": "Par', "", "{'city': 1}", "[1]")
const geminiPart: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((value) => ({ text: value })),
  text.map((value) => ({ text: value, thought: true, thoughtSignature: "c2ln" })),
  fc.constant({ functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: "c2ln" }),
  fc.constant({ functionCall: { name: "default_api:get_weather", args: {} } }),
  fc.constant({ executableCode: { language: "PYTHON", code: "1" } }),
  fc.constant({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }),
  fc.constant({ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } })
)
const geminiEvents = fc
  .tuple(
    fc.array(fc.array(geminiPart, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "SOMETHING_NEW")
  )
  .map(([lists, finishReason]) =>
    lists.map((parts, at): Json => ({
      candidates: [{ content: { role: "model", parts }, ...(at === lists.length - 1 ? { finishReason } : {}) }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    }))
  )

const claudeBlock = fc.oneof(
  text.map((value): readonly [JsonObject, JsonObject] => [
    { type: "text", text: "" },
    { type: "text_delta", text: value }
  ]),
  text.map((value): readonly [JsonObject, JsonObject] => [
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: value }
  ]),
  fc.constant<readonly [JsonObject, JsonObject]>([{ type: "redacted_thinking", data: "ZGF0YQ==" }, { type: "none" }]),
  cutText.map((value): readonly [JsonObject, JsonObject] => [
    { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} },
    { type: "input_json_delta", partial_json: value }
  ])
)
const claudeEvents = fc
  .tuple(fc.array(claudeBlock, { maxLength: 4 }), fc.constantFrom("end_turn", "max_tokens", "tool_use", "refusal"))
  .map(([blocks, stop_reason]): ReadonlyArray<Json> => [
    { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    ...blocks.flatMap(([content_block, delta], index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index }
    ]),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 3 } },
    { type: "message_stop" }
  ])

const openDelta: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((content) => ({ content })),
  text.map((reasoning_content) => ({ reasoning_content })),
  cutText.map((args) => ({
    tool_calls: [{ index: 0, id: "call-1", type: "function", function: { name: "get_weather", arguments: args } }]
  }))
)
const openEvents = fc
  .tuple(
    fc.array(openDelta, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("stop", "length", "tool_calls", "content_filter")
  )
  .map(([deltas, finish_reason]) =>
    deltas.map((delta, at): Json => ({
      id: "1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: at === deltas.length - 1 ? finish_reason : null }]
    }))
  )

/** A family's events, all of them or the first few, with the model that gives them. */
const answered = fc
  .oneof(
    fc.tuple(fc.constantFrom(models[0], models[1]), geminiEvents),
    fc.tuple(fc.constantFrom(models[5], models[6]), claudeEvents),
    fc.tuple(fc.constant(models[7]), openEvents)
  )
  .chain(([model, events]) =>
    fc.nat(events.length).map((left) => ({ model, events: events.slice(0, events.length - left) }))
  )

const dataOf = (answer: string): ReadonlyArray<JsonObject> =>
  answer.split("\n").flatMap((line) => {
    const value: unknown = line.startsWith("data: {") ? JSON.parse(line.slice(6)) : undefined
    return isJsonObject(value) ? [value] : []
  })

const firstOf = (value: Json | undefined): JsonObject => {
  const first = Array.isArray(value) ? value[0] : undefined
  return isJsonObject(first) ? first : {}
}

/** What a client keeps of a stream of chunks, whole or not. */
const messageOf = (chunks: ReadonlyArray<JsonObject>): JsonObject => {
  const calls = new Map<Json | undefined, { id: Json; type: "function"; function: { name: Json; arguments: string } }>()
  let content = ""
  let thinking = ""
  for (const chunk of chunks) {
    const { delta } = firstOf(chunk["choices"])
    if (!isJsonObject(delta)) continue
    if (typeof delta["content"] === "string") content += delta["content"]
    if (typeof delta["reasoning_content"] === "string") thinking += delta["reasoning_content"]
    const pieces = delta["tool_calls"]
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      if (!isJsonObject(piece) || !isJsonObject(piece["function"])) continue
      const { arguments: args, name } = piece["function"]
      const call = calls.get(piece["index"]) ?? {
        id: piece["id"] ?? null,
        type: "function" as const,
        function: { name: name ?? null, arguments: "" }
      }
      if (typeof args === "string") call.function.arguments += args
      calls.set(piece["index"], call)
    }
  }
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(thinking === "" ? {} : { reasoning_content: thinking }),
    ...(calls.size === 0 ? {} : { tool_calls: [...calls.values()] })
  }
}

const outputsOf = (message: JsonObject): ReadonlyArray<JsonObject> => {
  const calls = message["tool_calls"]
  return (Array.isArray(calls) ? calls : []).map((call) => ({
    role: "tool",
    tool_call_id: isJsonObject(call) ? (call["id"] ?? null) : null,
    content: "20"
  }))
}

/** The items of the last event that has any, or those that were done before a stream broke off. */
const itemsOf = (events: ReadonlyArray<JsonObject>): ReadonlyArray<Json> => {
  const response = events.findLast((event) => isJsonObject(event["response"]))?.["response"]
  const output = isJsonObject(response) ? response["output"] : undefined
  if (Array.isArray(output) && output.length > 0) return output
  return events.flatMap((event) => (event["type"] === "response.output_item.added" ? [event["item"] ?? null] : []))
}

const callIds = (items: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  items.flatMap((item) => (isJsonObject(item) && item["type"] === "function_call" ? [item["call_id"] ?? null] : []))

it("every answer, whole or cut at any event, is taken as history by every route and family (W3)", async () => {
  await fc.assert(
    fc.asyncProperty(answered, fc.boolean(), fc.boolean(), async ({ events, model = "" }, strict, finishes) => {
      const isClaude = model.includes("claude")
      const { post } = gatewayOver(
        () => ({
          status: 200,
          headers: { "content-type": "text/event-stream" },
          chunks: events.map((event) =>
            isClaude && isJsonObject(event)
              ? `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`
              : `data: ${JSON.stringify(event)}\n\n`
          )
        }),
        { accounts }
      )
      const headers = { "x-gateway-strict-open-ai-compliance": String(strict) }
      const chat = await post("/v1/chat/completions", { model, messages: [user], tools, stream: true }, headers)
      const message = messageOf(dataOf(await chat.text()))
      const responses = await post(
        "/v1/responses",
        {
          model,
          input: "hi",
          tools: tools.map((tool) => ({ type: "function", ...tool.function })),
          stream: true,
          store: false
        },
        headers
      )
      const items = itemsOf(dataOf(await responses.text()))
      const dry = { "x-gateway-dry-run": "true" }
      const messages = [user, message, ...(finishes ? [...outputsOf(message), user] : [user])]
      const input = [
        user,
        ...items,
        ...(finishes ? callIds(items).map((call_id) => ({ type: "function_call_output", call_id, output: "20" })) : []),
        user
      ]
      for (const target of models) {
        const again = await post("/v1/chat/completions", { model: target, messages }, dry)
        expect([target, again.status, again.status === 200 ? "" : await again.text(), message]).toStrictEqual([
          target,
          200,
          "",
          message
        ])
        const next = await post("/v1/responses", { model: target, input, store: false }, dry)
        expect([target, next.status, next.status === 200 ? "" : await next.text(), input]).toStrictEqual([
          target,
          200,
          "",
          input
        ])
      }
    }),
    { numRuns: runs(160) }
  )
})
