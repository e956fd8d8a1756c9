// Which call signatures an answer or a chunk carries, whatever the operation.
// It must not know who remembers them.
import { signaturesOf } from "../translate/shared/signatures.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"

/** A call we returned and the signature that came with it. */
export interface SignedCall {
  readonly callId: string
  readonly signature: string
}

export const replySignatures = (reply: ChatCompletion): ReadonlyArray<SignedCall> =>
  reply.choices.flatMap((choice) => signaturesOf(choice.message))

export const chunkSignatures = (chunk: ChatChunk): ReadonlyArray<SignedCall> =>
  chunk.choices.flatMap((choice) => signaturesOf(choice.delta))
