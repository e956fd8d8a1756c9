// Reports about /v1/messages: OpenAI's words in Anthropic's bodies.
// Must not depend on the service.
import type { Row } from "../row.ts"

const model = "@p/claude-sonnet-4-5"
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const nested = { type: "function", function: { name: "read_file", description: "r", parameters: schema } }
const bare = { name: "read_file", description: "r", input_schema: schema }
const version = "vertex-2023-10-16"
const call = (id: string) => ({ id, type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } })

export const openAiWords: ReadonlyArray<Row> = [
  {
    id: "W39-20",
    kind: "W39",
    title: "OpenAI's tools, calls, results and system text reach Claude as Anthropic's",
    path: "/v1/messages",
    body: {
      model,
      max_completion_tokens: 10,
      stop: "END",
      tools: [nested, { ...bare, name: "other" }],
      tool_choice: "required",
      parallel_tool_calls: false,
      messages: [
        { role: "system", content: "S" },
        { role: "user", content: "hi" },
        { role: "assistant", content: "I look.", tool_calls: [call("t1"), call("t2")] },
        { role: "tool", tool_call_id: "t1", content: "x" },
        { role: "tool", tool_call_id: "t2", content: [{ type: "text", text: "y" }] },
        { role: "user", content: "go on" }
      ]
    },
    expected: {
      sent: [
        {
          tools: [bare, { ...bare, name: "other" }],
          tool_choice: { type: "any", disable_parallel_tool_use: true },
          messages: [
            { role: "user", content: "hi" },
            {
              role: "assistant",
              content: [
                { type: "text", text: "I look." },
                { type: "tool_use", id: "t1", name: "read_file", input: { path: "a" } },
                { type: "tool_use", id: "t2", name: "read_file", input: { path: "a" } }
              ]
            },
            {
              role: "user",
              content: [
                { type: "tool_result", tool_use_id: "t1", content: "x" },
                { type: "tool_result", tool_use_id: "t2", content: [{ type: "text", text: "y" }] }
              ]
            },
            { role: "user", content: "go on" }
          ],
          system: [{ type: "text", text: "S" }],
          max_tokens: 10,
          stop_sequences: ["END"],
          anthropic_version: version
        }
      ]
    }
  },
  {
    id: "W39-21",
    kind: "W39",
    title: "OpenAI's picture and named choice reach Claude as Anthropic's",
    path: "/v1/messages",
    body: {
      model,
      max_tokens: 10,
      tools: [{ type: "function", name: "read_file", parameters: schema }],
      tool_choice: { type: "function", function: { name: "read_file" } },
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
            { type: "text", text: "x" }
          ]
        }
      ]
    },
    expected: {
      sent: [
        {
          max_tokens: 10,
          tools: [{ name: "read_file", input_schema: schema }],
          tool_choice: { type: "tool", name: "read_file" },
          messages: [
            {
              role: "user",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
                { type: "text", text: "x" }
              ]
            }
          ],
          anthropic_version: version
        }
      ]
    }
  },
  {
    id: "W39-22",
    kind: "W39",
    title: "the count of tokens reads OpenAI's tools too",
    path: "/v1/messages/count_tokens",
    body: { model, tools: [nested], messages: [{ role: "user", content: "hi" }] },
    upstream: [{ status: 200, body: { input_tokens: 3 } }],
    expected: {
      sent: [
        {
          model: "claude-sonnet-4-5",
          tools: [bare],
          messages: [{ role: "user", content: "hi" }],
          anthropic_version: version
        }
      ],
      answer: { input_tokens: 3 }
    }
  }
]
