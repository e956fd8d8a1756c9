// What routes of the contract share: security schemes, headers, named answers and error bodies.
// It must not know paths, handlers, or individual errors; api/errorFacts.ts defines those.
import * as Schema from "effect/Schema"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { ModelFields } from "../domain/models/ModelRecord.ts"
import * as ChatReply from "../wire/openai/ChatReply.ts"
import * as Embeddings from "../wire/openai/Embeddings.ts"
import * as Images from "../wire/openai/Images.ts"
import { TokenCount as FullTokenCount } from "../wire/openai/Chat.ts"

export const openFields = [Schema.Record(Schema.String, Schema.Unknown)] as const

/** An object that may have further fields, which the gateway ignores or forwards. */
export const openStruct = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), openFields)

export const openObject = Schema.Record(Schema.String, Schema.Unknown)

/** The summary of a route in the document, and its description. */
export const about = (summary: string, description?: string) =>
  OpenApi.annotations(description === undefined ? { summary } : { summary, description })

// Security schemes of the contract: the headers that may carry a gateway key.

const inHeader = (key: string, description: string) =>
  HttpApiSecurity.annotate(HttpApiSecurity.apiKey({ in: "header", key }), OpenApi.Description, description)

const security = {
  gatewayKey: inHeader(
    "x-gateway-api-key",
    "The gateway's own header; it leaves Authorization free for a provider's credential."
  ),
  bearer: HttpApiSecurity.annotate(HttpApiSecurity.bearer, OpenApi.Description, "Where OpenAI's SDK puts its key."),
  xApiKey: inHeader("x-api-key", "Where Anthropic's SDK puts its key."),
  xGoogApiKey: inHeader("x-goog-api-key", "Where Google's SDK puts its key."),
  apiKey: inHeader("api-key", "Where Azure's SDK puts its key.")
}

/** Any one header is enough. All but the first count as a gateway key only with the prefix `mgk_`. */
export class GatewayAuth extends HttpApiMiddleware.Service<GatewayAuth>()("gateway/api/GatewayAuth", { security }) {}

// Contract schemas of request and answer headers, each with its description.

const optionalHeader = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const requiredHeader = (description: string) => Schema.String.annotate({ description })

/** Headers of a request for a model. */
export const requestHeaders = {
  "x-gateway-provider": optionalHeader("Slug of the provider, with or without @, for a model that names none."),
  "x-gateway-config": optionalHeader("A gateway config: its id, or the config itself as JSON."),
  "x-gateway-metadata": optionalHeader(
    "JSON object of strings; goes to the log, and upstream as labels where that is asked."
  ),
  "x-gateway-trace-id": optionalHeader("1 to 128 printable characters that mark the answer and the log."),
  "x-gateway-request-timeout": optionalHeader("Milliseconds the whole request may take, retries included."),
  "x-gateway-cache": optionalHeader("off, refresh, or how many seconds old an answer may be."),
  "x-gateway-cache-force-refresh": optionalHeader("true asks the provider again and keeps the new answer."),
  "x-gateway-cache-namespace": optionalHeader("Answers are shared within a namespace instead of within a key."),
  "x-gateway-anthropic-beta": optionalHeader("Flags for Claude, joined by commas; the same as anthropic-beta."),
  "x-gateway-dry-run": optionalHeader("true answers what would be sent, and sends nothing."),
  "x-gateway-unsupported-params": optionalHeader(
    "ignore leaves out parameters without an equivalent and names them; reject refuses the request."
  ),
  "x-gateway-vertex-project-id": optionalHeader("Google Cloud project, for a credential of the request."),
  "x-gateway-vertex-region": optionalHeader("Region of Vertex AI, for a credential of the request."),
  "x-gateway-vertex-service-account-json": optionalHeader("A service account's key as JSON, for this request only."),
  "x-gateway-strict-schema-compliance": optionalHeader(
    "false adds the fields that OpenAI's schema lacks; true, the default, leaves them out."
  ),
  "x-gateway-images": optionalHeader(
    "markdown puts the pictures of a chat's answer into its text, as Markdown links with data."
  ),
  authorization: optionalHeader(
    "A credential for the provider, where the gateway key stands elsewhere: an access token or an API key."
  )
}

/** Headers on every answer to a request that reached the request handler. */
export const arrivalFields = {
  "x-request-id": requiredHeader("The id of this request in the log; the client's own where it sent one."),
  "x-gateway-trace-id": requiredHeader("The trace this request belongs to.")
}

/** Headers on answers of a provider, and on errors after a provider was called. */
const calledFields = {
  ...arrivalFields,
  "x-gateway-provider": optionalHeader("Slug of the provider that was called last."),
  "x-gateway-last-used-option-index": optionalHeader("The place of its target in the config."),
  "x-gateway-retry-attempt-count": optionalHeader("How often that target was called again."),
  "x-gateway-skipped-targets": optionalHeader(
    "The places in the config of targets that were not called because their circuits were open, joined by commas."
  ),
  "x-gateway-cache-status": optionalHeader("DISABLED, MISS, HIT or REFRESH; never HIT on an error.")
}

