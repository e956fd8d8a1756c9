// Requests of the Responses API as chats: items, tools, choices, parameters, and what is refused or left out by name.
// It must not know a provider, but where a pair obeys a mark of ours.
import type { RequestFault } from "../../../src/domain/GatewayError.ts"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { chatToClaude } from "../../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { type Carrier, carrierText } from "../../../src/translate/shared/carrier.ts"
import { paramOf } from "../../../src/translate/responses-to-chat/facts.ts"
import { chatContext } from "../../support/chat.ts"
import { digest, ownId, responseId, seal, translated, translation } from "../../support/responses.ts"

const messages = (input: Json) => translation({ input }).chat.messages
const refusal = (body: JsonObject) =>
  Result.match(translated({ model: "gemini-2.5-flash", input: "hi", ...body }), {
    onFailure: (fault) => fault,
    onSuccess: () => "taken"
  })
const call = (id: string, name = "f") => ({ type: "function_call", call_id: id, name, arguments: "{}" })
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "done" })
const toolCall = (id: string, name = "f") => ({ id, type: "function", function: { name, arguments: "{}" } })

describe("items", () => {
  it("instructions stand first, a text is one user message (R203 R204)", () => {
    expect(translation({ instructions: "Be brief.", input: "hi" }).chat.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" }
    ])
  })

  it("neighbouring items of the assistant are one message, and outputs follow their calls (R210 R211)", () => {
    expect(
      messages([
        { role: "user", content: "go" },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "I think." }], content: null },
        { role: "assistant", content: [] },
        call("1"),
        { role: "assistant", content: [{ type: "output_text", text: "Calling." }] },
        call("2"),
        output("1"),
        output("2")
      ])
    ).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "Calling.", tool_calls: [toolCall("1"), toolCall("2")] },
      { role: "tool", tool_call_id: "1", content: "done" },
      { role: "tool", tool_call_id: "2", content: "done" }
    ])
  })

  it("parts of every kind take the chat's form (R207)", () => {
    expect(
      messages([
        {
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: "https://a.example/a.png", detail: "low" },
            { type: "input_image", file_id: "files/1" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
            { type: "input_audio", data: "AA==", format: "wav" }
          ]
        }
      ])
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "https://a.example/a.png", detail: "low" } },
          { type: "file", file: { file_id: "files/1" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
          { type: "input_audio", input_audio: { data: "AA==", format: "wav" } }
        ]
      }
    ])
  })

  it("files of an output are media of a tool message (R213)", () => {
    expect(
      messages([
        call("1"),
        { ...output("1"), output: [{ type: "input_file", file_url: "https://a.example/a.pdf" }] }
      ])[1]
    ).toEqual({
      role: "tool",
      tool_call_id: "1",
      content: [{ type: "image_url", image_url: { url: "https://a.example/a.pdf" } }]
    })
  })

  it("of other services are passed over by name, or refused (R221 R222 R223)", () => {
    const item = (type: string) => ({
      input: [
        { role: "user", content: "a" },
        { type, id: "x" }
      ]
    })
    expect(["web_search_call", "mcp_call"].map((type) => translation(item(type)).ignored)).toEqual([
      ["input[1]"],
      ["input[1]"]
    ])
    expect(["compaction", "dream"].map((type) => refusal(item(type)))).toEqual([
      ["invalid_encrypted_content", "input[1].encrypted_content"],
      ["invalid_value", "input[1].type"]
    ])
  })

  it("of tools that another service ran are text (R221 W28)", () => {
    const { chat, ignored } = translation({
      input: [
        { role: "user", content: "a" },
        { type: "local_shell_call", id: "x", call_id: "1", status: "completed", action: { command: ["ls"] } },
        { type: "local_shell_call_output", call_id: "1", output: "b.txt" }
      ]
    })
    expect([chat.messages, ignored]).toEqual([
      [
        { role: "user", content: "a" },
        { role: "assistant", content: 'local_shell_call: {"action":{"command":["ls"]}}' },
        { role: "user", content: 'local_shell_call_output: {"output":"b.txt"}' }
      ],
      []
    ])
  })

  it("meant by id are put in; an unknown one is refused, but for reasoning (R217)", () => {
    const body = { input: [{ role: "user", content: "a" }, { id: ownId("msg", 0) }, { id: ownId("rs", 1) }] }
    const found = {
      item: { type: "message", role: "assistant", content: "b", id: ownId("msg", 0) },
      carrier: undefined
    }
    const { chat, ignored } = translation(body, { stored: (id) => (id === ownId("msg", 0) ? found : undefined) })
    expect(chat.messages).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" }
    ])
    expect(ignored).toEqual(["input[2]"])
    expect(refusal(body)).toEqual(["item_not_found", "input[1].id"])
  })

  it("are refused where they lack what they need (R203 R206 R212 R213)", () => {
    const cases: ReadonlyArray<JsonObject> = [
      { input: [] },
      { input: null },
      { input: 1 },
      { input: [{ role: "robot", content: "a" }] },
      { input: [{ role: "user", content: [{ type: "input_image", image_url: null, file_id: null }] }] }
    ]
    expect(cases.map(refusal)).toEqual([
      ["empty_array", "input"],
      ["missing_required_parameter", "input"],
      ["invalid_type", "input"],
      ["invalid_value", "input[0].role"],
      ["missing_required_parameter", "input[0].content[0].image_url"]
    ])
  })
})

