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
  ChatChunkEvent,
  ChatCompletionAnswer,
  EmbeddingListAnswer,
  Health,
  ImageListAnswer,
  ModelList,
  Model,
  orDryRun,
  gatewayAnswer,
  RenderedPrompt,
  TokenCountAnswer
} from "./answers.ts"
import { GatewayAuth } from "./Auth.ts"
import { ChatBody, PromptBody } from "./ChatBody.ts"
import { EmbeddingsBody, ImagesBody } from "./MediaBodies.ts"
import { keyErrors, messagesErrors, modelErrors } from "./ErrorBodies.ts"
import { requestHeaders } from "./headerFields.ts"
import { Responses } from "./ResponsesApi.ts"
import { Message, MessageEvent, MessagesBody, MessagesCount, MessagesCountBody } from "./MessagesBody.ts"

const chatStream = HttpApiSchema.StreamSse({ data: ChatChunkEvent })
const about = (summary: string, description?: string) =>
  OpenApi.annotations(description === undefined ? { summary } : { summary, description })

const asked = { headers: requestHeaders, error: modelErrors } as const
const askedNatively = { headers: requestHeaders, error: messagesErrors } as const

export class Chat extends HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("createCompletion", operations.chat.path, {
      ...asked,
      payload: ChatBody,
      success: [orDryRun(ChatCompletionAnswer), chatStream]
    }).annotateMerge(
      about(
        "A chat completion",
        "With stream: true the answer is an event stream: each data line is a chunk, data: [DONE] ends it. A failure after the first byte is one data line with an error, and no [DONE]."
      )
    ),
    HttpApiEndpoint.post("countTokens", operations.countTokens.path, {
      ...asked,
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
      ...asked,
      payload: EmbeddingsBody,
      success: orDryRun(EmbeddingListAnswer)
    }).annotateMerge(about("Vectors of texts, or of several media"))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Embeddings" })) {}

export class Images extends HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("generate", operations.images.path, {
      ...asked,
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
      ...asked,
      params: promptId,
      payload: PromptBody,
      success: [orDryRun(ChatCompletionAnswer), chatStream]
    }).annotateMerge(about("A chat completion of a prompt", "Answers as a chat completion does, streamed or not.")),
    HttpApiEndpoint.post("render", "/v1/prompts/:id/render", {
      ...asked,
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
