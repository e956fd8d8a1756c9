// Answers chat completions in OpenAI's dialect: open models under `endpoints/openapi`, and self-deployed endpoints.
// It must not depend on sockets or credentials.
// Source: Google's pages on open models, recorded and publicly quoted refusals.

import { createHash } from "node:crypto"
import { replyTo } from "../gemini/replies.ts"
import { isRecord, mismatchMessage, withoutNulls } from "../shapes/open.ts"
import { chatRequest } from "../shapes/openai.ts"
import {
  type Answer,
  type Call,
  errorAnswer,
  eventStream,
  googleError,
  type GoogleError,
  invalidArgument,
  jsonAnswer,
  type Operation
} from "../shared/answers.ts"
import { exactRow } from "../shared/models.ts"
import { applyFault, type FaultWire, isFault } from "../shared/faults.ts"
import { type GenerateRequest, lastUserText, promptTokens, totalOf } from "../shared/generateRequest.ts"
import {
  completion,
  completionChunks,
  type ContainerError,
  containerRefusal,
  errorObject,
  type OpenaiIdentity,
  openaiReply,
  type OpenaiReply
} from "./reply.ts"
import { type Quirk, quirksIn } from "./quirks.ts"
import { type ChatRequest, chatToGenerateRequest } from "./request.ts"

const publishers = new Set([
  "meta",
  "deepseek-ai",
  "qwen",
  "openai",
  "google",
  "minimaxai",
  "moonshotai",
  "zai-org",
  "xai"
])
const contextTokens = 131_072

/** Google's refusals before a model is reached: a model without publisher, or an unknown model. */
const publisherRefusal = ({ route, body }: Call): GoogleError | undefined => {
  const model = isRecord(body) && typeof body["model"] === "string" ? body["model"] : ""
  const [publisher = "", id = "", more] = model.split("/")
  if (id === "" || more !== undefined)
    return invalidArgument("Malformed publisher model name: expected format '<publisher>/<model>'")
  if (isFault(id) || exactRow(model) !== undefined || (publishers.has(publisher) && /-maas$|^gemini-/.test(id)))
    return undefined
  const place = `projects/${route.project}/locations/${route.location}`
  return googleError("NOT_FOUND", `Publisher Model \`${place}/publishers/${publisher}/models/${id}\` not found.`)
}

const badRequest = (message: string, more: Partial<ContainerError> = {}): ContainerError => ({
  status: 400,
  message,
  ...more
})

const mediaFault = (chat: ChatRequest): ContainerError | undefined => {
  const urls = chat.messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => part.image_url?.url ?? []) : []
  )
  return urls.every((url) => /^(https?|data):/.test(url))
    ? undefined
    : badRequest("The URL must be either a HTTP or data URL.")
}

const failedCall = (request: GenerateRequest): ContainerError | undefined =>
  lastUserText(request).includes("demo:tool-use-failed")
    ? badRequest(
        "tool call validation failed: parameters for tool did not match schema: errors: [`/age`: expected integer, but got string]",
        {
          code: "tool_use_failed",
          more: { failed_generation: '[{"name": "structured_output", "parameters": {"age": "30"}}]' }
        }
      )
    : undefined

/** The container's refusal of a well-formed body, in vLLM's wording where it is publicly known. */
const containerFault = (chat: ChatRequest, served: string | undefined): ContainerError | undefined => {
  if (served !== undefined && chat.model !== served) {
    return {
      status: 404,
      type: "NotFoundError",
      message: `The model \`${chat.model}\` does not exist.`,
      code: "model_not_found",
      param: "model"
    }
  }
  if (chat.stream_options !== undefined && chat.stream !== true)
    return badRequest("Stream options can only be defined when `stream=True`.")
  if (typeof chat.tool_choice === "object" || chat.tool_choice === "required") {
    if ((chat.tools ?? []).length === 0) return badRequest("When using `tool_choice`, `tools` must be set.")
  }
  if (chat.top_logprobs !== undefined && chat.logprobs !== true)
    return badRequest("when using `top_logprobs`, `logprobs` must be set to true.")
  const most = chat.max_completion_tokens ?? chat.max_tokens
  if (most !== undefined && most < 1)
    return badRequest(`max_tokens must be at least 1, got ${most}.`, { param: "max_tokens" })
  return mediaFault(chat)
}

const contextFault = (request: GenerateRequest): ContainerError | undefined => {
  const tokens = totalOf(promptTokens(request))
  return tokens <= contextTokens
    ? undefined
    : badRequest(
        `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${tokens} tokens. ` +
          "Please reduce the length of the messages.",
        { code: "context_length_exceeded", param: "messages" }
      )
}

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
  if (refused !== undefined) return errorAnswer(refused, true)
  const mismatch = chatRequest(body, "")
  if (mismatch !== undefined) {
    return containerRefusal(badRequest(mismatchMessage(mismatch), { param: mismatch.path }), endpoint?.errors)
  }
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
