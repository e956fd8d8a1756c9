// Tests that random streams of the dialects give the same chunks, counts and failures wherever their bytes are cut.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { chatToClaude } from "../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { readStream } from "../../src/translate/StreamReader.ts"
import type { TranslateContext, Translator } from "../../src/translate/Translator.ts"
import { prepare } from "../../src/upstream/Prepared.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest } from "../support/chat.ts"
import { runs } from "../support/release.ts"
import { bytesOf, cutAt } from "../support/streams.ts"

const limits = { eventBytes: 100_000 }

const sse = (events: ReadonlyArray<string>): Uint8Array =>
  bytesOf(events.map((data) => `data: ${data}\r\n\r\n`).join(""))

interface Asked {
  readonly context: TranslateContext
  readonly logprobs: boolean
}

/** What the gateway makes of a stream: its chunks, how it ends, and its counts. */
const read = <Body, Reply, Event, Out, Chunk, State>(
  translator: Translator<ChatRequest, Body, Reply, Event, Out, Chunk, State>,
  { context, logprobs }: Asked,
  pieces: ReadonlyArray<Uint8Array>
) => {
  const prepared = Result.getOrThrow(
    prepare({
      translator,
      request: chatRequest([{ role: "user", content: "hi" }], { max_tokens: 9, logprobs }),
      context,
      target: { slug: "x", kind: "google", modelId: "m", operation: "chat", optionIndex: 0, issuer: "gemini/google" },
      url: "https://example.com/v1",
      headers: {},
      origin: "stored",
      limits
    })
  )
  const reader = prepared.chunks({})
  const out = readStream(reader, pieces)
  return { out, usage: reader.usage(), next: reader.next()?.token }
}

