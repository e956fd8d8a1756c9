// Reports about histories that came back cut, broken or out of order.
// Must not depend on the service.
import type { Row } from "../row.ts"

const user = { role: "user", content: "x" }
const call = (id: string, args: unknown, name = "get_weather") => ({
  id,
  type: "function",
  function: { name, arguments: args }
})
const calling = (...tool_calls: ReadonlyArray<unknown>) => ({ role: "assistant", content: null, tool_calls })
const result = (tool_call_id: string, content: string, fields: object = {}) => ({
  role: "tool",
  tool_call_id,
  content,
  ...fields
})
const flash = "@d/gemini-2.5-flash"
const sonnet = "@p/claude-sonnet-4-5"
const llama = "@p/meta/llama-4-maverick-17b-128e-instruct-maas"
const cut = '{"city": "Par'
const missing = "No result was returned; see the next message."

const geminiCalls = (...args: ReadonlyArray<object>) => ({
  role: "model",
  parts: args.map((one) => ({ functionCall: { name: "get_weather", args: one } }))
})
const geminiResults = (...outputs: ReadonlyArray<string>) => ({
  role: "user",
  parts: outputs.map((output) => ({ functionResponse: { name: "get_weather", response: { output } } }))
})
const geminiUser = (...texts: ReadonlyArray<string>) => ({ role: "user", parts: texts.map((text) => ({ text })) })
const claudeBody = (...messages: ReadonlyArray<object>) => ({
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 32_000,
  messages: [{ role: "user", content: [{ type: "text", text: "x" }] }, ...messages],
  tools: [{ name: "get_weather", input_schema: { type: "object" } }],
  tool_choice: { type: "none" }
})
const claudeTurn = (input: object, content: string) => [
  { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "get_weather", input }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content }] }
]
const openBody = (...messages: ReadonlyArray<object>) => ({
  model: "meta/llama-4-maverick-17b-128e-instruct-maas",
  messages
})
const turns = { "x-gateway-adjusted-params": "messages=turns>repaired" }
const args = { "x-gateway-adjusted-params": "messages=arguments>repaired" }
const openCall = (given: unknown) => ({ role: "assistant", tool_calls: [call("c1", given)], content: null })

const thought = "Paris is in France."
const spoken = { role: "assistant", content: "18 degrees" }
const talk = (model: string, turn: object) => ({
  model,
  messages: [user, turn, { role: "user", content: "and now?" }]
})
const reasoned = (id: string, title: string, model: string, turn: object, sent: object): Row => ({
  id,
  kind: "W29",
  title,
  body: talk(`@p/${model}`, { ...spoken, ...turn }),
  expected: { sent: [talk(model, sent)] }
})
const kimi = "moonshotai/kimi-k2-thinking-maas"
const qwen = "qwen/qwen3-next-80b-a3b-thinking-maas"
const back = { ...spoken, reasoning_content: thought }

const reasoning: ReadonlyArray<Row> = [
  reasoned("W29-1", "reasoning_content goes back to Kimi", kimi, { reasoning_content: thought }, back),
  reasoned("W29-2", "reasoning goes back to DeepSeek", "deepseek-ai/deepseek-v3.2-maas", { reasoning: thought }, back),
  reasoned("W29-3", "thinking goes back to GLM", "zai-org/glm-4.7-maas", { thinking: thought }, back),
  reasoned(
    "W29-4",
    "a thinking part goes back to gpt-oss",
    "openai/gpt-oss-120b-maas",
    {
      content: [
        { type: "thinking", thinking: thought },
        { type: "text", text: "18 degrees" }
      ]
    },
    { role: "assistant", content: [{ type: "text", text: "18 degrees" }], reasoning_content: thought }
  ),
  reasoned("W29-5", "Qwen gets no reasoning back", qwen, { reasoning_content: thought, reasoning: thought }, spoken),
  {
    id: "W29-6",
    kind: "W29",
    title: "reasoning of an open model does not reach Gemini",
    body: talk(flash, { ...spoken, reasoning_content: thought }),
    expected: {
      sent: [
        {
          contents: [
            { role: "user", parts: [{ text: "x" }] },
            { role: "model", parts: [{ text: "18 degrees" }] },
            { role: "user", parts: [{ text: "and now?" }] }
          ]
        }
      ]
    }
  }
]

