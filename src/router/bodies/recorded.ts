// Answers and chunks as text and back, for the cache.
// It must not depend on keys, or on how long an answer is good.
import * as Result from "effect/Result"
import { type Json, parseExactJsonText } from "../../domain/text/json.ts"
import type { Operation } from "../../domain/operations.ts"
import type { Operations } from "../../provider/Provider.ts"

/** `read` takes only text of `write`. */
export interface Recorded<Out, Chunk> {
  readonly write: (out: Out) => string
  readonly read: (text: string) => Out
  /** A whole stream is the pieces of its chunks, one after the other. */
  readonly piece: (chunk: Chunk) => string
  readonly chunks: (pieces: string) => ReadonlyArray<Chunk>
  /** True for an answer, or the chunk of one, that must not be kept; undefined: all are kept. */
  readonly isPart?: (value: Out | Chunk) => boolean
}

const parsed = (text: string): Json => Result.getOrElse(parseExactJsonText(text), () => null)

/** Our own text of a value of ours is that value. */
// What is read was written by the same functions, so casts replace a check.
const asJson = <Out, Chunk>(): Recorded<Out, Chunk> => ({
  write: (out) => JSON.stringify(out),
  read: (text) => parsed(text) as Out,
  piece: (chunk) => `${JSON.stringify(chunk)}\n`,
  chunks: (pieces) =>
    pieces
      .split("\n")
      .slice(0, -1)
      // As above.
      .map((piece) => parsed(piece) as Chunk)
})

/** Bytes as text of one character each, whatever they are. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1")

/** What passes as its own bytes. */
const asBytes: Recorded<Operations["messages"]["out"], Uint8Array> = {
  write: ({ bytes, signed: _signed, ...facts }) => `${JSON.stringify(facts)}\n${textOf(bytes)}`,
  read: (text) => {
    const end = text.indexOf("\n")
    // As above.
    return {
      ...(parsed(text.slice(0, end)) as Omit<Operations["messages"]["out"], "bytes" | "signed">),
      bytes: bytesOf(text.slice(end + 1))
    }
  },
  piece: textOf,
  chunks: (pieces) => [bytesOf(pieces)]
}

/** Without streams. */
const unstreamed: Recorded<Operations["messages"]["out"], never> = { ...asBytes, chunks: () => [] }

export const recorded: { readonly [Op in Operation]: Recorded<Operations[Op]["out"], Operations[Op]["chunk"]> } = {
  // A token asks the provider for the rest of the answer, and is of no use to another request (M-607).
  chat: {
    ...asJson(),
    isPart: ({ choices }) => choices.some(({ continuation_token: token }) => token !== undefined)
  },
  countTokens: asJson(),
  embeddings: asJson(),
  images: asJson(),
  messages: asBytes,
  messagesCountTokens: unstreamed,
  nativeContent: asBytes,
  nativeEmbeddings: unstreamed,
  nativePredictions: unstreamed,
  nativeCount: unstreamed
}
