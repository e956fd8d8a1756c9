// Translation alone, as it also runs in a browser: a chat becomes a Gemini body, recorded events become chunks.
import * as Result from "effect/Result"
import {
  isStreamFailed,
  runMachine,
  streamMachine,
  strictlyChunk,
  translateContext,
  translators
} from "model-gateway/translate"

const pair = translators["chat-to-gemini"]
const chat = {
  model: "gemini-3.8-flash",
  max_completion_tokens: 100,
  messages: [{ role: "user", content: "Hello" }]
}
const context = Result.getOrThrow(translateContext({ provider: "google", model: chat.model }))
const { body, ignored } = Result.getOrThrow(pair.request(chat, context))
console.log(JSON.stringify({ body, ignored }))

const events = ["Hel", "lo!"].map(
  (text, n) =>
    `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: n === 0 ? undefined : "STOP" }] })}\r\n\r\n`
)
const bytes = events.map((event) => new TextEncoder().encode(event))
for (const chunk of runMachine(streamMachine(pair, context, chat), bytes)) {
  if (isStreamFailed(chunk)) throw new Error(chunk.reason.message)
  const strict = strictlyChunk(chunk)
  if (strict !== undefined) console.log(JSON.stringify(strict))
}
