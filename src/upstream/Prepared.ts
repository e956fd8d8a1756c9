// An upstream call made ready: URL, headers, body, and how to read the answer. No credential, no I/O.
// It must not know the client's HTTP or any account secret.
import type * as Result from "effect/Result"
import type { Json } from "../domain/json.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Machine, StreamFailed } from "../translate/Translator.ts"

/** The operations of the service. */
export type OperationName = "chat" | "messages" | "embeddings" | "images" | "countTokens" | "messagesCountTokens"

export interface Target {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly operation: OperationName
  readonly optionIndex: number
}

export interface Prepared<Out, Chunk> {
  readonly target: Target
  readonly method: "POST"
  readonly url: string
  /** Never a credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly ignored: ReadonlyArray<string>
  /** Reads a complete answer of any status. */
  readonly reply: (
    status: number,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array
  ) => Result.Result<Out, ProviderError>
  /** From network bytes of a 200 stream to chunks. */
  readonly chunks: (headers: Readonly<Record<string, string>>) => Machine<Uint8Array, Chunk | StreamFailed>
}
