// The answers of each operation: as text for the cache, the verdict of a config, and their call signatures.
// It must not depend on plans or keys, or on where answers and signatures are kept.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseExactJsonText, parseJsonText } from "../domain/text/json.ts"
import type { Operation } from "../domain/operations.ts"
import type { AttemptContext, Operations } from "../provider/Provider.ts"
import type { AnswerFault } from "../domain/config/GatewayConfig.ts"
import type { PassedReply } from "../translate/messages-to-claude.ts"
import { filterWords } from "../translate/shared/gemini.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import { translatedHistory } from "../provider/messagesByChat.ts"
import {
  historyCalls,
  signaturesOf,
  SignedBytes,
  type SignedCall
} from "../translate/shared/chat-request/signatures.ts"

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
const recordedJson = <Out, Chunk>(): Recorded<Out, Chunk> => ({
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
const recordedBytes: Recorded<Operations["messages"]["out"], Uint8Array> = {
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
const recordedUnary: Recorded<Operations["messages"]["out"], never> = { ...recordedBytes, chunks: () => [] }

export const recorded: { readonly [Op in Operation]: Recorded<Operations[Op]["out"], Operations[Op]["chunk"]> } = {
  // A token asks the provider for the rest of the answer, and is of no use to another request (M-607).
  chat: {
    ...recordedJson(),
    isPart: ({ choices }) => choices.some(({ continuation_token: token }) => token !== undefined)
  },
  countTokens: recordedJson(),
  embeddings: recordedJson(),
  images: recordedJson(),
  messages: recordedBytes,
  messagesCountTokens: recordedUnary,
  nativeContent: recordedBytes,
  nativeEmbeddings: recordedUnary,
  nativePredictions: recordedUnary,
  nativeCount: recordedUnary
}

// Judges an answer that a config may replace by that of another target: a refusal, an empty answer, or one that stands.

/** What is known of an answer: `undefined` as long as nothing of it decides. */
export type Verdict = AnswerFault | "content" | undefined

export const faultOfVerdict = (verdict: Verdict): AnswerFault | undefined =>
  verdict === "content" ? undefined : verdict

const jsonOf = (text: string): Json => Result.getOrElse(parseJsonText(text), () => null)
const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
const hasSome = (value: Json | undefined): boolean => (typeof value === "string" ? value !== "" : value !== undefined)

const completionVerdict = ({ choices }: ChatCompletion): Verdict => {
  if (choices.some(({ finish_reason: finish }) => finish === "content_filter")) return "refusal"
  const isEmpty = choices.every(
    ({ message }) =>
      (message.content ?? "") === "" &&
      (message.tool_calls ?? []).length === 0 &&
      message.function_call === undefined &&
      (message.content_blocks ?? []).length === 0 &&
      (message.audio ?? undefined) === undefined
  )
  return isEmpty ? "empty" : "content"
}

/** The end of the stream gives its reason in a chunk with choices. */
const chunkVerdict = ({ choices }: ChatChunk): Verdict => {
  for (const { delta, finish_reason: finish } of choices) {
    const { role: _role, content, refusal: _refusal, ...others } = delta
    if ((content ?? "") !== "" || Object.values(others).some((value) => value !== undefined && value !== null))
      return "content"
    if (finish !== null) return finish === "content_filter" ? "refusal" : "empty"
  }
  return undefined
}

/** A message of Anthropic's, whole. */
const messageVerdict = (message: JsonObject): Verdict => {
  if (message["stop_reason"] === "refusal") return "refusal"
  const isText = ({ text, type }: JsonObject) => type === "text" && !hasSome(text)
  return objects(message["content"]).every(isText) ? "empty" : "content"
}

const messageEventVerdict = (event: JsonObject): Verdict => {
  const delta = isJsonObject(event["delta"]) ? event["delta"] : {}
  if (event["type"] === "content_block_delta") return "content"
  if (event["type"] === "content_block_start") {
    const block = isJsonObject(event["content_block"]) ? event["content_block"] : {}
    return block["type"] === "text" || block["type"] === "thinking" ? undefined : "content"
  }
  if (event["type"] !== "message_delta" || typeof delta["stop_reason"] !== "string") return undefined
  return delta["stop_reason"] === "refusal" ? "refusal" : "empty"
}

/** A whole answer of Gemini's, or an event: one without an end decides by its content alone. */
const geminiVerdict = (reply: JsonObject): Verdict => {
  const feedback = isJsonObject(reply["promptFeedback"]) ? reply["promptFeedback"] : {}
  if (hasSome(feedback["blockReason"])) return "refusal"
  const candidates = objects(reply["candidates"])
  const hasParts = candidates.some(({ content }) =>
    objects(isJsonObject(content) ? content["parts"] : undefined).some((part) =>
      Object.values(part).some((value) => value !== "" && value !== undefined)
    )
  )
  const reasons = candidates.map(({ finishReason }) => finishReason).filter((reason) => typeof reason === "string")
  if (reasons.some((reason) => filterWords.has(reason))) return "refusal"
  if (hasParts) return "content"
  return reasons.length === 0 ? undefined : "empty"
}

const decoder = new TextDecoder()

/** The first event of some that decides. */
const eventsVerdict =
  (verdict: (event: JsonObject) => Verdict) =>
  (bytes: Uint8Array): Verdict => {
    for (const line of decoder.decode(bytes).split("\n")) {
      const event = line.startsWith("data:") ? jsonOf(line.slice("data:".length)) : null
      const decided = isJsonObject(event) ? verdict(event) : undefined
      if (decided !== undefined) return decided
    }
    return undefined
  }

const replyVerdict =
  (verdict: (reply: JsonObject) => Verdict) =>
  ({ bytes }: PassedReply): Verdict => {
    const reply = jsonOf(decoder.decode(bytes))
    return isJsonObject(reply) ? verdict(reply) : "content"
  }

interface Judges<Out, Chunk> {
  readonly whole: (out: Out) => Verdict
  readonly chunk: (chunk: Chunk) => Verdict
}

/** Undefined for operations whose answers cannot be refusals. */
export const answerVerdicts: {
  readonly [Op in Operation]: Judges<Operations[Op]["out"], Operations[Op]["chunk"]> | undefined
} = {
  chat: { whole: completionVerdict, chunk: chunkVerdict },
  countTokens: undefined,
  embeddings: undefined,
  images: undefined,
  messages: { whole: replyVerdict(messageVerdict), chunk: eventsVerdict(messageEventVerdict) },
  messagesCountTokens: undefined,
  nativeContent: { whole: replyVerdict(geminiVerdict), chunk: eventsVerdict(geminiVerdict) },
  nativeEmbeddings: undefined,
  nativePredictions: undefined,
  nativeCount: undefined
}

// The call signatures that a request's history needs, and those that an answer contains, per operation.

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