describe("carriers in a request", () => {
  const carrier: Carrier = {
    v: 1,
    r: responseId,
    i: "gemini/google",
    c: [{ id: "1", s: "c2ln" }],
    t: [{ h: digest("b"), s: "dGV4dA==" }]
  }
  const input = (encrypted: string) => [
    { role: "user", content: "a" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: encrypted },
    { role: "assistant", content: "b" },
    call("1"),
    output("1")
  ]

  it("put signatures back with their maker (R107 R407)", () => {
    expect(messages(input(seal(carrierText(carrier))))[1]).toEqual({
      role: "assistant",
      content: "b",
      content_blocks: [{ type: "text", text: "b", signature: "dGV4dA==", issuer: "gemini/google" }],
      tool_calls: [
        {
          id: "1",
          type: "function",
          function: { name: "f", arguments: "{}", thought_signature: "c2ln" },
          issuer: "gemini/google"
        }
      ]
    })
  })

  it("of another maker never reach an upstream (R107)", () => {
    const { chat } = translation({ input: input(seal(carrierText({ ...carrier, i: "gemini/vertex-ai" }))) })
    const sent = Result.getOrThrow(chatToGemini.request(chat, chatContext("gemini-2.5-flash"))).body.contents[1]
    expect(sent).toEqual({ role: "model", parts: [{ text: "b" }, { functionCall: { name: "f", args: {} } }] })
  })

  it("that do not open are named, or refused where nothing may be ignored (R216 R405)", () => {
    for (const broken of ["gAAAAABozcOb", "sealed:{}", "sealed:no json"]) {
      expect(translation({ input: input(broken) }).ignored).toEqual(["input[1].encrypted_content"])
      expect(
        Result.getFailure(translated({ model: "gemini-2.5-flash", input: input(broken) }, { rejects: true }))
      ).toMatchObject({ value: ["invalid_encrypted_content", "input[1].encrypted_content"] })
    }
  })
})

