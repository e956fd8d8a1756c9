// Sound answers of the simulated provider in every dialect, with the counts that it bills.
// Must not know faults or sockets.

/** What the provider bills for one answer. */
export interface Counts {
  readonly input: number
  readonly output: number
}

export interface Answer {
  readonly contentType: string
  /** Events of a stream, each with its end; or one whole body. */
  readonly pieces: ReadonlyArray<string>
  readonly isStream: boolean
  /** What these events are worth where the stream ends after so many of them. */
  readonly counts: Counts
}

const json = "application/json; charset=UTF-8"
const events = "text/event-stream"
const words = ["The tide ", "follows ", "the moon, ", "smörgås ", "🙂 and so on."]

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`

const geminiPart = (text: string, { input, output }: Counts, finish?: string) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ text }] },
      index: 0,
      ...(finish === undefined ? {} : { finishReason: finish })
    }
  ],
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
  modelVersion: "gemini-2.5-flash",
  responseId: "reliability"
})

const geminiEvents = (counts: Counts): ReadonlyArray<object> =>
  words.map((text, at) => geminiPart(text, counts, at === words.length - 1 ? "STOP" : undefined))

const claudeMessage = ({ input, output }: Counts) => ({
  id: "msg_reliability",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: words.join("") }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: input, output_tokens: output }
})

interface ClaudeEvent {
  readonly type: string
  readonly [member: string]: unknown
}

const claudeEvents = ({ input, output }: Counts): ReadonlyArray<ClaudeEvent> => [
  {
    type: "message_start",
    message: {
      ...claudeMessage({ input, output: 1 }),
      content: [],
      stop_reason: null
    }
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ...words.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: output }
  },
  { type: "message_stop" }
]

const openAiUsage = ({ input, output }: Counts) => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
})
const openAiHead = { id: "reliability", created: 1_800_000_000, model: "meta/llama-3.3-70b-instruct-maas" }
const openAiReply = (counts: Counts) => ({
  ...openAiHead,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: words.join("") }, finish_reason: "stop" }],
  ...openAiUsage(counts)
})
const openAiEvents = (counts: Counts): ReadonlyArray<string> => [
  ...words.map((content, at) =>
    data({
      ...openAiHead,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content }, finish_reason: at === words.length - 1 ? "stop" : null }]
    })
  ),
  data({ ...openAiHead, object: "chat.completion.chunk", choices: [], ...openAiUsage(counts) }),
  "data: [DONE]\r\n\r\n"
]

const vector = Array.from({ length: 8 }, (_, at) => at / 8)
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const whole = (value: unknown, counts: Counts): Answer => ({
  contentType: json,
  pieces: [JSON.stringify(value)],
  isStream: false,
  counts
})
const streamed = (pieces: ReadonlyArray<string>, counts: Counts, contentType = events): Answer => ({
  contentType,
  pieces,
  isStream: true,
  counts
})

/** Elements of one JSON array, as Google streams without `alt=sse`. */
const arrayOf = (values: ReadonlyArray<object>): ReadonlyArray<string> =>
  values.map((value, at) => `${at === 0 ? "[" : ",\r\n"}${JSON.stringify(value)}${at === values.length - 1 ? "]" : ""}`)

const unbilled: Counts = { input: 0, output: 0 }

const embeddingsAnswer = (url: string, body: string): Answer => {
  if (!url.includes(":batchEmbedContents")) return whole({ embedding: { values: vector } }, unbilled)
  const { requests }: { readonly requests: ReadonlyArray<unknown> } = JSON.parse(body)
  return whole({ embeddings: requests.map(() => ({ values: vector })) }, unbilled)
}

/** The answer of a provider without faults. */
export const soundAnswer = (url: string, body: string, counts: Counts): Answer => {
  if (url.includes(":streamGenerateContent"))
    return url.includes("alt=sse")
      ? streamed(geminiEvents(counts).map(data), counts)
      : streamed(arrayOf(geminiEvents(counts)), counts, json)
  if (url.includes(":generateContent")) return whole(geminiPart(words.join(""), counts, "STOP"), counts)
  if (url.includes("count-tokens:rawPredict")) return whole({ input_tokens: 7 }, unbilled)
  if (url.includes(":streamRawPredict")) return streamed(claudeEvents(counts).map(named), counts)
  if (url.includes(":rawPredict")) return whole(claudeMessage(counts), counts)
  if (url.includes("mbedContent")) return embeddingsAnswer(url, body)
  if (url.includes(":countTokens")) return whole({ totalTokens: 7 }, unbilled)
  if (url.includes(":predict"))
    return whole({ predictions: [{ bytesBase64Encoded: pixel, mimeType: "image/png" }] }, unbilled)
  if (url.includes("/chat/completions"))
    return /"stream":\s*true/.test(body) ? streamed(openAiEvents(counts), counts) : whole(openAiReply(counts), counts)
  return whole({ error: { code: 404, status: "NOT_FOUND", message: "no such path" } }, unbilled)
}
