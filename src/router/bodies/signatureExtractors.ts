// The call signatures that a request's history needs, and those that an answer contains, per operation.
// It must not depend on where signatures are kept.
import type { Operation } from "../../domain/operations.ts"
import type { AttemptContext, Operations } from "../../provider/Provider.ts"
import { translatedHistory } from "../../provider/translated/otherDialect.ts"
import {
  historyCalls,
  signaturesOf,
  SignedBytes,
  type SignedCall
} from "../../translate/shared/chat-request/signatures.ts"

type HistoryTarget = Pick<AttemptContext, "account" | "modelId" | "request">

export interface SignatureExtractors<Op extends Operation> {
  /** Ids of the calls of a request's history, as far as its target is served by a chat. */
  readonly history: (request: Operations[Op]["request"], target: HistoryTarget) => ReadonlyArray<string>
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
  messages: {
    history: translatedHistory,
    reply: ({ signed = [] }) => signed,
    chunks: (chunks) => chunks.flatMap((bytes) => (bytes instanceof SignedBytes ? bytes.signed : []))
  },
  messagesCountTokens: { history: translatedHistory },
  nativeContent: undefined,
  nativeEmbeddings: undefined,
  nativePredictions: undefined,
  nativeCount: undefined
}
