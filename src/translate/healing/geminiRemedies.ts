// Changes a refused Gemini body: thinking levels and budgets, prefill, penalties, log probabilities, signatures.
// Must not depend on the text of the refusal.
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { type ModelRecord, thinkingLevels, type ThinkingWord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { sentinel } from "../chat-to-gemini/messages.ts"
import { effortTokens } from "../shared/chat-request/readOptions.ts"
import { continueText } from "../shared/chat-request/repairHistory.ts"
import { arrayAt, type HealableCall, objectAt, type Remedy, withoutMembers } from "./lessons.ts"

const thinkingOf = (body: JsonObject): JsonObject => objectAt(objectAt(body, "generationConfig"), "thinkingConfig")

const withThinking = (body: JsonObject, thinkingConfig: JsonObject): JsonObject => ({
  ...body,
  generationConfig: { ...objectAt(body, "generationConfig"), thinkingConfig }
})

const rank = (level: ThinkingWord): number => thinkingLevels.indexOf(level)
const isLevel = (word: string): word is ThinkingWord => thinkingLevels.some((level) => level === word)

/** The levels of a model that states none. */
const usualLevels: ReadonlyArray<ThinkingWord> = ["minimal", "low", "medium", "high"]

/** The nearest lower level that was not refused; without one the lowest (M-201). */
const nearestLevel = (
  asked: ThinkingWord,
  { thinking }: ModelRecord,
  refused: ReadonlyArray<string>
): ThinkingWord | undefined => {
  const levels = (thinking?.levels ?? usualLevels).filter((level) => level !== asked && !refused.includes(level))
  return levels.findLast((level) => rank(level) < rank(asked)) ?? levels[0]
}

/** Tokens of each level, for models with budgets. */
const levelTokens: Readonly<Record<ThinkingWord, number>> = {
  ...effortTokens,
  xhigh: 32_768,
  max: 32_768
}

const bounded = (tokens: number, { thinking }: ModelRecord): number =>
  Math.min(Math.max(tokens, thinking?.budget_min ?? 0), thinking?.budget_max ?? levelTokens.max)

const sentLevel = (body: JsonObject): ThinkingWord | undefined => {
  const level = thinkingOf(body)["thinkingLevel"]
  const word = typeof level === "string" ? level.toLowerCase() : ""
  return isLevel(word) ? word : undefined
}

/** The model takes budgets only. */
export const levelToBudget: Remedy = ({ body, record, thinkingParam }) => {
  const level = sentLevel(body)
  if (level === undefined) return undefined
  const { thinkingLevel: _level, ...others } = thinkingOf(body)
  const thinkingBudget = bounded(levelTokens[level], record)
  return {
    body: withThinking(body, { ...others, thinkingBudget }),
    adjusted: [{ param: thinkingParam, asked: level, sent: String(thinkingBudget), takes: ["a budget of tokens"] }]
  }
}

export const nearerLevel: Remedy = ({ body, record, thinkingParam }, value, values) => {
  const level = sentLevel(body)
  if (level === undefined || level !== value) return undefined
  const sent = nearestLevel(level, record, values)
  if (sent === undefined) return undefined
  const takes = (record.thinking?.levels ?? usualLevels).filter((word) => !values.includes(word))
  return {
    body: withThinking(body, { ...thinkingOf(body), thinkingLevel: sent.toUpperCase() }),
    adjusted: [{ param: thinkingParam, asked: level, sent, takes }]
  }
}

/** The lowest budget of Gemini 2.5 Pro. Source: Gemini API, thinking budgets. */
const leastBudget = 128

/** The model cannot stop thinking. */
export const leastThinking: Remedy = ({ body, record, thinkingParam }) => {
  const thinking = thinkingOf(body)
  if (thinking["thinkingBudget"] !== 0) return undefined
  const thinkingBudget = Math.max(leastBudget, record.thinking?.budget_min ?? 0)
  return {
    body: withThinking(body, { ...thinking, thinkingBudget }),
    adjusted: [{ param: thinkingParam, asked: "none", sent: String(thinkingBudget), takes: ["a budget above 0"] }]
  }
}

/** A budget beyond the refused one is refused as well. */
export const largestBudget: Remedy = ({ body, record, thinkingParam }, value) => {
  const { thinkingBudget: budget, ...others } = thinkingOf(body)
  if (typeof budget !== "number" || budget < Number(value)) return undefined
  const largest = record.thinking?.budget_max
  if (largest !== undefined && budget <= largest) return undefined
  return {
    body: withThinking(body, {
      ...others,
      ...(largest === undefined ? { thinkingLevel: "HIGH" } : { thinkingBudget: largest })
    }),
    adjusted: [
      {
        param: thinkingParam,
        asked: String(budget),
        sent: largest === undefined ? "high" : String(largest),
        takes: [largest === undefined ? "a level" : `a budget up to ${largest}`]
      }
    ]
  }
}

/** The last turn is the model's, without a call: its continuation is asked for. */
export const continuedTurn: Remedy = ({ body }) => {
  const contents = arrayAt(body, "contents")
  const last = contents?.at(-1)
  if (contents === undefined || !isJsonObject(last) || last["role"] !== "model") return undefined
  const parts = last["parts"]
  if (Array.isArray(parts) && parts.some((part) => isJsonObject(part) && part["functionCall"] !== undefined))
    return undefined
  return {
    body: { ...body, contents: [...contents, { role: "user", parts: [{ text: continueText }] }] },
    adjusted: [{ param: "messages", asked: "prefill", sent: "continue", takes: ["a user message at the end"] }]
  }
}

/** Fields of `generationConfig` that are left out, each with its request parameter. */
const droppedFields =
  (fields: Readonly<Record<string, string>>): Remedy =>
  ({ body }) => {
    const config = objectAt(body, "generationConfig")
    const sent = Object.keys(fields).filter((field) => config[field] !== undefined)
    return sent.length === 0
      ? undefined
      : {
          body: { ...body, generationConfig: withoutMembers(config, ...sent) },
          ignored: sent.flatMap((field) => fields[field] ?? [])
        }
  }

export const withoutPenalties: Remedy = droppedFields({
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty"
})

export const withoutLogprobs: Remedy = droppedFields({ responseLogprobs: "logprobs", logprobs: "top_logprobs" })

export const oneCandidate: Remedy = ({ body }) => {
  const config = objectAt(body, "generationConfig")
  const count = config["candidateCount"]
  return typeof count === "number" && count > 1
    ? {
        body: { ...body, generationConfig: withoutMembers(config, "candidateCount") },
        adjusted: [{ param: "n", asked: String(count), sent: "1", takes: ["1"] }]
      }
    : undefined
}

/** The length of an answer is at most the one that the refusal names. */
export const shorterAnswer: Remedy = ({ body }, value) => {
  const most = Number(value)
  const config = objectAt(body, "generationConfig")
  const [asked, shorter] =
    body["max_tokens"] === undefined
      ? [config["maxOutputTokens"], { generationConfig: { ...config, maxOutputTokens: most } }]
      : [body["max_tokens"], { max_tokens: most }]
  return typeof asked === "number" && asked > most && most > 0
    ? {
        body: { ...body, ...shorter },
        adjusted: [{ param: "max_tokens", asked: String(asked), sent: value, takes: [`up to ${value}`] }]
      }
    : undefined
}

export const refusedToolsWithSchema: Remedy = ({ body }) =>
  body["tools"] === undefined || objectAt(body, "generationConfig")["responseMimeType"] === undefined
    ? undefined
    : new BodyInvalid({
        code: "tools_with_schema_unsupported",
        param: "response_format",
        message: "This model takes no tools together with response_format; send one of them."
      })

/** A turn of the model with its first unsigned call signed by the sentinel. */
const signedTurn = (turn: Json): Json => {
  const parts = isJsonObject(turn) ? turn["parts"] : undefined
  if (!isJsonObject(turn) || !Array.isArray(parts)) return turn
  const at = parts.findIndex((part) => isJsonObject(part) && part["functionCall"] !== undefined)
  const call: unknown = parts[at]
  if (!isJsonObject(call) || call["thoughtSignature"] !== undefined) return turn
  return { ...turn, parts: parts.with(at, { ...call, thoughtSignature: sentinel }) }
}

/** Calls of the history that came without a signature. */
export const signedCalls: Remedy = ({ body }: HealableCall) => {
  const contents = arrayAt(body, "contents")
  if (contents === undefined) return undefined
  const signed = contents.map(signedTurn)
  return signed.every((turn, at) => turn === contents[at])
    ? undefined
    : {
        body: { ...body, contents: signed },
        adjusted: [{ param: "messages", asked: "signature", sent: "sentinel", takes: ["signed calls"] }]
      }
}
