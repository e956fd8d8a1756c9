// Every recorded answer of Gemini as a message and as its events: valid by the published schema, whatever the cuts.
// It must not open sockets or read clocks.
import Anthropic from "@anthropic-ai/sdk"
import { readdirSync, readFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { parseExactJsonText } from "../../../src/domain/text/json.ts"
import { MessageReader } from "../../../src/provider/messagesByChatStream.ts"
import { responseFromGemini } from "../../../src/translate/chat-to-gemini/response.ts"
import { streamFromGemini } from "../../../src/translate/chat-to-gemini/stream.ts"
import { messageFromChat } from "../../../src/translate/messages-to-chat/response.ts"
import { readStream, type StreamReader, streamReader } from "../../../src/translate/StreamReader.ts"
import { isStreamFailed, runFold, type StreamFailed } from "../../../src/translate/Translator.ts"
import { GenerateContentReply } from "../../../src/wire/google.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { answerFacts } from "../../support/messages.ts"
import { loudlySkipped, type Recording, recordings, schemaOracle, sharedDir } from "../../support/shared.ts"
import { cutsThatTell } from "../../support/streamLaws.ts"
import { byteFold, bytesOf } from "../../support/streams.ts"

const fixtures = new URL("../../fixtures/gemini/", import.meta.url)
const own = readdirSync(fixtures)
  .sort()
  .map((name): Recording => JSON.parse(readFileSync(new URL(name, fixtures), "utf8")))
const answered = [...own, ...recordings("gemini-api"), ...recordings("vertex-gemini")].filter(
  ({ response }) => response.status === 200
)
if (sharedDir() === undefined) loudlySkipped("recorded answers of Gemini as messages")

const textOf = ({ response }: Recording): string => response.bodyText ?? JSON.stringify(response.body)
const context = { ...chatContext("gemini-2.5-flash", { strict: false }), ordered: true }
const request = chatRequest([{ role: "user", content: "hi" }])
const event = schemaOracle("anthropic.schema.json", "strict.MessageStreamEvent")
const message = schemaOracle("anthropic.schema.json", "strict.Message")
const bodies = { shown: { thinking: { type: "adaptive" } }, hidden: {} } as const

const messageReader = (body: (typeof bodies)[keyof typeof bodies]): StreamReader<Uint8Array> =>
  MessageReader.of(
    streamReader(byteFold(streamFromGemini(context, request))),
    answerFacts(body),
    false,
    (reason) => reason
  )

const framesOf = (outputs: ReadonlyArray<Uint8Array | StreamFailed>): string =>
  outputs.map((output) => (isStreamFailed(output) ? "" : new TextDecoder().decode(output))).join("")

const dataOf = (text: string): ReadonlyArray<{ readonly type: string }> =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [name = "", data = ""] = frame.split("\n")
      const value: { readonly type: string } = JSON.parse(data.slice("data: ".length))
      expect(name).toBe(`event: ${value.type}`)
      return value
    })

/** What a client of Anthropic's makes of the frames. */
const assembled = async (frames: string) => {
  const client = new Anthropic({
    apiKey: "x",
    maxRetries: 0,
    fetch: async () => new Response(frames, { headers: { "content-type": "text/event-stream" } })
  })
  const { parsed_output: _parsed, ...whole } = await client.messages
    .stream({ model: "x", max_tokens: 1, messages: [{ role: "user", content: "x" }] })
    .finalMessage()
  return whole
}

describe.each(["shown", "hidden"] as const)("recorded answers of Gemini as messages, thinking %s", (thinking) => {
  const body = bodies[thinking]
  for (const recording of answered.filter(({ operation }) => operation === "streamGenerateContent"))
    it(`messages: a recorded stream keeps its laws as events: ${recording.id} (D410 D411 D417)`, async () => {
      const bytes = bytesOf(textOf(recording))
      const outputs = readStream(messageReader(body), [bytes])
      expect(
        cutsThatTell((pieces) => readStream(messageReader(body), pieces), bytes).filter((at) => {
          const cut = framesOf(readStream(messageReader(body), [bytes.slice(0, at), bytes.slice(at)]))
          return cut !== framesOf(outputs)
        })
      ).toEqual([])
      const events = dataOf(framesOf(outputs))
      expect(events.filter((one) => event !== undefined && !event(one))).toEqual([])
      const last = outputs.at(-1)
      if (isStreamFailed(last)) return
      expect([events[0]?.type, events.at(-2)?.type, events.at(-1)?.type]).toEqual([
        "message_start",
        "message_delta",
        "message_stop"
      ])
      expect(events.filter(({ type }) => type === "message_start" || type === "message_delta")).toHaveLength(2)
      const whole = await assembled(framesOf(outputs))
      expect(message === undefined || message(whole) || [message.errors, whole]).toBe(true)
    })

  for (const recording of answered.filter(({ operation }) => operation !== "streamGenerateContent"))
    it(`messages: a recorded answer is a message, and as a stream the same: ${recording.id} (D401 D417)`, async () => {
      const text = textOf(recording)
      const reply = Result.getOrThrow(parseExactJsonText(text))
      const decoded = Schema.decodeUnknownResult(GenerateContentReply)(reply)
      if (Result.isFailure(decoded)) return
      const chat = responseFromGemini(decoded.success, context, request)
      if (Result.isFailure(chat)) return
      const made = Result.getOrThrow(messageFromChat(chat.success, answerFacts(body)))
      const sent = JSON.parse(JSON.stringify(made))
      expect(message === undefined || message(sent) || [message.errors, sent]).toBe(true)
      const outputs = readStream(messageReader(body), [bytesOf(`data: ${text}\r\n\r\n`)])
      const alone = runFold(byteFold(streamFromGemini(context, request)), [bytesOf(`data: ${text}\r\n\r\n`)])
      expect(outputs.filter(isStreamFailed)).toEqual(alone.filter(isStreamFailed))
      if (outputs.some(isStreamFailed)) return
      const frames = framesOf(outputs)
      const streamed = await assembled(frames)
      const kinds = (content: ReadonlyArray<object>) =>
        content.map((block) =>
          "signature" in block ? { ...block, signature: "" } : "data" in block ? { ...block, data: "" } : block
        )
      expect([kinds(streamed.content), streamed.stop_reason]).toEqual([kinds(sent.content), sent.stop_reason])
    })
})
