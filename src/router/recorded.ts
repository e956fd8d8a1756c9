// Answers and chunks as text and back, for the cache.
// It must not know keys, or how long an answer is good.
import * as Result from "effect/Result"
import { type Json, parseExactJsonText } from "../domain/text/json.ts"
import type { Operations } from "../provider/Provider.ts"

/** `read` takes nothing but what `write` made. */
export interface Recorded<Out, Chunk> {
  readonly write: (out: Out) => string
  readonly read: (text: string) => Out
  /** A whole stream is the pieces of its chunks, one behind the other. */
  readonly piece: (chunk: Chunk) => string
  readonly chunks: (pieces: string) => ReadonlyArray<Chunk>
}

const parsed = (text: string): Json => Result.getOrElse(parseExactJsonText(text), () => null)

/** Our own text of a value of ours is that value. */
const asJson = <Out, Chunk>(): Recorded<Out, Chunk> => ({
  write: (out) => JSON.stringify(out),
  read: (text) => parsed(text) as Out,
  piece: (chunk) => `${JSON.stringify(chunk)}\n`,
  chunks: (pieces) =>
    pieces
      .split("\n")
      .slice(0, -1)
      .map((piece) => parsed(piece) as Chunk)
})

/** Bytes as text of one character each, whatever they are. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1")

/** What passes as its own bytes. */
const asBytes: Recorded<Operations["messages"]["out"], Uint8Array> = {
  write: ({ bytes, ...facts }) => `${JSON.stringify(facts)}\n${textOf(bytes)}`,
  read: (text) => {
    const end = text.indexOf("\n")
    return {
      ...(parsed(text.slice(0, end)) as Omit<Operations["messages"]["out"], "bytes">),
      bytes: bytesOf(text.slice(end + 1))
    }
  },
  piece: textOf,
  chunks: (pieces) => [bytesOf(pieces)]
}

export const recorded: { readonly [Op in keyof Operations]: Recorded<Operations[Op]["out"], Operations[Op]["chunk"]> } =
  {
    chat: asJson(),
    countTokens: asJson(),
    embeddings: asJson(),
    images: asJson(),
    messages: asBytes,
    // Without streams.
    messagesCountTokens: { ...asBytes, chunks: () => [] }
  }