/** Further headers on temporary errors. */
export const retryFields = {
  "retry-after": optionalHeader("Seconds to wait before another try."),
  "retry-after-ms": optionalHeader("The same in milliseconds."),
  "x-should-retry": optionalHeader("false where the same request will fail again.")
}

/** Headers on every answer of a provider. */
const servedFields = {
  ...calledFields,
  "x-gateway-cost-usd": optionalHeader(
    "US dollars that the answer cost, 0 from the cache; absent on streams, and where no price or no usage is known."
  ),
  "x-gateway-cost-partial": optionalHeader("true where the cost lacks something whose price is not known."),
  "x-gateway-ignored-params": optionalHeader("Parameters that were left out, joined by commas."),
  "x-gateway-adjusted-params": optionalHeader(
    "Parameters that were sent with another value, as name=asked>sent, joined by commas."
  ),
  "x-gateway-translated": optionalHeader("messages-to-chat where a message was served by a model that is not Claude."),
  "x-gateway-continuation": optionalHeader(
    "interrupted where the rest of a long answer could not be had; the answer ends with finish_reason length."
  ),
  "x-gateway-omitted-content": optionalHeader(
    "What a strict answer leaves out because OpenAI's schema lacks it: images, provider_parts. A stream names images where the request asks for them."
  ),
  "x-gateway-model-warning": optionalHeader(
    "deprecated or shut_down, with the day of the model's end and its successor where they are known."
  )
}

// Contract schemas of answers as named components, with their headers.

export const ChatCompletionAnswer = ChatReply.ChatCompletion.annotate({ identifier: "ChatCompletion" })
export interface ChatCompletionAnswer extends Schema.Schema.Type<typeof ChatCompletionAnswer> {}
export const ChatChunkEvent = ChatReply.ChatChunk.annotate({ identifier: "ChatChunk" })
export interface ChatChunkEvent extends Schema.Schema.Type<typeof ChatChunkEvent> {}
export const EmbeddingListAnswer = Embeddings.EmbeddingList.annotate({ identifier: "EmbeddingList" })
export interface EmbeddingListAnswer extends Schema.Schema.Type<typeof EmbeddingListAnswer> {}
export const ImageListAnswer = Images.ImageList.annotate({ identifier: "ImageList" })
export interface ImageListAnswer extends Schema.Schema.Type<typeof ImageListAnswer> {}
export const TokenCountAnswer = FullTokenCount.annotate({ identifier: "TokenCount" })
export interface TokenCountAnswer extends Schema.Schema.Type<typeof TokenCountAnswer> {}

/** The request that would have been sent; secrets in its headers are masked. */
export const DryRun = Schema.Struct({
  object: Schema.Literal("dry_run"),
  provider: Schema.String,
  target_index: Schema.Number,
  method: Schema.String,
  url: Schema.String.annotate({
    description: "A host that the operator set is shown as upstream.invalid, unless the key has the scope admin."
  }),
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.Unknown,
  ignored_params: Schema.Array(Schema.String),
  adjusted_params: Schema.Array(Schema.String),
  /** The inner pair, where the request came in another dialect. */
  translated: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "DryRun", description: "The answer to x-gateway-dry-run: true." })
export interface DryRun extends Schema.Schema.Type<typeof DryRun> {}

/** Facts beyond OpenAI's fields; none in strict answers, and none that is not known. */
const modelExtensions = {
  context_length: Schema.optionalKey(Schema.Number.annotate({ description: "Tokens of prompt and answer together." })),
  max_output_tokens: Schema.optionalKey(Schema.Number),
  input_modalities: Schema.optionalKey(Schema.Array(Schema.String)),
  output_modalities: Schema.optionalKey(Schema.Array(Schema.String)),
  thinking_levels: Schema.optionalKey(Schema.Array(Schema.String)),
  pricing: Schema.optionalKey(
    ModelFields.fields.price.schema.annotate({ description: "US dollars per million tokens." })
  ),
  stage: Schema.optionalKey(Schema.Literals(["ga", "preview", "deprecated", "shut_down"])),
  shutdown_date: Schema.optionalKey(Schema.String),
  successor: Schema.optionalKey(Schema.String)
}

export const Model = Schema.Struct({
  id: Schema.String.annotate({ description: "What the field model of a request takes." }),
  object: Schema.Literal("model"),
  created: Schema.Number.annotate({ description: "The day of its release; 0 where that is not known." }),
  owned_by: Schema.String,
  ...modelExtensions
}).annotate({ identifier: "Model" })
export interface Model extends Schema.Schema.Type<typeof Model> {}

