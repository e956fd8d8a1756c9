// What operations share whose answers pass as the upstream's own bytes.
// It must not depend on a dialect's fields.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { PassedReply } from "../translate/messages-to-claude.ts"
import { writtenJson } from "./decoded.ts"
import type { Recorded, Verdict } from "./rules.ts"

/** Bytes as text of one character each, whatever they are. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1")

/** What passes as its own bytes. */
export const recordedBytes: Recorded<PassedReply, Uint8Array> = {
  write: ({ bytes, signed: _signed, ...facts }) => `${JSON.stringify(facts)}\n${textOf(bytes)}`,
  read: (text) => {
    const end = text.indexOf("\n")
    // `write` wrote it, so a cast replaces a check.
    return {
      ...(writtenJson(text.slice(0, end)) as Omit<PassedReply, "bytes" | "signed">),
      bytes: bytesOf(text.slice(end + 1))
    }
  },
  piece: textOf,
  chunks: (pieces) => [bytesOf(pieces)]
}

/** Without streams. */
export const recordedUnary: Recorded<PassedReply, never> = { ...recordedBytes, chunks: () => [] }

const jsonOf = (text: string): Json => Result.getOrElse(parseJsonText(text), () => null)
export const objectsIn = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
export const hasValue = (value: Json | undefined): boolean =>
  typeof value === "string" ? value !== "" : value !== undefined

const decoder = new TextDecoder()

/** The first event of some that decides. */
export const eventsVerdict =
  (verdict: (event: JsonObject) => Verdict) =>
  (bytes: Uint8Array): Verdict => {
    for (const line of decoder.decode(bytes).split("\n")) {
      const event = line.startsWith("data:") ? jsonOf(line.slice("data:".length)) : null
      const decided = isJsonObject(event) ? verdict(event) : undefined
      if (decided !== undefined) return decided
    }
    return undefined
  }

export const replyVerdict =
  (verdict: (reply: JsonObject) => Verdict) =>
  ({ bytes }: PassedReply): Verdict => {
    const reply = jsonOf(decoder.decode(bytes))
    return isJsonObject(reply) ? verdict(reply) : "content"
  }
