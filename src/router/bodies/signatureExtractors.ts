// The call signatures that a request's history needs, and those that an answer contains, per operation.
// It must not depend on where signatures are kept.
import type { Operation } from "../../domain/operations.ts"
import type { Operations } from "../../provider/Provider.ts"
import { historyCalls, signaturesOf } from "../../translate/shared/chat-request/signatures.ts"

/** A call we returned and the signature that came with it. */
export interface SignedCall {
  readonly callId: string
  readonly signature: string
}

export interface SignatureExtractors<Op extends Operation> {
  /** Ids of the calls of a request's history. */
  readonly history: (request: Operations[Op]["request"]) => ReadonlyArray<string>
  readonly reply?: (reply: Operations[Op]["out"]) => ReadonlyArray<SignedCall>
  /** Of the chunks of one network read; nearly always empty. */
  readonly chunks?: (chunks: ReadonlyArray<Operations[Op]["chunk"]>) => ReadonlyArray<SignedCall>
}

/** Undefined for operations without signatures. */
export const signatureExtractors: { readonly [Op in Operation]: SignatureExtractors<Op> | undefined } = {
  chat: {
    history: historyCalls,
    reply: ({ choices }) => choices.flatMap(({ message }) => signaturesOf(message)),
    chunks: (chunks) => {
      const signed: Array<SignedCall> = []
      for (const { choices } of chunks) {
        for (const { delta } of choices)
          if (delta.tool_calls !== undefined) for (const one of signaturesOf(delta)) signed.push(one)
      }
      return signed
    }
  },
  countTokens: { history: historyCalls },
  embeddings: undefined,
  images: undefined,
  messages: undefined,
  messagesCountTokens: undefined,
  nativeContent: undefined,
  nativeEmbeddings: undefined,
  nativePredictions: undefined,
  nativeCount: undefined
}
