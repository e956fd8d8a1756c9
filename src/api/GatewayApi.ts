// Routes of the public API (/v1, health, metrics) as declarations for the OpenAPI document and typed clients.
// It must not know handlers; a test compares the paths and methods of the routes with these declarations.
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { operations } from "../domain/operations.ts"
import {
  about,
  ChatChunkEvent,
  ChatCompletionAnswer,
  EmbeddingListAnswer,
  gatewayAnswer,
  GatewayAuth,
  Health,
  ImageListAnswer,
  storedResponseErrors,
  keyErrors,
  messagesErrors,
  Model,
  modelErrors,
  ModelList,
  openFields,
  openObject,
  orDryRun,
  RenderedPrompt,
  requestHeaders,
  TokenCountAnswer,
  unansweredErrors
} from "./contractParts.ts"
import {
  ChatBody,
  EmbeddingsBody,
  ImagesBody,
  Message,
  MessageEvent,
  MessagesBody,
  MessagesCount,
  MessagesCountBody,
  PromptBody
} from "./bodies.ts"
import {
  ResponseDeleted,
  ResponseItemList,
  ResponseObject,
  ResponsesEvent,
  ResponsesParameters
} from "../wire/openai/Responses.ts"
import { maybe } from "../wire/json.ts"

// The Responses API as declarations: a response, its stream, and the routes of kept ones.

export const ResponsesBody = Schema.StructWithRest(
  Schema.Struct({
    ...ResponsesParameters.fields,
    model: maybe(
      Schema.String.annotate({
        description: "@slug/model; it may be missing where a prompt or a config has one."
      })
    ),
    input: maybe(Schema.Union([Schema.String, Schema.Array(openObject)])),
    tools: maybe(Schema.Array(openObject)),
    include: maybe(Schema.Array(Schema.String))
  }),
  openFields
).annotate({ identifier: "ResponsesBody" })
export interface ResponsesBody extends Schema.Schema.Type<typeof ResponsesBody> {}

export const ResponseAnswer = ResponseObject.annotate({ identifier: "Response" })
export interface ResponseAnswer extends Schema.Schema.Type<typeof ResponseAnswer> {}
export const InputTokens = Schema.Struct({
  object: Schema.Literal("response.input_tokens"),
  input_tokens: Schema.Number
}).annotate({ identifier: "ResponseInputTokens" })
export interface InputTokens extends Schema.Schema.Type<typeof InputTokens> {}

const askedOfResponses = { headers: requestHeaders, error: modelErrors, payload: ResponsesBody } as const
const storedResponse = {
  params: { id: Schema.String.annotate({ description: "The id of a response that this key has made." }) },
  error: storedResponseErrors
} as const

export class Responses extends HttpApiGroup.make("responses")
  .add(
    HttpApiEndpoint.post("create", "/v1/responses", {
      ...askedOfResponses,
      success: [
        orDryRun(ResponseAnswer),
        HttpApiSchema.StreamSse({ data: ResponsesEvent.annotate({ identifier: "ResponsesEvent" }) })
      ]
    }).annotateMerge(
      about(
        "A response",
        "With stream: true the answer is an event stream of named events, and the last one has the whole response. A failure after the first byte is an event named error, then response.failed."
      )
    ),
    HttpApiEndpoint.post("countTokens", "/v1/responses/input_tokens", {
      ...askedOfResponses,
      success: orDryRun(InputTokens)
    }).annotateMerge(about("What a response would cost in tokens of input")),
    HttpApiEndpoint.post("compact", "/v1/responses/compact", {
      success: HttpApiSchema.NoContent,
      error: unansweredErrors
    }).annotateMerge(about("Always refused with 400", "Conversations are not compacted here.")),
    HttpApiEndpoint.get("retrieve", "/v1/responses/:id", {
      ...storedResponse,
      query: {
        "include[]": Schema.optionalKey(Schema.Array(Schema.String)),
        stream: Schema.optionalKey(Schema.Literals(["false"]))
      },
      success: gatewayAnswer(ResponseAnswer)
    }).annotateMerge(about("A kept response")),
    HttpApiEndpoint.delete("delete", "/v1/responses/:id", {
      ...storedResponse,
      success: gatewayAnswer(ResponseDeleted.annotate({ identifier: "ResponseDeleted" }))
    }).annotateMerge(about("Removes a kept response", "Responses that continue it can be read, and not be continued.")),
    HttpApiEndpoint.get("listInput", "/v1/responses/:id/input_items", {
      ...storedResponse,
      query: {
        limit: Schema.optionalKey(Schema.String.annotate({ description: "1 to 100; 20 unless set." })),
        order: Schema.optionalKey(Schema.Literals(["asc", "desc"])),
        after: Schema.optionalKey(Schema.String.annotate({ description: "The last item of the page before." }))
      },
      success: gatewayAnswer(ResponseItemList.annotate({ identifier: "ResponseItemList" }))
    }).annotateMerge(about("The input of a kept response, without what it continues")),
    HttpApiEndpoint.post("cancel", "/v1/responses/:id/cancel", {
      ...storedResponse,
      success: HttpApiSchema.NoContent
    }).annotateMerge(about("Always refused with 400", "No response is made in the background."))
  )
  .middleware(GatewayAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Responses", description: "OpenAI's second dialect, for every chat model." })
  ) {}

// Routes of the public API (/v1, health, metrics) as declarations for the OpenAPI document and typed clients.

const chatStream = HttpApiSchema.StreamSse({ data: ChatChunkEvent })
const askedOfModels = { headers: requestHeaders, error: modelErrors } as const
const askedNatively = { headers: requestHeaders, error: messagesErrors } as const

