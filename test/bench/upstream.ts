// The simulated provider of the bench: constant answers, as fast as node:http can send them.
// Must not know contestants. The model id selects how a stream behaves.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { imageBase64 } from "./operations.ts"

const port = Number(process.argv[2])
/** Events of one burst stream, the last one included. */
const burstEvents = Number(process.argv[3])
/** Time limit of a stream in milliseconds, whatever its client does. */
const mostMillis = 180_000
const mostEndlessEvents = 2_000_000

const usage = { promptTokenCount: 21, candidatesTokenCount: 18, totalTokenCount: 39 }
const event = (text: string, finish?: string): string =>
  `data: ${JSON.stringify({
    candidates: [
      {
        content: { parts: [{ text }], role: "model" },
        index: 0,
        ...(finish === undefined ? {} : { finishReason: finish })
      }
    ],
    ...(finish === undefined ? {} : { usageMetadata: usage }),
    modelVersion: "gemini-3.8-flash"
  })}\r\n\r\n`

const reply = Buffer.from(
  JSON.stringify({
    candidates: [
      {
        content: {
          parts: [{ text: "The tide follows the moon, and the moon follows its own way around the earth." }],
          role: "model"
        },
        finishReason: "STOP",
        index: 0
      }
    ],
    usageMetadata: usage,
    modelVersion: "gemini-3.8-flash",
    responseId: "bench-reply"
  })
)
const json = "application/json; charset=UTF-8"
const unaryHeaders = { "content-type": json, "content-length": reply.length }
/** Four vectors in the service's form: numbers of about eight digits. */
const vectors = Buffer.from(
  JSON.stringify({
    embeddings: Array.from({ length: 4 }, (_, text) => ({
      values: Array.from({ length: 768 }, (_, at) => Number(Math.sin(text * 768 + at).toPrecision(8)))
    }))
  })
)
const vectorHeaders = { "content-type": json, "content-length": vectors.length }
/** Made when it is first asked for. */
let drawn: Buffer | undefined
const image = (): Buffer =>
  (drawn ??= Buffer.from(
    JSON.stringify({
      candidates: [
        {
          content: { parts: [{ inlineData: { mimeType: "image/png", data: imageBase64() } }], role: "model" },
          finishReason: "STOP",
          index: 0
        }
      ],
      usageMetadata: usage,
      modelVersion: "gemini-2.5-flash-image",
      responseId: "bench-image"
    })
  ))
const streamHeaders = { "content-type": "text/event-stream" }

const few = Array.from({ length: 9 }, (_, n) => event(`word${n} `)).join("") + event("end", "STOP")
const burst = Buffer.from(
  Array.from({ length: burstEvents - 1 }, (_, n) => event(`word${n} `)).join("") + event("end", "STOP")
)
const endlessBlock = Buffer.from(event("as fast as you can read ").repeat(500))

const claudeUsage = { input_tokens: 21, output_tokens: 18 }
const claudeMessage = {
  id: "msg_vrtx_bench",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  stop_reason: "end_turn",
  stop_sequence: null,
  content: [{ type: "text", text: "The tide follows the moon, and the moon follows its own way around the earth." }],
  usage: claudeUsage
}
const claudeReply = Buffer.from(JSON.stringify(claudeMessage))
const claudeHeaders = { "content-type": "application/json", "content-length": claudeReply.length }
const claudeEvent = (value: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const claudeBurst = Buffer.from(
  [
    claudeEvent({ type: "message_start", message: { ...claudeMessage, content: [], stop_reason: null } }),
    claudeEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...Array.from({ length: burstEvents - 5 }, (_, n) =>
      claudeEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `word${n} ` } })
    ),
    claudeEvent({ type: "content_block_stop", index: 0 }),
    claudeEvent({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: claudeUsage }),
    claudeEvent({ type: "message_stop" })
  ].join("")
)

let openStreams = 0
let lastCloseMicros = 0
const nowMicros = (): number => Number(process.hrtime.bigint() / 1000n)

/** Sends events that contain their write time. */
const paced = (response: ServerResponse, perSecond: number): void => {
  const send = (): void => {
    response.write(event(`@${nowMicros()}@`))
  }
  send()
  const timer = setInterval(send, 1000 / perSecond)
  const end = setTimeout(() => response.destroy(), mostMillis)
  response.on("close", () => {
    clearInterval(timer)
    clearTimeout(end)
  })
}

/** Writes as long as the reader accepts data. */
const endless = (response: ServerResponse): void => {
  let left = mostEndlessEvents
  const more = (): void => {
    while (!response.destroyed && left > 0) {
      left -= 500
      if (!response.write(endlessBlock)) {
        response.once("drain", more)
        return
      }
    }
    response.end()
  }
  more()
}

const stream = (url: string, response: ServerResponse): void => {
  openStreams++
  response.on("close", () => {
    openStreams--
    lastCloseMicros = nowMicros()
  })
  response.writeHead(200, streamHeaders)
  const pace = /bench-paced-(\d+)/.exec(url)
  if (pace !== null) return paced(response, Number(pace[1]))
  if (url.includes("bench-endless")) return endless(response)
  if (url.includes("bench-hold")) {
    response.write(event("held "))
    return
  }
  response.end(url.includes("bench-burst") ? burst : few)
}

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const url = request.url ?? ""
  if (url === "/stats") {
    response.end(JSON.stringify({ openStreams, lastCloseMicros }))
    return
  }
  request.resume()
  request.on("end", () => {
    if (url.includes(":streamGenerateContent")) return stream(url, response)
    if (url.endsWith(":streamRawPredict")) {
      response.writeHead(200, streamHeaders)
      response.end(claudeBurst)
      return
    }
    if (url.includes("flash-image:")) {
      response.writeHead(200, { "content-type": json, "content-length": image().length })
      response.end(image())
      return
    }
    const [headers, body] = url.endsWith(":rawPredict")
      ? ([claudeHeaders, claudeReply] as const)
      : url.endsWith(":batchEmbedContents")
        ? ([vectorHeaders, vectors] as const)
        : ([unaryHeaders, reply] as const)
    response.writeHead(200, headers)
    response.end(body)
  })
}

const server = createServer({ keepAliveTimeout: 600_000, requestTimeout: 0, headersTimeout: 0 }, answer)
server.listen({ port, host: "127.0.0.1", backlog: 8192 }, () => console.log("ready"))
