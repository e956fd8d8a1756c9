// Tests malformed members of an upstream's answer: a 502 before the first byte, an error frame after it.
// Must not reach the network: upstreams are scripted.
import { describe, expect, it } from "vitest"
import { gatewayOfFile, replying } from "../support/scripted.ts"

const over = gatewayOfFile()

const error = (message: string) => ({
  error: { message, type: "api_error", param: null, code: "upstream_bad_response" }
})
const vectors = (inputs: number, found: number) =>
  error(`The upstream answered ${inputs} ${inputs === 1 ? "input" : "inputs"} with ${found} usable vectors. Try again.`)
const call = error(
  "The upstream answered with a tool call that has no name, or whose arguments are not an object. Try again."
)

/** Text of JSON, for numbers that `JSON.stringify` cannot write. */
const raw = (text: string) => JSON.rawJSON(text)
const bad: ReadonlyArray<readonly [string, unknown]> = [
  ["a word", [0.1, "seven", 0.2]],
  ["digits in text", [0.1, 0.2, "7"]],
  ["1e999", [0.1, raw("1e999")]],
  ["-1e999", [raw("-1e999"), 0.1]],
  ["more than a 32-bit float holds", [0.1, 1e39]],
  ["null", [0.1, null, 0.2]],
  ["a list", [0.1, [0.2]]],
  ["a long integer", [0.1, raw("12345678901234567890")]],
  ["no number", []],
  ["text", "AACAPw=="],
  ["null in its place", null]
]

describe("malformed vectors", () => {
  const good = [0.5, 0.25]
  const dialects: ReadonlyArray<
    readonly [string, object, inputs: number, found: number, reply: (vector: unknown) => unknown]
  > = [
    [
      "batchEmbedContents",
      { model: "@google/gemini-embedding-001", input: ["a", "b"] },
      2,
      1,
      (values) => ({ embeddings: [{ values: good }, { values }] })
    ],
    [
      "embedContent",
      { model: "@vertex-ai/gemini-embedding-2", input: "a" },
      1,
      0,
      (values) => ({ embedding: { values } })
    ],
    [
      "predict",
      { model: "@vertex-ai/text-embedding-005", input: ["a", "b"] },
      2,
      1,
      (values) => ({ predictions: [{ embeddings: { values } }, { embeddings: { values: good } }] })
    ],
    [
      "OpenAI's dialect",
      { model: "@vertex-ai/endpoints.123", input: ["a", "b"] },
      2,
      1,
      (values) => ({
        data: [
          { embedding: values, index: 0 },
          { embedding: good, index: 1 }
        ]
      })
    ],
    [
      "a text of several media",
      { model: "@vertex-ai/multimodalembedding@001", input: "a" },
      1,
      0,
      (values) => ({ predictions: [{ textEmbedding: values }] })
    ],
    [
      "a picture beside a text",
      { model: "@vertex-ai/multimodalembedding@001", input: "a" },
      1,
      0,
      (values) => ({ predictions: [{ textEmbedding: good, imageEmbedding: values }] })
    ],
    [
      "a stretch of a video",
      { model: "@vertex-ai/multimodalembedding@001", input: "a" },
      1,
      0,
      (values) => ({
        predictions: [
          { textEmbedding: good, videoEmbeddings: [{ embedding: good, startOffsetSec: 0 }, { embedding: values }] }
        ]
      })
    ]
  ]
  it.each(dialects)(
    "malformed replies: a vector with anything but numbers is a 502 in both encodings: %s (T2312)",
    async (name, body, inputs, found, reply) => {
      let vector: unknown = good
      const { post } = over(() => replying(reply(vector)))
      expect((await post("/v1/embeddings", body)).status).toBe(200)
      for (const [what, malformed] of bad) {
        // A picture that is not there is none.
        if (name === "a picture beside a text" && malformed === null) continue
        vector = malformed
        for (const encoding_format of ["float", "base64"]) {
          const answer = await post("/v1/embeddings", { ...body, encoding_format })
          expect([what, answer.status, await answer.json()]).toEqual([what, 502, vectors(inputs, found)])
        }
      }
    }
  )

  it("malformed replies: a number of vectors other than that of inputs is a 502 (T1512)", async () => {
    const { post } = over(() => replying({ embeddings: [{ values: good }] }))
    const answer = await post("/v1/embeddings", { model: "@google/gemini-embedding-001", input: ["a", "b"] })
    expect([answer.status, await answer.json()]).toEqual([502, vectors(2, 1)])
  })
})

const messages = [{ role: "user", content: "Hi" }]
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }]
const events = (...all: ReadonlyArray<object>) => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")

const claude = "@vertex-ai/anthropic.claude-sonnet-4-5"
const claudeWhole = (block: object) => ({
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "a" }, block],
  stop_reason: "tool_use",
  usage: {}
})
const claudeStart = { type: "message_start", message: { model: "m", usage: {} } }
const claudeText = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
  { type: "content_block_stop", index: 0 }
]
const claudeBlock = (content_block: object) => ({ type: "content_block_start", index: 1, content_block })
const used = { type: "tool_use", id: "toolu_1", name: "f", input: {} }

const gemini = "@google/gemini-2.5-flash"
const geminiOf = (...parts: ReadonlyArray<object>) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }]
})

