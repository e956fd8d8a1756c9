// The bare proxy's translation for Claude: chat to messages and back by hand, and messages passed through.
// Must not import the gateway.
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import type { ChatBody } from "./bareProxy.ts"
import { framesOf, type BareProxyHttp } from "./bareProxyHttp.ts"

interface ClaudeReply {
  readonly content?: ReadonlyArray<{ readonly text?: string }>
  readonly stop_reason?: string
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }
}
interface ClaudeEvent {
  readonly type: string
  readonly delta?: { readonly text?: string; readonly stop_reason?: string }
}

const version = "vertex-2023-10-16"
const finishes: Readonly<Record<string, string>> = { end_turn: "stop", max_tokens: "length" }

const call = (model: string, stream: boolean, body: object) =>
  ({
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench" },
    path: `/v1/projects/bench-project/locations/us-central1/publishers/anthropic/models/${model}:${stream ? "streamRawPredict" : "rawPredict"}`,
    body: JSON.stringify(body)
  }) as const

const toClaude = ({ max_tokens, messages, stream, temperature }: ChatBody): object => ({
  anthropic_version: version,
  system: messages.filter(({ role }) => role === "system").map(({ content }) => ({ type: "text", text: content })),
  messages: messages.filter(({ role }) => role !== "system"),
  max_tokens,
  temperature,
  ...(stream === true ? { stream } : {})
})

const toCompletion = (reply: ClaudeReply, model: string): string => {
  const { input_tokens = 0, output_tokens = 0 } = reply.usage ?? {}
  return JSON.stringify({
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: (reply.content ?? []).map(({ text }) => text ?? "").join(""),
          refusal: null
        },
        logprobs: null,
        finish_reason: finishes[reply.stop_reason ?? ""] ?? "stop"
      }
    ],
    usage: { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens: input_tokens + output_tokens }
  })
}

export const claudeChat = (http: BareProxyHttp, body: ChatBody, response: ServerResponse): void => {
  const { model } = body
  if (body.stream !== true) {
    http.whole(call(model, false, toClaude(body)), response, (reply) =>
      toCompletion(JSON.parse(reply.toString("utf8")), model)
    )
    return
  }
  const id = `chatcmpl-${randomUUID()}`
  const created = Math.floor(Date.now() / 1000)
  const frames = framesOf("\n\n")
  let first = true
  const chunk = (frame: string): string => {
    const event: ClaudeEvent = JSON.parse(frame.slice(frame.indexOf("data: ") + 6))
    const { stop_reason: stop, text } = event.delta ?? {}
    if (text === undefined && stop === undefined) return ""
    const delta = first ? { role: "assistant", content: text ?? "" } : { content: text }
    first = false
    const finish = stop === undefined ? null : (finishes[stop] ?? "stop")
    return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`
  }
  http.streamed(
    call(model, true, toClaude(body)),
    response,
    (bytes) => frames(bytes).map(chunk).join(""),
    "data: [DONE]\n\n"
  )
}

export const messages = (http: BareProxyHttp, text: string, response: ServerResponse): void => {
  const { model, ...rest }: { readonly model: string; readonly stream?: boolean } = JSON.parse(text)
  const options = call(model, rest.stream === true, { ...rest, anthropic_version: version })
  if (rest.stream === true) http.streamed(options, response, (bytes) => bytes)
  else http.whole(options, response, (reply) => reply)
}