describe("tools", () => {
  const close = { type: "function", name: "close", description: "Closes.", parameters: { type: "object" } }

  it("of a namespace have joined names, of which the plan knows both halves (R316 R317)", () => {
    const tool = { type: "namespace", name: "ns", description: "Agents.", tools: [close] }
    const { chat, plan } = translation({ tools: [tool] })
    expect(chat.tools).toEqual([
      {
        type: "function",
        function: { name: "ns__close", description: "Agents.\n\nCloses.", parameters: { type: "object" } }
      }
    ])
    expect([...plan.names]).toEqual([["ns__close", { name: "close", namespace: "ns", isCustom: false }]])
    expect(translation({ tools: [{ ...tool, name: "ns__" }] }).chat.tools).toMatchObject([
      { function: { name: "ns__close" } }
    ])
    expect(refusal({ tools: [{ type: "function", name: "ns__close" }, tool] })).toEqual([
      "invalid_value",
      "tools[1].tools[0].name"
    ])
  })

  it("of a custom kind are functions of one text (R313)", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: /a/" }
    expect(translation({ tools: [{ type: "custom", name: "w", description: "Writes.", format }] }).chat.tools).toEqual([
      {
        type: "function",
        function: {
          name: "w",
          description:
            'Writes.\n\nPut the whole input as text into "input".\n\nIt must follow this lark grammar:\nstart: /a/',
          parameters: {
            type: "object",
            properties: { input: { type: "string" } },
            required: ["input"],
            additionalProperties: false
          }
        }
      }
    ])
  })

  it("that search are left out where the model cannot search together with functions (R108 R319)", () => {
    const { chat, ignored } = translation({ tools: [close, { type: "web_search", filters: {} }] })
    expect(ignored).toEqual(["tools[1].filters"])
    const named = [
      Result.getOrThrow(chatToGemini.request(chat, chatContext("gemini-2.5-flash"))).ignored,
      Result.getOrThrow(chatToGemini.request(chat, chatContext("gemini-3-pro-preview"))).ignored,
      Result.getOrThrow(chatToClaude.request(chat, chatContext("claude-sonnet-4-6", { family: "claude" }))).ignored,
      Result.getOrThrow(chatToOpenAi.request(chat, chatContext("meta/llama", { family: "openai" }))).ignored
    ]
    expect(named).toEqual([["tools[1]"], [], ["tools[1]"], ["tools[1]"]])
  })

  it("that run code are left out and named where the model runs none (R108 R321, W5)", () => {
    const { chat } = translation({ tools: [close, { type: "code_interpreter", container: { type: "auto" } }] })
    const ignoredBy = (read: Result.Result<{ readonly ignored: ReadonlyArray<string> }, RequestFault>) =>
      Result.isSuccess(read) ? read.success.ignored : read.failure
    expect([
      ignoredBy(chatToGemini.request(chat, chatContext("gemini-3-pro-preview"))),
      ignoredBy(chatToClaude.request(chat, chatContext("claude-sonnet-4-6", { family: "claude" }))),
      ignoredBy(chatToOpenAi.request(chat, chatContext("meta/llama", { family: "openai" })))
    ]).toEqual([[], ["tools[1]"], ["tools[1]"]])
  })

  it("make pictures on image models only (R322)", () => {
    const tools = [{ type: "image_generation", size: "1536x1024", quality: "high", background: "auto" }]
    const { chat, ignored } = translation({ model: "@google/gemini-2.5-flash-image", tools })
    expect([chat.modalities, chat.image_config, chat.tools, ignored]).toEqual([
      ["text", "image"],
      { aspect_ratio: "3:2" },
      undefined,
      ["tools[0].quality"]
    ])
    const plain = translation({ tools })
    expect([plain.chat.modalities, plain.chat.tools, plain.ignored]).toEqual([undefined, undefined, ["tools[0]"]])
  })

  it("without an equivalent are refused (R321 R323)", () => {
    expect(["file_search", "mcp"].map((type) => refusal({ tools: [{ type }] }))).toEqual([
      ["unsupported_tool", "tools[0].type"],
      ["unsupported_tool", "tools[0].type"]
    ])
    for (const type of ["computer_use_preview", "local_shell", "apply_patch", "tool_search", "dream"])
      expect(translation({ tools: [{ type }] }).ignored).toEqual(["tools[0]"])
    expect(refusal({ tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["f"] } }] })).toEqual([
      "unsupported_parameter",
      "tools[0].container.file_ids"
    ])
  })

  it("are chosen by their own names (R324 R325)", () => {
    const tools = [{ type: "namespace", name: "ns", tools: [close] }, { type: "web_search" }]
    const chosen = (choice: Json) => {
      const { chat, ignored } = translation({ tools, tool_choice: choice })
      return [chat.tool_choice, chat.tools?.length, ignored]
    }
    expect([
      chosen("required"),
      chosen({ type: "function", name: "close", namespace: "ns" }),
      chosen({ type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "close" }] }),
      chosen({ type: "web_search_preview" })
    ]).toEqual([
      ["required", 2, []],
      [{ type: "function", function: { name: "ns__close" } }, 2, []],
      [
        {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "ns__close" } }] }
        },
        1,
        []
      ],
      [undefined, 1, ["tool_choice"]]
    ])
    expect(
      [
        { type: "function", name: "other" },
        { type: "mcp" },
        { type: "image_generation" },
        { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "other" }] }
      ].map((choice) => refusal({ tools, tool_choice: choice }))
    ).toEqual([
      ["invalid_value", "tool_choice.name"],
      ["unsupported_tool", "tool_choice.type"],
      ["unsupported_tool", "tool_choice"],
      ["invalid_value", "tool_choice.tools[0]"]
    ])
  })
})

