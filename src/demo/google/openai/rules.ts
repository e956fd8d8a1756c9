// Refuses calls in OpenAI's dialect: Google's own refusals of a model, and those of containers in their three shapes.
// It must not depend on how an answer is written.
// Source: Google's pages on open models, recorded and publicly quoted refusals of hosts with the same schema.

import { isRecord, type Mismatch, mismatchMessage } from "../shapes/open.ts"
import {
  type Answer,
  type Call,
  googleError,
  type GoogleError,
  invalidArgument,
  jsonAnswer
} from "../shared/answers.ts"
import { isFault } from "../shared/faults.ts"
import { type GenerateRequest, lastUserText, promptTokens, totalOf } from "../shared/generateRequest.ts"
import { exactRow } from "../shared/models.ts"
import type { SimulatedEndpoint } from "../shared/routes.ts"
import type { ChatRequest } from "./request.ts"

export interface ContainerError {
  readonly status: number
  readonly message: string
  /** Default `invalid_request_error`. */
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** Further members that some hosts add. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** The error object inside an envelope or a stream. */
export const errorObject = ({ message, type = "invalid_request_error", code, param, more }: ContainerError) => ({
  message,
  type,
  ...(param === undefined ? {} : { param }),
  ...(code === undefined ? {} : { code }),
  ...more
})

/** Older vLLM servers answer in the `bare` shape, FastAPI validation in the `detail` shape. */
export const containerRefusal = (error: ContainerError, shape: SimulatedEndpoint["errors"]): Answer => {
  if (shape === "detail") return jsonAnswer(error.status, { detail: error.message })
  if (shape !== "bare") return jsonAnswer(error.status, { error: errorObject(error) })
  const type = error.status === 404 ? "NotFoundError" : "BadRequestError"
  return jsonAnswer(error.status, {
    object: "error",
    message: error.message,
    type,
    param: error.param ?? null,
    code: error.status
  })
}

export const badRequest = (message: string, more: Partial<ContainerError> = {}): ContainerError => ({
  status: 400,
  message,
  ...more
})

/** The refusal of a body of another shape. */
export const mismatchError = (mismatch: Mismatch): ContainerError =>
  badRequest(mismatchMessage(mismatch), { param: mismatch.path })

export const missingModel = (model: string): ContainerError => ({
  status: 404,
  type: "NotFoundError",
  message: `The model \`${model}\` does not exist.`
})

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
export const publisherRefusal = ({ route, body }: Call): GoogleError | undefined => {
  const model = isRecord(body) && typeof body["model"] === "string" ? body["model"] : ""
  const [publisher = "", id = "", more] = model.split("/")
  if (id === "" || more !== undefined)
    return invalidArgument("Malformed publisher model name: expected format '<publisher>/<model>'")
  if (isFault(id) || exactRow(model) !== undefined || (publishers.has(publisher) && /-maas$|^gemini-/.test(id)))
    return undefined
  const place = `projects/${route.project}/locations/${route.location}`
  return googleError("NOT_FOUND", `Publisher Model \`${place}/publishers/${publisher}/models/${id}\` not found.`)
}

const mediaFault = (chat: ChatRequest): ContainerError | undefined => {
  const urls = chat.messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => part.image_url?.url ?? []) : []
  )
  return urls.every((url) => /^(https?|data):/.test(url))
    ? undefined
    : badRequest("The URL must be either a HTTP or data URL.")
}

/** The refusal of a call that the prompt asks for. */
export const failedCall = (request: GenerateRequest): ContainerError | undefined =>
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
export const containerFault = (chat: ChatRequest, served: string | undefined): ContainerError | undefined => {
  if (served !== undefined && chat.model !== served) {
    return { ...missingModel(chat.model), code: "model_not_found", param: "model" }
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

export const contextFault = (request: GenerateRequest): ContainerError | undefined => {
  const tokens = totalOf(promptTokens(request))
  return tokens <= contextTokens
    ? undefined
    : badRequest(
        `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${tokens} tokens. ` +
          "Please reduce the length of the messages.",
        { code: "context_length_exceeded", param: "messages" }
      )
}
