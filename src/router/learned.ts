// Which call signatures an operation's history asks for, and which its answers teach.
// It must not know who remembers them.
import type { Operations } from "../provider/Provider.ts"
import { historyCalls, signaturesOf } from "../translate/shared/chat-request/signatures.ts"

/** A call we returned and the signature that came with it. */
export interface SignedCall {
  readonly callId: string
  readonly signature: string
}

export interface Lessons<Op extends keyof Operations> {
  /** Ids of the calls of a request's history. */
  readonly history: (request: Operations[Op]["request"]) => ReadonlyArray<string>
  readonly reply?: (reply: Operations[Op]["out"]) => ReadonlyArray<SignedCall>
  /** Of all chunks that came at once; nearly always none. */
  readonly chunks?: (chunks: ReadonlyArray<Operations[Op]["chunk"]>) => ReadonlyArray<SignedCall>
}

/** An operation that is not here has nothing to do with signatures. */
export const lessons: { readonly [Op in keyof Operations]?: Lessons<Op> } = {
  chat: {
    history: historyCalls,
    reply: ({ choices }) => choices.flatMap(({ message }) => signaturesOf(message)),
    chunks: (chunks) => {
      const signed: Array<SignedCall> = []
      for (const { choices } of chunks) {
        for (const { delta } of choices) if (delta.tool_calls !== undefined) signed.push(...signaturesOf(delta))
      }
      return signed
    }
  },
  countTokens: { history: historyCalls }
}
