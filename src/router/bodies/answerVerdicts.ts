// Judges an answer that a config may replace by that of another target: a refusal, an empty answer, or one that stands.
// It must not depend on plans, or on how an answer arrives.
import * as Result from "effect/Result"
import type { AnswerFault } from "../../domain/config/GatewayConfig.ts"
import type { Operation } from "../../domain/operations.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import type { PassedReply } from "../../translate/messages-to-claude.ts"
import { filterWords } from "../../translate/shared/google/filterWords.ts"
import type { Operations } from "../../provider/Provider.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"

/** What is known of an answer: `undefined` as long as nothing of it decides. */
export type Verdict = AnswerFault | "content" | undefined

const jsonOf = (text: string): Json => Result.getOrElse(parseJsonText(text), () => null)
const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
const hasSome = (value: Json | undefined): boolean => (typeof value === "string" ? value !== "" : value !== undefined)

const ofCompletion = ({ choices }: ChatCompletion): Verdict => {
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
const ofChunk = ({ choices }: ChatChunk): Verdict => {
  for (const { delta, finish_reason: finish } of choices) {
    const { role: _role, content, refusal: _refusal, ...others } = delta
    if ((content ?? "") !== "" || Object.values(others).some((value) => value !== undefined && value !== null))
      return "content"
    if (finish !== null) return finish === "content_filter" ? "refusal" : "empty"
  }
  return undefined
}

/** A message of Anthropic's, whole. */
const ofMessage = (message: JsonObject): Verdict => {
  if (message["stop_reason"] === "refusal") return "refusal"
  const isText = ({ text, type }: JsonObject) => type === "text" && !hasSome(text)
  return objects(message["content"]).every(isText) ? "empty" : "content"
}

const ofMessageEvent = (event: JsonObject): Verdict => {
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
const ofGemini = (reply: JsonObject): Verdict => {
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
const ofEvents =
  (verdict: (event: JsonObject) => Verdict) =>
  (bytes: Uint8Array): Verdict => {
    for (const line of decoder.decode(bytes).split("\n")) {
      const event = line.startsWith("data:") ? jsonOf(line.slice("data:".length)) : null
      const decided = isJsonObject(event) ? verdict(event) : undefined
      if (decided !== undefined) return decided
    }
    return undefined
  }

const ofReply =
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
  chat: { whole: ofCompletion, chunk: ofChunk },
  countTokens: undefined,
  embeddings: undefined,
  images: undefined,
  messages: { whole: ofReply(ofMessage), chunk: ofEvents(ofMessageEvent) },
  messagesCountTokens: undefined,
  nativeContent: { whole: ofReply(ofGemini), chunk: ofEvents(ofGemini) },
  nativeEmbeddings: undefined,
  nativePredictions: undefined,
  nativeCount: undefined
}