export const history: ReadonlyArray<Row> = [
  ...reasoning,
  {
    id: "RB10",
    kind: "W27",
    title: "a call that was cut goes back to Claude as text in an object",
    body: { model: sonnet, messages: [user, calling(call("c1", cut)), result("c1", "20")] },
    expected: { sent: [claudeBody(...claudeTurn({ _raw: cut }, "20"))], headers: args }
  },
  {
    id: "W27-1",
    kind: "W27",
    title: "a call that was cut goes back to Gemini as text in an object",
    body: { model: flash, messages: [user, calling(call("c1", cut)), result("c1", "20")] },
    expected: {
      sent: [{ contents: [geminiUser("x"), geminiCalls({ _raw: cut }), geminiResults("20")] }],
      headers: args
    }
  },
  {
    id: "W27-2",
    kind: "W27",
    title: "a call that was cut goes back to an open model as it is, on the Responses route",
    path: "/v1/responses",
    body: {
      model: llama,
      store: false,
      input: [
        user,
        { type: "function_call", call_id: "c1", name: "get_weather", arguments: cut, status: "incomplete" },
        { type: "function_call_output", call_id: "c1", output: "20" }
      ]
    },
    expected: { sent: [openBody(user, openCall(cut), result("c1", "20"))] }
  },
  {
    id: "W27-3",
    kind: "W27",
    title: "arguments with single quotes, or encoded twice, are read",
    body: {
      model: flash,
      messages: [
        user,
        calling(call("c1", "{'city': 'Paris',}"), call("c2", JSON.stringify('{"city":"Rome"}'))),
        result("c1", "20"),
        result("c2", "30")
      ]
    },
    expected: {
      sent: [
        { contents: [geminiUser("x"), geminiCalls({ city: "Paris" }, { city: "Rome" }), geminiResults("20", "30")] }
      ],
      headers: args
    }
  },
  {
    id: "RB42",
    kind: "W28",
    title: "a result under another name than its call has the call's",
    body: {
      model: flash,
      messages: [user, calling(call("call_1", "{}")), result("call_1", "20", { name: "call_1" })]
    },
    expected: {
      sent: [{ contents: [geminiUser("x"), geminiCalls({}), geminiResults("20")] }],
      headers: { "x-gateway-adjusted-params": null }
    }
  },
  {
    id: "W28-1",
    kind: "W28",
    title: "for Claude a result without a call is text, and a call without a result gets one",
    body: { model: sonnet, messages: [user, calling(call("c1", "{}")), result("c9", "20"), user] },
    expected: {
      sent: [
        claudeBody(claudeTurn({}, "")[0] ?? {}, {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: missing },
            { type: "text", text: "Result of c9:\n20" },
            { type: "text", text: "x" }
          ]
        })
      ],
      headers: turns
    }
  },
  {
    id: "W28-2",
    kind: "W28",
    title: "for an open model a result before its call follows it, and a turn that came twice counts once",
    body: {
      model: llama,
      messages: [user, result("c1", "20"), openCall("{}"), openCall("{}"), user, { role: "user", content: null }]
    },
    expected: { sent: [openBody(user, openCall("{}"), result("c1", "20"), user)], headers: turns }
  },
  {
    id: "W28-3",
    kind: "W28",
    title: "a client that wants nothing bent is refused",
    headers: { "x-gateway-unsupported-params": "reject" },
    body: { model: flash, messages: [user, result("c9", "20")] },
    expected: {
      status: 400,
      sent: [],
      answer: {
        error: {
          message:
            "messages has calls without results, results without calls or turns without content, and the request asked for refusal of such messages.",
          type: "invalid_request_error",
          param: "messages",
          code: "invalid_value"
        }
      }
    }
  },
  {
    id: "RB16",
    kind: "W32",
    title: "the system text of an image model leads the first user turn",
    body: {
      model: "@d/gemini-2.5-flash-image",
      messages: [{ role: "system", content: "Be kind." }, user],
      modalities: ["text", "image"]
    },
    expected: {
      sent: [{ contents: [geminiUser("Be kind.", "x")], generationConfig: { responseModalities: ["TEXT", "IMAGE"] } }]
    }
  },
  {
    id: "RB45",
    kind: "W1",
    title: "thinking asked for in a tool loop without thinking blocks is left out and named",
    body: {
      model: sonnet,
      reasoning_effort: "high",
      messages: [user, calling(call("c1", "{}")), result("c1", "20")]
    },
    expected: {
      sent: [claudeBody(...claudeTurn({}, "20"))],
      headers: { "x-gateway-ignored-params": "reasoning_effort", "x-gateway-adjusted-params": null }
    }
  }
]