/** JSON as different servers print it. */
const print = (value: Json | undefined, blank: string, escape: (text: string) => string): string => {
  if (typeof value === "string") return escape(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  const inner = (one: Json | undefined) => print(one, blank, escape)
  return Array.isArray(value)
    ? `[${value.map(inner).join(`,${blank}`)}]`
    : `{${Object.entries(value)
        .map(([name, one]) => `${JSON.stringify(name)}:${blank}${inner(one)}`)
        .join(`,${blank}`)}}`
}

const plain = (text: string): string => JSON.stringify(text)
const escaped = (text: string): string =>
  `"${[...text].flatMap((letter) => letter.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)).join("")}"`
/** Not JSON when the text has a line feed, a quote or a backslash. */
const raw = (text: string): string => `"${text.replace(/[\r\n]/g, "\t")}"`

const style = fc.constantFrom(
  { blank: "", escape: plain },
  { blank: " ", escape: plain },
  { blank: "", escape: escaped },
  { blank: " ", escape: plain },
  { blank: "", escape: plain }
)
const rawStyle = fc.constantFrom({ blank: "", escape: plain }, { blank: "", escape: plain }, { blank: "", escape: raw })

const word = fc.string({
  unit: fc.constantFrom("a", "bc", "é", "漢", "🐎", "\n", '"', "\\", "\t", ' "text":"', "}", "\u2028", "\ud83d"),
  maxLength: 6
})

type Form = (text: string, n: number) => JsonObject

const candidate = (part: JsonObject, rest: JsonObject = {}): JsonObject => ({
  content: { parts: [part], role: "model" },
  ...rest
})
const usage = (n: number): JsonObject => ({ promptTokenCount: 7, candidatesTokenCount: n, totalTokenCount: 7 + n })

const geminiForms: ReadonlyArray<Form> = [
  (text) => ({ candidates: [candidate({ text })], modelVersion: "gemini" }),
  (text, n) => ({ candidates: [candidate({ text }, { index: 0 })], usageMetadata: usage(n), modelVersion: "gemini" }),
  (text, n) => ({
    candidates: [candidate({ text })],
    usageMetadata: { ...usage(10 ** (n % 17)), promptTokensDetails: [{ modality: "TEXT", tokenCount: n }], note: "1" },
    responseId: "r"
  }),
  (text, n) => ({ usageMetadata: usage(n), candidates: [candidate({ text })] }),
  (text, n) => ({ candidates: [candidate({ text, thought: true })], usageMetadata: { thoughtsTokenCount: n } }),
  (text) => ({ candidates: [candidate({ text, thoughtSignature: "c2ln" })] }),
  (text) => ({ candidates: [candidate({ thought: true, text, thoughtSignature: text })] }),
  (text, n) => ({ candidates: [candidate({ text }, { index: n % 2 })] }),
  (text) => ({ candidates: [candidate({ text }, { index: 1 })] }),
  (text) => ({ candidates: [candidate({ text }), candidate({ text: "other" }, { index: 1 })] }),
  (text) => ({ candidates: [{ content: { parts: [{ text }, { text: "more" }], role: "model" } }] }),
  (text, n) => ({
    candidates: [{ content: { parts: [{ text }, { functionCall: { name: "f", args: { usageMetadata: { n } } } }] } }]
  }),
  (text, n) => ({ candidates: [candidate({ functionCall: { name: "f", args: { text, n } } })] }),
  (text, n) => ({ candidates: [candidate({ text }, { citationMetadata: { citations: [{ startIndex: n }] } })] }),
  (text) => ({
    candidates: [
      candidate({ text }, { citationMetadata: { citations: [{ uri: "https://example.com", endIndex: 3 }] } })
    ]
  }),
  (text, n) => ({
    candidates: [candidate({ text }, { groundingMetadata: { usageMetadata: { n } }, avgLogprobs: -0.5 })]
  }),
  (text) => ({
    candidates: [
      candidate(
        { text },
        { logprobsResult: { chosenCandidates: [{ token: "a", logProbability: -1 }], topCandidates: [] } }
      )
    ]
  }),
  (text) => ({ note: { text: "x" }, candidates: [candidate({ text })] }),
  (text) => ({ note: '{"text":"x"}', candidates: [candidate({ text })] }),
  (text) => ({ note: { text }, candidates: [candidate({ text: "fixed" })] }),
  (text) => ({ candidates: [candidate({ text })], promptFeedback: { safetyRatings: [{ score: 1 }] } }),
  (text) => ({ candidates: [candidate({ text }, { finishReason: "STOP" })] }),
  (text, n) => ({ candidates: [candidate({ text }, { finishReason: "CONTINUATION", continuationToken: `t${n}` })] }),
  (text) => ({ candidates: [candidate({ text }, { finishMessage: text })] }),
  (text) => ({ candidates: [candidate({ text })], modelVersion: text }),
  (_text, n) => ({ candidates: [candidate({ text: n })] }),
  () => ({
    candidates: [{ finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 7, cachedContentTokenCount: 2 }
  }),
  (text) => ({ error: { code: 500, status: "INTERNAL", message: text } }),
  (text) => ({ candidates: [candidate({ text })], error: null })
]

const block = (delta: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: "content_block_delta",
  index: 0,
  delta,
  ...rest
})
const begin = (content_block: JsonObject): JsonObject => ({ type: "content_block_start", index: 0, content_block })

const claudeForms: ReadonlyArray<Form> = [
  (text) => block({ type: "text_delta", text }),
  (text, n) => block({ type: "text_delta", text }, { usage: { output_tokens: n } }),
  () => begin({ type: "text", text: "" }),
  (text) => ({ delta: { type: "text_delta", text }, ...begin({ type: "text", text: "y" }) }),
  (text) => begin({ type: "text", text }),
  (thinking) => block({ type: "thinking_delta", thinking }),
  () => begin({ type: "thinking", thinking: "" }),
  (text) => block({ type: "signature_delta", signature: text, text }),
  () => begin({ type: "tool_use", id: "t", name: "f", input: {} }),
  (text) => block({ type: "input_json_delta", partial_json: text }),
  (text) => block({ type: "input_json_delta", partial_json: "{}", text }),
  (text, n) => block({ type: "text_delta", text }, { index: n % 2 }),
  (text) => block({ type: "text_delta", text }, { index: null }),
  (text) => block({ type: "citations_delta", text, citation: { title: text } }),
  () => ({ type: "content_block_stop", index: 0 }),
  (text, n) => ({ type: "message_start", message: { model: text, usage: { input_tokens: n } } }),
  (text, n) => ({ type: "message_delta", delta: { stop_reason: "end_turn", text }, usage: { output_tokens: n } }),
  () => ({ type: "message_stop" }),
  (text) => ({ type: "ping", delta: { text } }),
  (text) => ({ type: "error", delta: { text }, error: { type: "overloaded_error", message: text } }),
  (text) => ({ delta: { text }, error: { code: 500, message: "broken" } }),
  (text) => ({ delta: { text } })
]

const chunk = (delta: JsonObject, rest: JsonObject = {}, top: JsonObject = {}): JsonObject => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
  ...top
})

const openAiForms: ReadonlyArray<Form> = [
  (content) => chunk({ content }),
  (content, n) => chunk({ content }, {}, { usage: { prompt_tokens: 2, completion_tokens: n, total_tokens: n + 2 } }),
  (content) => chunk({ role: "assistant", content }, { logprobs: null }, { usage: null }),
  (content) => chunk({ content }, { index: 1 }),
  (content, n) => chunk({ content }, {}, { note: n }),
  (content, n) => chunk({ content }, { usage: { n } }),
  (content) => chunk({ content, reasoning_content: "so" }),
  (content) => chunk({ content, refusal: content }),
  (content) => chunk({ content, tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "{}" } }] }),
  (content) => chunk({ content }, { finish_reason: "stop" }),
  (content) => chunk({ content }, { finish_reason: "error" }),
  (content) => chunk({ content }, { logprobs: { content: [{ token: "a", logprob: -1 }] } }),
  (content) => ({ choices: [{ message: { content }, delta: { content } }] }),
  (content) => ({ ...chunk({ content }), error: { message: "broken" } }),
  (content) => ({ ...chunk({ content }), error: null, system_fingerprint: "f" }),
  (content) => chunk({ content: [{ text: content }] }),
  (_content, n) => chunk({ content: n })
]