const llama = "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas"
const llamaWhole = (message: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "tool_calls" }]
})
const llamaPart = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }]
})

describe("malformed tool calls", () => {
  it.each<readonly [string, string, object]>([
    ["Claude: no name", claude, claudeWhole({ type: "tool_use", id: "toolu_1", input: {} })],
    ["Claude: an empty name", claude, claudeWhole({ ...used, name: "" })],
    ["Claude: a name that is a number", claude, claudeWhole({ ...used, name: 5 })],
    ["Claude: input that is text", claude, claudeWhole({ ...used, input: "{}" })],
    ["Claude: input that is a list", claude, claudeWhole({ ...used, input: [1] })],
    ["Gemini: no name", gemini, geminiOf({ text: "a" }, { functionCall: { args: { a: 1 } } })],
    ["Gemini: an empty name", gemini, geminiOf({ functionCall: { name: "", args: {} } })],
    ["Gemini: an id and no name", gemini, geminiOf({ functionCall: { id: "1" } })],
    ["Gemini: args that are text", gemini, geminiOf({ functionCall: { name: "f", args: "{}" } })],
    [
      "OpenAI: no name",
      llama,
      llamaWhole({ tool_calls: [{ id: "c", type: "function", function: { arguments: "{}" } }] })
    ],
    [
      "OpenAI: an empty name",
      llama,
      llamaWhole({ tool_calls: [{ id: "c", type: "function", function: { name: "", arguments: "{}" } }] })
    ],
    [
      "OpenAI: no function",
      llama,
      llamaWhole({
        tool_calls: [
          { id: "c", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "d", type: "function" }
        ]
      })
    ],
    ["OpenAI: a legacy call without a name", llama, llamaWhole({ function_call: { arguments: "{}" } })]
  ])("malformed replies: a tool call is a 502: %s (T2312)", async (_name, model, reply) => {
    const answer = await over(() => replying(reply)).post("/v1/chat/completions", { model, messages, tools })
    expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
      502,
      "application/json",
      call
    ])
  })

  const streamed = (text: string, model: string) =>
    over(() => ({ status: 200, headers: { "content-type": "text/event-stream" }, chunks: [text] })).post(
      "/v1/chat/completions",
      { model, messages, tools, stream: true }
    )

  it.each<readonly [string, string, string]>([
    ["Claude", claude, events(claudeStart, { ...claudeBlock({ ...used, name: null }), index: 0 })],
    ["Gemini", gemini, events(geminiOf({ functionCall: { args: { a: 1 } } }))]
  ])(
    "malformed replies: a tool call in the first event of a stream is a 502: %s (T1317)",
    async (_name, model, text) => {
      const answer = await streamed(text, model)
      expect([answer.status, await answer.json()]).toEqual([502, call])
    }
  )

  it.each<readonly [string, string, string]>([
    [
      "Claude: no name",
      claude,
      events(claudeStart, ...claudeText, claudeBlock({ ...used, name: undefined }), { type: "message_stop" })
    ],
    [
      "Claude: pieces that are no text",
      claude,
      events(claudeStart, ...claudeText, claudeBlock(used), {
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json: {} }
      })
    ],
    ["Gemini: no name", gemini, events(geminiOf({ text: "a" })) + events(geminiOf({ functionCall: { args: {} } }))],
    [
      "OpenAI: no name",
      llama,
      events(
        llamaPart({ content: "a" }),
        llamaPart({ tool_calls: [{ index: 0, id: "c", function: { arguments: "{}" } }] }),
        llamaPart({}, "tool_calls")
      )
    ],
    [
      "OpenAI: a legacy call without a name",
      llama,
      events(llamaPart({ content: "a" }), llamaPart({ function_call: { arguments: "{}" } }, "function_call"))
    ]
  ])(
    "malformed replies: a tool call later in a stream is an error frame without [DONE]: %s (T1318)",
    async (_name, model, text) => {
      const answer = await streamed(text, model)
      const frames = (await answer.text()).split("\n\n").filter((frame) => frame !== "")
      expect([answer.status, JSON.parse(frames.at(-1)?.slice("data: ".length) ?? "null")]).toEqual([200, call])
      expect(frames.filter((frame) => frame.includes('"error"') || frame.includes("[DONE]")).length).toBe(1)
    }
  )

  it("malformed replies: tool calls without id or input, empty next to text, or with a late name, pass", async () => {
    const status = async (reply: object, model: string) =>
      (await over(() => replying(reply)).post("/v1/chat/completions", { model, messages, tools })).status
    expect(await status(claudeWhole({ type: "tool_use", name: "f" }), claude)).toBe(200)
    expect(await status(geminiOf({ text: "a" }, { functionCall: {} }), gemini)).toBe(200)
    expect(await status(llamaWhole({ tool_calls: [{ function: { name: "f" } }] }), llama)).toBe(200)
    const later = await streamed(
      events(
        llamaPart({ tool_calls: [{ index: 0, id: "c" }] }),
        llamaPart({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] }),
        llamaPart({}, "tool_calls")
      ),
      llama
    )
    expect((await later.text()).endsWith("data: [DONE]\n\n")).toBe(true)
  })
})
