// Answers chat completions in OpenAI's dialect: open models under `endpoints/openapi`, and self-deployed endpoints.
// It must not depend on sockets or credentials.
// Source: Google's pages on open models, recorded and publicly quoted refusals.

import { createHash } from "node:crypto"
import { replyTo } from "../gemini/replies.ts"
import { withoutNulls } from "../shapes/open.ts"
import { chatRequest } from "../shapes/openai.ts"
import {
  type Answer,
  type Call,
  errorAnswer,
  eventStream,
  jsonAnswer,
  type Operation,
  refuse
} from "../shared/answers.ts"
import { applyFault, type FaultWire } from "../shared/faults.ts"
import { lastUserText } from "../shared/generateRequest.ts"
import { completion, completionChunks, type OpenaiIdentity, openaiReply, type OpenaiReply } from "./reply.ts"
import { type Quirk, quirksIn } from "./quirks.ts"
import { type ChatRequest, chatToGenerateRequest } from "./request.ts"
import {
  containerFault,
  containerRefusal,
  contextFault,
  errorObject,
  failedCall,
  mismatchError,
  publisherRefusal
} from "./rules.ts"

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const errorEvent = (error: unknown): string => `event: error\n${event({ error })}`

const faultWire: FaultWire = {
  refusal: (error) => errorAnswer(error, true),
  errorEvent: (error) => errorEvent({ message: error.message, type: "server_error", code: error.code }),
  lineEvent: (content) =>
    event({ object: "chat.completion.chunk", choices: [{ index: 0, delta: { content }, finish_reason: null }] })
}

/** The family named in the answer, so that a reader sees which model was reached. */
const familyOf = (model: string): string => {
  if (/llama/i.test(model)) return "Llama"
  if (/qwen/i.test(model)) return "Qwen"
  if (/deepseek/i.test(model)) return "DeepSeek"
  return "language"
}

const identityOf = (call: Call, model: string): OpenaiIdentity => {
  const id = createHash("sha256").update(`completion ${call.serial} ${call.now}`).digest("hex")
  return { id: `chatcmpl-${id.slice(0, 32)}`, created: Math.floor(call.now / 1000), model }
}

const framed = (reply: OpenaiReply, chat: ChatRequest, quirks: Required<Quirk>, rate: number): Answer => {
  if (chat.stream !== true || quirks.unaryAlways) return jsonAnswer(200, quirks.value(completion(reply)))
  const chunks = completionChunks(reply, chat.stream_options?.include_usage === true)
  const values = quirks.chunks(chunks.map(({ value }) => value)).map(quirks.value)
  const pieces = quirks.pieces([...values.map(event), "data: [DONE]\n\n"])
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0)
  const pauseMillis = rate > 0 ? (tokens * 1000) / rate / pieces.length : 0
  return eventStream(pieces.map((text) => ({ text, pauseMillis })))
}

const answer = (call: Call): Answer => {
  const { route, body, endpoint } = call
  const shared = route.target.id === "openapi"
  const refused = shared ? publisherRefusal(call) : undefined
  if (refused !== undefined) return refuse(route, refused)
  const mismatch = chatRequest(body, "")
  if (mismatch !== undefined) return containerRefusal(mismatchError(mismatch), endpoint?.errors)
  const chat = withoutNulls(body) as ChatRequest // The shape is checked above.
  const request = chatToGenerateRequest(chat)
  const invalid = containerFault(chat, endpoint?.servedModel) ?? contextFault(request)
  if (invalid !== undefined) return containerRefusal(invalid, endpoint?.errors)
  const streaming = chat.stream === true
  const failed = failedCall(request)
  if (failed !== undefined && !streaming) return containerRefusal(failed, endpoint?.errors)
  if (failed !== undefined)
    return eventStream([{ text: errorEvent({ ...errorObject(failed), status_code: failed.status }), pauseMillis: 0 }])
  const reply = replyTo(request, { backend: "vertex", model: `publisher/${chat.model}`, family: familyOf(chat.model) })
  const made = openaiReply(reply, identityOf(call, chat.model), chat.parallel_tool_calls !== false)
  const good = framed(made, chat, quirksIn(lastUserText(request)), call.tokensPerSecond)
  const id = shared ? (chat.model.split("/")[1] ?? "") : route.target.id
  return applyFault(id, good, { callNumber: call.callNumber, streaming, sse: true, wire: faultWire })
}

export const openaiChat: Operation = {
  matches: ({ target, operation }) => target.kind === "endpoint" && operation === "chat/completions",
  answer
}