interface Dialect {
  readonly begins: ReadonlyArray<JsonObject>
  readonly forms: ReadonlyArray<Form>
  readonly ends: ReadonlyArray<JsonObject>
}

const sources: JsonObject = {
  groundingChunks: [{ web: { uri: "https://example.com", title: "t" } }],
  groundingSupports: [{ segment: { startIndex: 9, endIndex: 30 }, groundingChunkIndices: [0] }]
}

const gemini: Dialect = {
  begins: [{ candidates: [candidate({ text: "x" })] }],
  forms: geminiForms,
  ends: [
    { candidates: [{ finishReason: "STOP", groundingMetadata: sources }], usageMetadata: { promptTokenCount: 9 } },
    { candidates: [{ finishReason: "OTHER", finishMessage: "why" }] }
  ]
}
const claude: Dialect = {
  begins: [{ type: "message_start", message: { model: "claude" } }, begin({ type: "text", text: "" })],
  forms: claudeForms,
  ends: [
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
    { type: "message_stop" }
  ]
}
const openAi: Dialect = {
  begins: [chunk({ role: "assistant", content: "" })],
  forms: openAiForms,
  ends: [chunk({}, { finish_reason: "stop" })]
}

/** Events of one form and one style. */
const runOf = (forms: ReadonlyArray<Form>) =>
  fc
    .tuple(
      fc.oneof({ weight: 1, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(forms.length - 1) }),
      fc.oneof({ weight: 6, arbitrary: style }, { weight: 1, arbitrary: rawStyle }),
      fc.array(fc.tuple(word, fc.nat(2_000)), { minLength: 1, maxLength: 8 })
    )
    .map(([at, { blank, escape }, events]) =>
      events.map(([text, n]) => print(forms[at]?.(text, n) ?? {}, blank, escape))
    )

const streamOf = ({ begins, ends, forms }: Dialect) =>
  fc
    .tuple(fc.boolean(), fc.array(runOf(forms), { minLength: 1, maxLength: 5 }), fc.nat(ends.length))
    .map(([isBegun, runs, end]) => [
      ...(isBegun ? begins : []).map((event) => JSON.stringify(event)),
      ...runs.flat(),
      ...ends.slice(end).map((event) => JSON.stringify(event))
    ])

const strict: Asked = { context: chatContext("gemini-2.5-flash", { strict: true }), logprobs: false }
const asked: ReadonlyArray<Asked> = [
  strict,
  { context: chatContext(), logprobs: false },
  { context: strict.context, logprobs: true },
  { context: { ...strict.context, ordered: true }, logprobs: false }
]

/** `cut` are the bytes of `whole` in pieces. */
type Compare = (one: Asked, cut: ReadonlyArray<Uint8Array>, whole: ReadonlyArray<Uint8Array>) => void

const checkStreams = (dialect: Dialect, compare: Compare): void =>
  fc.assert(
    fc.property(streamOf(dialect), fc.constantFrom(...asked), fc.nat(3_000), (events, one, at) => {
      const bytes = sse(events)
      compare(one, cutAt(bytes, at % bytes.length), [bytes])
      compare(
        one,
        events.map((event) => sse([event])),
        [bytes]
      )
    }),
    { numRuns: runs(1_000) }
  )

describe("random streams", () => {
  it("random Gemini streams give the same chunks, counts and failures wherever they are cut (L6)", () =>
    checkStreams(gemini, (one, cut, whole) =>
      expect(read(chatToGemini, one, cut)).toStrictEqual(read(chatToGemini, one, whole))
    ))
  it("random Claude streams give the same chunks, counts and failures wherever they are cut (L6)", () =>
    checkStreams(claude, (one, cut, whole) =>
      expect(read(chatToClaude, one, cut)).toStrictEqual(read(chatToClaude, one, whole))
    ))
  it("random OpenAI streams give the same chunks, counts and failures wherever they are cut (L6)", () =>
    checkStreams(openAi, (one, cut, whole) =>
      expect(read(chatToOpenAi, one, cut)).toStrictEqual(read(chatToOpenAi, one, whole))
    ))

  it("events after others of the same form: what is no JSON string or integer fails as it does alone (L6)", () => {
    const print0 = (text: string) => JSON.stringify(geminiForms[1]?.(text, 1))
    const before = ["a", "b", "c"].map(print0)
    for (const last of [
      print0("d").replace('"d"', '"\t"'),
      print0("d").replace('"d"', '"\\x"'),
      `${print0("d")}}`,
      print0("d").replace('"candidatesTokenCount":1', '"candidatesTokenCount":01'),
      print0("d").replace('"candidatesTokenCount":1', '"candidatesTokenCount":')
    ]) {
      const whole = read(chatToGemini, strict, [sse([...before, last, last])])
      expect(whole.out.at(-1)).toStrictEqual({
        _tag: "StreamFailed",
        reason: { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." }
      })
      expect(read(chatToGemini, strict, [sse([last])]).out).toStrictEqual(whole.out.slice(-1))
    }
  })
})
