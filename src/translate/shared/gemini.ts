// Facts of a Gemini model from its record, and what its answers report: the end of the model, filters.
// Must not depend on requests or read ids.
import type { ModelEnding } from "../../domain/models/modelLife.ts"
import { versionOf } from "../../domain/models/modelName.ts"
import type { ModelRecord, ThinkingWord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { GenerateContentReply } from "../../wire/google.ts"
import type { ModelStatus } from "../../wire/openai/ChatReply.ts"

export type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH" | "XHIGH"

export interface ModelFacts {
  readonly generation: "gemma" | "g1" | "g2.0" | "g2.5" | "g3" | "tuned"
  /** True for the old experimental models, which join their chain of thought to the answer. */
  readonly joinsThoughts: boolean
  readonly thinking: "none" | "budget" | "level"
  /** True when thinking can be switched off. */
  readonly canStop: boolean
  /** Legal budgets in addition to 0 and -1; undefined: budgets are sent unchanged. */
  readonly budget: readonly [number, number] | undefined
  /** Legal levels in rising order; empty unless `thinking` is `level`. */
  readonly levels: ReadonlyArray<ThinkingLevel>
  /** The level that replaces "off"; undefined unless `thinking` is `level`. */
  readonly quietLevel: ThinkingLevel | undefined
  /** False for models that take a level only: Gemini 4 and Gemma 4. */
  readonly takesBudget: boolean
  /** `json` is `parametersJsonSchema`; `subset` is the older OpenAPI subset in `parameters`. */
  readonly toolSchema: "json" | "subset"
  /** True when the documented sentinel replaces a missing signature. */
  readonly sentinel: boolean
  readonly image: boolean
  /** True for a model that answers with audio alone. */
  readonly speaks: boolean
  /** False: the last message must not be the assistant's (M-300). */
  readonly allowsPrefill: boolean
  /** Parameters that are not sent, as the record spells them: `@google` or `@vertex-ai` limits one to a provider. */
  readonly withheld: ReadonlySet<string>
  /** Most answers to one request; undefined: the upstream decides. */
  readonly mostAnswers: number | undefined
  /** False for models without explicit caches (M-505). */
  readonly explicitCache: boolean
  /** Most output tokens of one request, for models whose longer answers come in several (M-601). */
  readonly longDecode: { readonly stream: number; readonly unary: number } | undefined
  /** Endings of the office files that the model reads (M-711). */
  readonly officeFiles: ReadonlySet<string>
}

/** Google's name of each level. */
export const geminiLevels: Readonly<Record<ThinkingWord, ThinkingLevel>> = {
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "XHIGH",
  max: "XHIGH"
}

const generationOf = (record: ModelRecord): ModelFacts["generation"] => {
  if (record.family === "gemma") return "gemma"
  const version = versionOf(record)
  if (version === undefined || version >= 3) return "g3"
  if (version >= 2.5) return "g2.5"
  return version >= 2 ? "g2.0" : "g1"
}

const thinkingOf = (
  record: ModelRecord
): Pick<ModelFacts, "thinking" | "canStop" | "budget" | "levels" | "quietLevel" | "takesBudget"> => {
  const {
    budget_max: most,
    budget_min: least,
    can_disable: canStop,
    control,
    levels: words = []
  } = record.thinking ?? {}
  const levels = control === "level" ? words.map((word) => geminiLevels[word]) : []
  return {
    thinking: control === "budget" || control === "level" ? control : "none",
    canStop: control === "budget" && canStop === true,
    budget: control === "budget" && least !== undefined && most !== undefined ? [least, most] : undefined,
    levels,
    quietLevel: levels[0],
    takesBudget: record.sampling?.refused?.includes("thinking_budget") !== true && (versionOf(record) ?? 0) < 4
  }
}

/** Of these the service refuses all or none; the record of a new generation may lack one (M-501, M-502). */
const penalties = ["presence_penalty", "frequency_penalty", "logprobs"] as const

/** A model without stated facts is treated as its generation: Gemini 3 and later take neither penalties nor logprobs. */
const withheldBy = ({ sampling, ...record }: ModelRecord): ReadonlySet<string> => {
  const isNewest = record.family === "gemini" && generationOf(record) === "g3"
  const refused = sampling?.refused ?? (isNewest ? penalties : [])
  const kin = ["", "@google", "@vertex-ai"].flatMap((at) =>
    refused.includes(`presence_penalty${at}`) ? penalties.map((name) => `${name}${at}`) : []
  )
  return new Set([...refused, ...kin, ...(sampling?.ignored ?? [])])
}

const plainInputs: ReadonlySet<string> = new Set(["text", "image", "audio", "video", "pdf"])

const ruledBy = (
  record: ModelRecord
): Pick<ModelFacts, "allowsPrefill" | "withheld" | "mostAnswers" | "explicitCache" | "longDecode" | "officeFiles"> => {
  const { stream, unary } = record.long_decode ?? {}
  return {
    allowsPrefill: record.allows_prefill !== false,
    withheld: withheldBy(record),
    mostAnswers: record.candidate_count_max,
    explicitCache: record.caching?.explicit !== false,
    longDecode: stream === undefined || unary === undefined ? undefined : { stream, unary },
    officeFiles: new Set((record.input ?? []).filter((kind) => !plainInputs.has(kind)))
  }
}

const factsOf = (record: ModelRecord): ModelFacts => {
  const generation = generationOf(record)
  const isNew = generation === "g2.5" || generation === "g3"
  return {
    generation,
    joinsThoughts: record.joins_thoughts === true,
    ...thinkingOf(record),
    toolSchema: isNew ? "json" : "subset",
    sentinel: generation === "g3",
    image: record.output?.includes("image") === true,
    speaks: record.output?.length === 1 && record.output[0] === "audio" && record.operation !== "live",
    ...ruledBy(record)
  }
}

const tunedFacts: ModelFacts = {
  generation: "tuned",
  joinsThoughts: false,
  thinking: "budget",
  canStop: true,
  budget: undefined,
  levels: [],
  quietLevel: undefined,
  takesBudget: true,
  toolSchema: "subset",
  sentinel: false,
  image: false,
  speaks: false,
  allowsPrefill: true,
  withheld: new Set(),
  mostAnswers: undefined,
  explicitCache: true,
  longDecode: undefined,
  officeFiles: new Set()
}

/** True for a parameter that the model refuses or ignores on that provider. */
export const isWithheld = ({ withheld }: ModelFacts, kind: string, param: string): boolean =>
  withheld.has(param) || withheld.has(`${param}@${kind}`)

const known = new WeakMap<ModelRecord, ModelFacts>()

/** `tuned` marks the id as the number of a tuned endpoint; such an id reveals no other fact. */
export const modelFacts = (record: ModelRecord, options?: { readonly tuned?: boolean }): ModelFacts => {
  if (options?.tuned === true) return tunedFacts
  const cachedFacts = known.get(record)
  if (cachedFacts !== undefined) return cachedFacts
  const facts = factsOf(record)
  known.set(record, facts)
  return facts
}

// What the Gemini API reports of its model's life, as a field of the gateway's answers, and the end it means (M-703).

type GeminiStatus = NonNullable<GenerateContentReply["modelStatus"]>

export const modelStatusOf = ({ message, modelStage, retirementTime }: GeminiStatus): ModelStatus => ({
  ...(modelStage ? { stage: modelStage } : {}),
  ...(retirementTime ? { retirement_time: retirementTime } : {}),
  ...(message ? { message } : {})
})

/** The same of a native answer, whose members may have any type. */
export const readModelStatus = (status: JsonObject | undefined): ModelStatus | undefined => {
  if (status === undefined) return undefined
  const { modelStage: stage, retirementTime: time } = status
  return {
    ...(typeof stage === "string" ? { stage } : {}),
    ...(typeof time === "string" ? { retirement_time: time } : {})
  }
}

/** The field for an answer; no field where the provider reports nothing. */
export const modelStatusField = (
  status: GenerateContentReply["modelStatus"]
): { readonly model_status?: ModelStatus } => (status ? { model_status: modelStatusOf(status) } : {})

/** Undefined for a model that the provider does not end. */
export const endingOf = (status: ModelStatus | undefined): ModelEnding | undefined => {
  const { retirement_time: time, stage } = status ?? {}
  return stage === "DEPRECATED" || stage === "RETIRED"
    ? {
        stage: stage === "RETIRED" ? "shut_down" : "deprecated",
        shutdown: time !== undefined && /^\d{4}-\d{2}-\d{2}/.test(time) ? time.slice(0, 10) : undefined,
        successor: undefined
      }
    : undefined
}

// Finish reasons of Gemini that mean a content filter withheld the answer.

export const filterWords: ReadonlySet<string> = new Set([
  "SAFETY",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "RECITATION",
  "LANGUAGE",
  "MODEL_ARMOR",
  "ESCALATION",
  "PUP_LIMITED_DISABLED",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION"
])

/** The categories for which a filter withheld something. */
const blockedCategories = (ratings: ReadonlyArray<Json>): ReadonlyArray<string> =>
  ratings.flatMap((rating) =>
    isJsonObject(rating) && rating["blocked"] === true && typeof rating["category"] === "string"
      ? [rating["category"].replace(/[^\w]/g, "_").slice(0, 64)]
      : []
  )

/** The provider's text with the categories that it blocked; `word` where it has no text. */
export const filterText = (
  message: string | null | undefined,
  word: string | null | undefined,
  ratings: ReadonlyArray<Json> | null | undefined
): string | undefined => {
  const categories = blockedCategories(ratings ?? [])
  if (categories.length === 0) return message ?? undefined
  return `${message || `The provider's filter withheld this (${word ?? "SAFETY"})`}: ${categories.join(", ")}`
}
