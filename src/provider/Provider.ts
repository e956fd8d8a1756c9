// The interface of a provider: a pure route per operation, and one effect that authorises.
// It must not depend on configs, retries or HTTP of our own side.
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { Labels } from "../domain/settings/attribution.ts"
import type { MessagesRequest, PassedReply } from "../translate/messages-to-claude.ts"
import type { NativeRequest } from "../translate/native/nativeBody.ts"
import type { FetchedMedia, KnownSignature } from "../translate/Translator.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { AuthHeaders } from "../upstream/Upstream.ts"
import type { ChatRequest, TokenCount } from "../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import type { EmbeddingList, EmbeddingsRequest } from "../wire/openai/Embeddings.ts"
import type { ImageList, ImagesRequest } from "../wire/openai/Images.ts"

/** Request, unary answer and chunk of every operation. A row of `domain/operations.ts` without one here does not compile. */
export interface Operations {
  readonly chat: { readonly request: ChatRequest; readonly out: ChatCompletion; readonly chunk: ChatChunk }
  readonly embeddings: { readonly request: EmbeddingsRequest; readonly out: EmbeddingList; readonly chunk: never }
  readonly images: { readonly request: ImagesRequest; readonly out: ImageList; readonly chunk: never }
  readonly countTokens: { readonly request: ChatRequest; readonly out: TokenCount; readonly chunk: never }
  readonly messages: { readonly request: MessagesRequest; readonly out: PassedReply; readonly chunk: Uint8Array }
  readonly messagesCountTokens: { readonly request: MessagesRequest; readonly out: PassedReply; readonly chunk: never }
  readonly nativeContent: { readonly request: NativeRequest; readonly out: PassedReply; readonly chunk: Uint8Array }
  readonly nativeEmbeddings: { readonly request: NativeRequest; readonly out: PassedReply; readonly chunk: never }
  readonly nativePredictions: { readonly request: NativeRequest; readonly out: PassedReply; readonly chunk: never }
  readonly nativeCount: { readonly request: NativeRequest; readonly out: PassedReply; readonly chunk: never }
}

/** The context of one attempt: account, model, recalled signatures, fetched media. */
export interface AttemptContext {
  readonly request: RequestContext
  readonly account: ProviderAccount
  /** The model as the client wrote it. */
  readonly model: string
  /** The model without its slug. */
  readonly modelId: string
  /** The facts about models in force. */
  readonly models: ModelTable
  readonly stream: boolean
  readonly optionIndex: number
  /** The config has targets of several kinds of provider, so the history may hold what another kind signed. */
  readonly mixesKinds?: boolean
  /** The operator's labels; undefined for none. */
  readonly labels?: Labels | undefined
  readonly callId: (n: number) => string
  readonly signature: (callId: string) => KnownSignature | undefined
  readonly media: (url: string) => FetchedMedia | undefined
}

/** The call of an operation, ready to be sent. */
export type PreparedCall<Op extends Operation> = Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>

export type Prepare<Op extends Operation> = (
  request: Operations[Op]["request"],
  context: AttemptContext
) => Result.Result<PreparedCall<Op>, GatewayError>

/** All operations, for a provider of ours: it decides about each. */
export type EveryPrepare = { readonly [Op in Operation]: Prepare<Op> }

export interface Provider {
  /** A missing operation is a missing key. */
  readonly prepare: { readonly [Op in Operation]?: Prepare<Op> }
  /** Addresses of media that a call needs as bytes, since its upstream fetches none; a missing operation needs none. */
  readonly media?: {
    readonly [Op in Operation]?: (
      request: Operations[Op]["request"],
      model: Pick<AttemptContext, "account" | "modelId">
    ) => ReadonlyArray<string>
  }
  readonly authorize: (account: ProviderAccount) => Effect.Effect<AuthHeaders, ProviderError>
  /** Drops a cached token that the upstream refused; true when a new one can be tried. */
  readonly refresh: (account: ProviderAccount) => Effect.Effect<boolean>
}