export const ModelList = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(Model) }).annotate({
  identifier: "ModelList"
})
export interface ModelList extends Schema.Schema.Type<typeof ModelList> {}

export const RenderedPrompt = Schema.Struct({
  success: Schema.Literal(true),
  data: openStruct({ model: Schema.optionalKey(Schema.String), messages: Schema.Array(openObject) })
}).annotate({ identifier: "RenderedPrompt", description: "The chat a completion of the prompt would ask." })
export interface RenderedPrompt extends Schema.Schema.Type<typeof RenderedPrompt> {}

export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "degraded", "shutting_down"]),
  checks: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  messages: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "For each check that is not ok: what is wrong, what still works, and what to do."
    })
  ),
  version: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}

/**
 * An answer of a provider. Streams have no headers here, because a status declares its headers once, on the unary
 * answer.
 */
const providerAnswer = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, servedFields)
/** An answer of the gateway itself. */
export const gatewayAnswer = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, arrivalFields)

/** An answer, or a dry run where the request asks for one. */
export const orDryRun = <S extends Schema.Top>(schema: S) => providerAnswer(Schema.Union([schema, DryRun]))

// Contract schemas of error answers: the OpenAI and Anthropic envelopes, and their statuses.

const opt = Schema.optionalKey

export const OpenAiError = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String.annotate({ description: "What is wrong, where, and what to do." }),
    type: Schema.Literals([
      "invalid_request_error",
      "authentication_error",
      "permission_error",
      "not_found_error",
      "rate_limit_error",
      "insufficient_quota",
      "api_error"
    ]),
    param: Schema.NullOr(Schema.String.annotate({ description: "Where in the request, as messages[0].content." })),
    code: Schema.String,
    provider: opt(Schema.String.annotate({ description: "Who failed; only with strict schema compliance off." })),
    upstream_status: opt(Schema.Number)
  })
}).annotate({ identifier: "OpenAiError" })
export interface OpenAiError extends Schema.Schema.Type<typeof OpenAiError> {}

export const AnthropicError = Schema.Struct({
  type: Schema.Literal("error"),
  error: Schema.Struct({ type: Schema.String, message: Schema.String }),
  request_id: Schema.String
}).annotate({ identifier: "AnthropicError" })
export interface AnthropicError extends Schema.Schema.Type<typeof AnthropicError> {}

/** On paths of Google's own dialects: google.rpc.Status as Google's REST APIs write it. */
export const GoogleError = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Int.annotate({ description: "The HTTP status." }),
    message: Schema.String,
    status: Schema.String.annotate({ description: "The canonical word, such as INVALID_ARGUMENT." }),
    details: opt(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
  })
}).annotate({ identifier: "GoogleError" })
export interface GoogleError extends Schema.Schema.Type<typeof GoogleError> {}

/** The description of each status, in both envelopes. */
export const statusMeanings = {
  400: "The request is wrong; the message states where and what to do.",
  401: "The gateway key, or the credential sent for the provider, is missing or wrong.",
  403: "The key, or the provider's account, may not do this.",
  404: "There is no such thing here.",
  409: "It does not fit what is there.",
  412: "It has changed since the version in If-Match.",
  413: "The body is too large.",
  415: "The body is not plain JSON in UTF-8.",
  402: "The budget of the key or the account of the provider is spent.",
  429: "Too many requests or tokens, or what is left of the budget is reserved; retry-after has the seconds to wait.",
  500: "The gateway failed; its log has the request id.",
  502: "The provider failed, or answered what cannot be read.",
  503: "The gateway or the provider is overloaded, or is leaving.",
  504: "The provider did not answer in time.",
  507: "The store takes no more writes."
} as const

/** Statuses of temporary errors, which carry retry headers. */
const passing = new Set([429, 503])

const withStatus =
  <S extends Schema.Top>(schema: S, fields: typeof arrivalFields) =>
  (status: number) =>
    HttpApiSchema.status(status)(
      HttpApiSchema.WithHeaders(schema, passing.has(status) ? { ...fields, ...retryFields } : fields)
    )

const ofKey = [401, 403, 404, 500, 503]
const ofModel = [400, 401, 402, 403, 404, 413, 415, 429, 500, 502, 503, 504]

/** Errors of a route that calls a model in OpenAI's dialect. */
export const modelErrors = ofModel.map(withStatus(OpenAiError, calledFields))
/** Errors of a route in Anthropic's dialect. */
export const messagesErrors = ofModel.map(withStatus(AnthropicError, calledFields))
/** Errors of a route that takes no body and calls no provider. */
export const keyErrors = ofKey.map(withStatus(OpenAiError, arrivalFields))
/** Errors of a route about a kept response. */
export const storedResponseErrors = [400, ...ofKey].map(withStatus(OpenAiError, arrivalFields))
/** Errors of a route that answers nothing else. */
export const unansweredErrors = [400, 401, 403, 429, 500, 503].map(withStatus(OpenAiError, arrivalFields))
