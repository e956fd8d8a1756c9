// The client as an Effect service with streams and tagged errors (subpath model-gateway/client/effect).
// It must not know how calls are made; it wraps the promise client.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import {
  type CallOptions,
  type ChatBody,
  type ChatChunk,
  type ChatCompletion,
  type ClientFailure,
  type ClientOptions,
  createClient,
  type EmbeddingList,
  type EmbeddingsBody,
  type EventStream,
  type ImageList,
  type ImagesBody,
  type Message,
  type MessageEvent,
  type MessagesBody,
  type MessagesCount,
  type MessagesCountBody,
  type Model,
  type ModelList,
  type PromptBody,
  type RenderedPrompt,
  type TokenCount
} from "./Client.ts"

/** Without `signal`: interruption aborts the call. */
export type EffectCallOptions = Omit<CallOptions, "signal">

type Asked<Body, Out> = (body: Body, options?: EffectCallOptions) => Effect.Effect<Out, ClientFailure>
type Streamed<Body, Event> = (body: Body, options?: EffectCallOptions) => Stream.Stream<Event, ClientFailure>
type OfPrompt<Result> = (id: string, body?: PromptBody, options?: EffectCallOptions) => Result

/** Operations with a single answer ignore `stream` in the body; streaming operations set it. */
export interface GatewayClientShape {
  readonly chat: Asked<ChatBody, ChatCompletion>
  readonly chatStream: Streamed<ChatBody, ChatChunk>
  readonly countTokens: Asked<ChatBody, TokenCount>
  readonly messages: Asked<MessagesBody, Message>
  readonly messagesStream: Streamed<MessagesBody, MessageEvent>
  readonly messagesCount: Asked<MessagesCountBody, MessagesCount>
  readonly embeddings: Asked<EmbeddingsBody, EmbeddingList>
  readonly images: Asked<ImagesBody, ImageList>
  readonly prompt: OfPrompt<Effect.Effect<ChatCompletion, ClientFailure>>
  readonly promptStream: OfPrompt<Stream.Stream<ChatChunk, ClientFailure>>
  readonly promptRender: OfPrompt<Effect.Effect<RenderedPrompt, ClientFailure>>
  readonly models: (options?: EffectCallOptions) => Effect.Effect<ModelList, ClientFailure>
  readonly model: (id: string, options?: EffectCallOptions) => Effect.Effect<Model, ClientFailure>
}

/** The promise client rejects only with its own failures. */
const failure = (error: unknown): ClientFailure => error as ClientFailure

const asked = <Out>(call: (signal: AbortSignal) => Promise<Out>): Effect.Effect<Out, ClientFailure> =>
  Effect.tryPromise({ try: call, catch: failure })

/** The scope of the stream owns the connection. */
const streamed = <Event>(
  call: (signal: AbortSignal) => Promise<EventStream<Event>>
): Stream.Stream<Event, ClientFailure> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(asked(call), (events) => Effect.sync(() => events.abort()), { interruptible: true }),
      (events) => Stream.fromAsyncIterable(events, failure)
    )
  )

const make = (options: ClientOptions): GatewayClientShape => {
  const client = createClient(options)
  const { completions } = client.chat
  const whole = { stream: false } as const
  const inParts = { stream: true } as const
  return {
    chat: (body, more) => asked((signal) => completions.create({ ...body, ...whole }, { ...more, signal })),
    chatStream: (body, more) => streamed((signal) => completions.create({ ...body, ...inParts }, { ...more, signal })),
    countTokens: (body, more) => asked((signal) => completions.countTokens(body, { ...more, signal })),
    messages: (body, more) => asked((signal) => client.messages.create({ ...body, ...whole }, { ...more, signal })),
    messagesStream: (body, more) =>
      streamed((signal) => client.messages.create({ ...body, ...inParts }, { ...more, signal })),
    messagesCount: (body, more) => asked((signal) => client.messages.countTokens(body, { ...more, signal })),
    embeddings: (body, more) => asked((signal) => client.embeddings.create(body, { ...more, signal })),
    images: (body, more) => asked((signal) => client.images.generate(body, { ...more, signal })),
    prompt: (id, body, more) =>
      asked((signal) => client.prompts.completions.create(id, { ...body, ...whole }, { ...more, signal })),
    promptStream: (id, body, more) =>
      streamed((signal) => client.prompts.completions.create(id, { ...body, ...inParts }, { ...more, signal })),
    promptRender: (id, body, more) => asked((signal) => client.prompts.render(id, body, { ...more, signal })),
    models: (more) => asked((signal) => client.models.list({ ...more, signal })),
    model: (id, more) => asked((signal) => client.models.retrieve(id, { ...more, signal }))
  }
}

export class GatewayClient extends Context.Service<GatewayClient, GatewayClientShape>()(
  "gateway/client/GatewayClient"
) {
  static readonly layer = (options: ClientOptions): Layer.Layer<GatewayClient> =>
    Layer.sync(GatewayClient, () => make(options))
}
