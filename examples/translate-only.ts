// Translation alone, as it also runs in a browser: a chat becomes a Gemini body, recorded events become chunks.
import * as Result from "effect/Result"
import * as translate from "model-gateway/translate"

const pair = translate.translators["chat-to-gemini"]
const messages = [{ role: "user", content: "Hello" }]
const chat = { model: "gemini-3.8-flash", max_completion_tokens: 100, messages }
const context = Result.getOrThrow(translate.translateContext({ provider: "google", model: chat.model }))
const { body, ignored } = Result.getOrThrow(pair.request(chat, context))
console.log(JSON.stringify({ body, ignored }))

const hello = { content: { parts: [{ text: "Hel" }] } }
const end = { content: { parts: [{ text: "lo!" }] }, finishReason: "STOP" }
const events = [hello, end].map((candidate) => `data: ${JSON.stringify({ candidates: [candidate] })}\r\n\r\n`)
const recorded = events.map((event) => new TextEncoder().encode(event))
for (const chunk of translate.readStream(translate.chunkReader(pair, context, chat), recorded)) {
  if (translate.isStreamFailed(chunk)) throw new Error(chunk.reason.message)
  const strict = translate.strictlyChunk(chunk)
  if (strict !== undefined) console.log(JSON.stringify(strict))
}