describe("parameters", () => {
  it("become those of a chat, or are named (R229 R303 R306 R307 R310 R329)", () => {
    const { chat, ignored, plan } = translation({
      temperature: 0.5,
      max_output_tokens: 3,
      safety_identifier: "s",
      top_logprobs: 2,
      reasoning: { summary: "auto", mode: "pro" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: {}, description: null } },
      truncation: "auto",
      client_metadata: { a: "b" },
      top_k: 4
    })
    const { messages: _messages, ...fields } = chat
    expect(fields).toEqual({
      model: "gemini-2.5-flash",
      temperature: 0.5,
      top_k: 4,
      user: "s",
      max_completion_tokens: 3,
      thinking: { type: "enabled" },
      verbosity: "low",
      response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } },
      logprobs: true,
      top_logprobs: 2
    })
    expect(ignored).toEqual(["client_metadata", "truncation", "reasoning.mode"])
    expect(["verbosity", "max_completion_tokens", "thinking", "user"].map((name) => paramOf(plan.paths, name))).toEqual(
      ["text.verbosity", "max_output_tokens", "reasoning.summary", "safety_identifier"]
    )
  })

  it("are refused by name (R301 R303 R309 R327)", () => {
    const cases: ReadonlyArray<JsonObject> = [
      { background: true },
      { conversation: "conv_1" },
      { temperature: "hot" },
      { text: { format: { type: "xml" } } },
      { model: null },
      { top_k: "many" }
    ]
    expect(cases.map(refusal)).toEqual([
      ["unsupported_parameter", "background"],
      ["unsupported_parameter", "conversation"],
      ["invalid_type", "temperature"],
      ["invalid_value", "text.format.type"],
      ["missing_required_parameter", "model"],
      ["invalid_type", "top_k"]
    ])
  })

  it("that are hints never refuse: what has no meaning is left out and named (W2)", () => {
    const { ignored, plan } = translation({
      input: "hi",
      reasoning: { summary: "long" },
      metadata: { a: 1, b: "c" },
      include: ["dreams", "reasoning.encrypted_content"],
      truncation: "sometimes"
    })
    expect([ignored, plan.echo.metadata, plan.shown.carriers, plan.shown.summaries]).toEqual([
      ["truncation", "include[0]", "metadata"],
      { b: "c" },
      true,
      true
    ])
  })

  it("of a chat that are at fault are named as the request has them (R612)", () => {
    const { plan } = translation({
      instructions: "a",
      input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }, call("1"), output("1")],
      tools: [{ type: "namespace", name: "ns", tools: [{ type: "function", name: "f" }] }]
    })
    const params = [
      "messages[0].content",
      "messages[1].content[0].image_url.url",
      "messages[2].tool_calls[0].function.arguments",
      "messages[3].tool_call_id",
      "tools[0].function.parameters",
      "response_format.json_schema.schema",
      "tool_choice.allowed_tools.tools[1].function.name",
      "temperature"
    ]
    expect(params.map((param) => paramOf(plan.paths, param))).toEqual([
      "instructions",
      "input[0].content[0].image_url",
      "input[1].arguments",
      "input[2].call_id",
      "tools[0].tools[0].parameters",
      "text.format.schema",
      "tool_choice.tools[1].name",
      "temperature"
    ])
  })
})