export class Chat extends HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("createCompletion", operations.chat.path, {
      ...askedOfModels,
      payload: ChatBody,
      success: [orDryRun(ChatCompletionAnswer), chatStream]
    }).annotateMerge(
      about(
        "A chat completion",
        "With stream: true the answer is an event stream: each data line is a chunk, data: [DONE] ends it. A failure after the first byte is one data line with an error, and no [DONE]."
      )
    ),
    HttpApiEndpoint.post("countTokens", operations.countTokens.path, {
      ...askedOfModels,
      payload: ChatBody,
      success: orDryRun(TokenCountAnswer)
    }).annotateMerge(about("What a chat would cost in tokens of input"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Chat", description: "OpenAI's dialect, for every model." })) {}

export class Messages extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.post("create", operations.messages.path, {
      ...askedNatively,
      payload: MessagesBody,
      success: [orDryRun(Message), HttpApiSchema.StreamSse({ data: MessageEvent })]
    }).annotateMerge(
      about(
        "A message",
        "With stream: true the answer is an event stream of Anthropic's own events. A failure after the first byte is an event named error."
      )
    ),
    HttpApiEndpoint.post("countTokens", operations.messagesCountTokens.path, {
      ...askedNatively,
      payload: MessagesCountBody,
      success: orDryRun(MessagesCount)
    }).annotateMerge(about("What a message would cost in tokens of input"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Messages",
      description: "Anthropic's dialect, for Claude; bodies, answers and events pass as they are."
    })
  ) {}

export class Embeddings extends HttpApiGroup.make("embeddings")
  .add(
    HttpApiEndpoint.post("create", operations.embeddings.path, {
      ...askedOfModels,
      payload: EmbeddingsBody,
      success: orDryRun(EmbeddingListAnswer)
    }).annotateMerge(about("Vectors of texts, or of several media"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Embeddings" })) {}

export class Images extends HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("generate", operations.images.path, {
      ...askedOfModels,
      payload: ImagesBody,
      success: orDryRun(ImageListAnswer)
    }).annotateMerge(about("Pictures from a text"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Images" })) {}

const modelId = { id: Schema.String.annotate({ description: "@slug/model; slashes may stand as they are." }) }

export class Models extends HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.get("list", "/v1/models", { success: gatewayAnswer(ModelList), error: keyErrors }).annotateMerge(
      about("What the key may call")
    ),
    HttpApiEndpoint.get("retrieve", "/v1/models/:id", {
      params: modelId,
      success: gatewayAnswer(Model),
      error: keyErrors
    }).annotateMerge(about("One of them"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Models" })) {}

const promptId = { id: Schema.String.annotate({ description: "The prompt's id, or id@version or id@label." }) }

export class Prompts extends HttpApiGroup.make("prompts")
  .add(
    HttpApiEndpoint.post("complete", "/v1/prompts/:id/completions", {
      ...askedOfModels,
      params: promptId,
      payload: PromptBody,
      success: [orDryRun(ChatCompletionAnswer), chatStream]
    }).annotateMerge(about("A chat completion of a prompt", "Answers as a chat completion does, streamed or not.")),
    HttpApiEndpoint.post("render", "/v1/prompts/:id/render", {
      ...askedOfModels,
      params: promptId,
      payload: PromptBody,
      success: gatewayAnswer(RenderedPrompt)
    }).annotateMerge(about("The chat a prompt becomes"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Prompts" })) {}

const notReady = HttpApiSchema.status(503)(Health)
const live = <const Path extends `/${string}`>(name: string, path: Path) =>
  HttpApiEndpoint.get(name, path, { success: Health }).annotateMerge(about("Whether the process answers"))
const ready = <const Path extends `/${string}`>(name: string, path: Path) =>
  HttpApiEndpoint.get(name, path, { success: Health, error: notReady }).annotateMerge(
    about("Whether it takes requests; 503 while it leaves")
  )

/** Routes without a key, at the paths that other systems expect. */
export class Operation extends HttpApiGroup.make("operation")
  .add(
    HttpApiEndpoint.get("root", "/", {
      success: Schema.Struct({ status: Schema.Literal("ok"), docs: Schema.String })
    }).annotateMerge(about("That a gateway is here", "Clients look before their first request.")),
    HttpApiEndpoint.get("hello", "/api/hello", {
      success: Schema.Struct({ status: Schema.Literal("ok"), docs: Schema.String })
    }).annotateMerge(about("The same for Claude Code", "It looks there before its first request.")),
    live("live", "/health/live"),
    live("livez", "/livez"),
    live("healthz", "/healthz"),
    ready("ready", "/health/ready"),
    ready("readyz", "/readyz"),
    ready("health", "/health"),
    HttpApiEndpoint.get("metrics", "/metrics", { success: Schema.String.pipe(HttpApiSchema.asText()) }).annotateMerge(
      about("Metrics in Prometheus' text format", "Open, unless the operator asks for an admin key.")
    ),
    HttpApiEndpoint.get("openapi", "/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Unknown)
    }).annotateMerge(about("This document")),
    HttpApiEndpoint.get("docs", "/docs", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
    }).annotateMerge(about("This document as a page")),
    HttpApiEndpoint.get("guide", "/docs/:page", {
      params: { page: Schema.String },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
    }).annotateMerge(about("A page of the documentation", "index names the others."))
  )
  .annotateMerge(OpenApi.annotations({ title: "Operation" })) {}

/** Every route except the admin API. */
export class GatewayApi extends HttpApi.make("model-gateway").add(
  Chat,
  Responses,
  Messages,
  Embeddings,
  Images,
  Models,
  Prompts,
  Operation
) {}
