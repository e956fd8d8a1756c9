// Reads the simulator's own copy of the facts about models, and derives what a Gemini model accepts from its row.
// It must not depend on the gateway's reader: a mistake there would otherwise confirm itself (M-1003).
// Source: the copy of the facts; rows for the ids of the demo.
import { factDay, factText } from "./factText.ts"

/** Members as the source spells them; an absent member was not found. */
export interface FactRow {
  readonly family: string
  readonly generation: string
  readonly stage?: string
  /** A day for each provider; `claude-api` is Anthropic's own calendar. */
  readonly shutdown?: Readonly<Record<string, string>>
  readonly routed?: Readonly<Record<string, { readonly from: string; readonly to: string }>>
  readonly providers?: ReadonlyArray<string>
  readonly locations?: ReadonlyArray<string>
  readonly operation: string
  readonly output?: ReadonlyArray<string>
  readonly context?: number
  readonly max_output?: number
  readonly allows_prefill?: boolean
  readonly tools_with_json?: boolean
  readonly builtin_with_functions?: boolean
  readonly forced_tool_choice?: boolean
  readonly candidate_count_max?: number
  readonly requires_signatures?: boolean
  /** Parameters; `@google` at the end limits one to a provider. */
  readonly refused?: ReadonlyArray<string>
  readonly thinking?: {
    readonly control?: string
    readonly levels?: ReadonlyArray<string>
    readonly can_disable?: boolean
    readonly budget_min?: number
    readonly budget_max?: number
    readonly disable_limit?: string
  }
  readonly effort?: ReadonlyArray<string>
  readonly structured_output?: string
  readonly explicit_caching?: boolean
}

const rows: ReadonlyMap<string, FactRow> = new Map(
  factText
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [ids = "", facts = "{}"] = line.split("\t")
      const row: FactRow = JSON.parse(facts)
      return ids.split(" ").map((id) => [id, row] as const)
    })
)

/** The ids of the copy, in its order. */
export const factIds: ReadonlyArray<string> = [...rows.keys()]

/** The row of an id of the copy. */
export const exactRow = (id: string): FactRow | undefined => rows.get(id)

/** `gemini-3.5-flash` is 3.5, `claude-opus-4-1@20250805` is 4.1. */
const versionOf = (id: string): number =>
  Number(/(?<![\w@.])(\d+(?:\.\d+)?)(?![\w])(?:-(\d)(?!\d))?/.exec(id)?.slice(1).filter(Boolean).join(".") ?? NaN)

const kindWord = (id: string): string =>
  /embedding|image|banana|tts|live|audio|transcribe|omni|robotics|decision|opus|sonnet|haiku|fable|mythos/.exec(
    id
  )?.[0] ?? ""

const firstWord = (id: string): string => id.split(/[-@]/)[0] ?? ""

/** The longest id of the kind that begins the asked one, else the one that has an ending more. */
const kinOf = (asked: string): string | undefined => {
  const kin = factIds.filter((id) => kindWord(id) === kindWord(asked))
  const begun = kin.filter((id) => asked.startsWith(`${id}-`) || asked.startsWith(`${id.split("@")[0]}@`))
  const longest = begun.reduce<string | undefined>(
    (best, id) => (best !== undefined && best.length >= id.length ? best : id),
    undefined
  )
  return longest ?? kin.find((id) => id === `${asked}-preview` || id.startsWith(`${asked}@`))
}

const families = new Set(["gemini", "gemma", "claude"])

/** Of the ids of one kind the highest version that is not above the asked one; else the lowest. */
const neighbourOf = (asked: string): string | undefined => {
  if (!families.has(firstWord(asked))) return undefined
  const kin = factIds.filter((id) => firstWord(id) === firstWord(asked) && kindWord(id) === kindWord(asked))
  const versions = kin.map(versionOf).filter((version) => !Number.isNaN(version))
  const below = versions.filter((version) => version <= versionOf(asked))
  const nearest = below.length === 0 ? Math.min(...versions) : Math.max(...below)
  return kin.find((id) => versionOf(id) === nearest)
}

/** The row of an id; one that is not in the copy has the row of its kin, or of its nearest neighbour. */
export const factRow = (id: string): FactRow | undefined => rows.get(id) ?? rows.get(kinOf(id) ?? neighbourOf(id) ?? "")

/** A version, a stage with a day, or a date of Anthropic after `@`. */
const versionEnding = /^(-\d{3}|-(preview|exp|latest)(-[\w-]+)?|@(\d{8}|default|latest))$/

/** Models of earlier days that clients still name; the copy has those of its own day. */
const earlier = new Set([
  "gemini-1.5-flash",
  "gemini-1.5-pro",
  "gemini-2.0-flash-thinking-exp-01-21",
  "gemini-2.5-computer-use-preview-10-2025"
])

/** True for an id of the copy, with the ending of a version or without its date. Google answers 404 for any other. */
export const isPublished = (id: string): boolean =>
  rows.has(id) ||
  earlier.has(id) ||
  factIds.some((known) => {
    const [stem = known] = known.split("@")
    return id === stem || (id.startsWith(stem) && versionEnding.test(id.slice(stem.length)))
  })

export type ProviderName = "google" | "vertex-ai"

/**
 * Shut down on a day: by its stage, or by a day after that of the facts; an earlier day was not kept if the stage denies it.
 * A provider without a day has the earliest day of the others. Imagen is served on where no day of its end is known.
 */
export const isShutDown = ({ family, shutdown = {}, stage }: FactRow, provider: ProviderName, day: string): boolean => {
  const providerEnd = shutdown[provider]
  const [earliest] = family === "imagen" ? [] : Object.values(shutdown).toSorted()
  const end = providerEnd ?? (stage === "shut_down" ? earliest : shutdown["claude-api"])
  if (end !== undefined) return end <= day && (stage === "shut_down" || end > factDay)
  return stage === "shut_down" && !(family === "imagen" && provider === "vertex-ai")
}

/** The id whose model answers on a day: from its day on, a routed id is answered by another model. */
export const answeringId = (id: string, provider: ProviderName, day: string): string => {
  const routed = rows.get(id)?.routed?.[provider]
  return routed !== undefined && routed.from <= day ? routed.to : id
}

/** True if the place serves the model; a model whose places are not known is served everywhere. */
export const isServedAt = ({ locations }: FactRow, place: string): boolean =>
  locations === undefined || locations.includes(place) || (locations.includes("regions") && /\d$/.test(place))

export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

export interface ModelFacts {
  /** `2.5` of Gemini 2.5; 0 for a model without thoughts in its answers. */
  readonly generation: number
  /** `none` refuses a thinkingConfig with a positive budget; `budget` and `level` name the accepted setting. */
  readonly thinking: "none" | "budget" | "level" | "both"
  readonly budget: { readonly least: number; readonly most: number; readonly stoppable: boolean }
  readonly levels: ReadonlyArray<string>
  /** The first function call of each step in the current turn must have a signature. */
  readonly needsSignature: boolean
  readonly drawsImages: boolean
  /** Thoughts are ordinary text parts before the answer. */
  readonly thinksAloud: boolean
  /** A conversation may end with a turn of the model. */
  readonly prefill: boolean
  /** Functions together with an answer in JSON. */
  readonly toolsWithJson: boolean
  /** Functions together with built-in tools. */
  readonly mixesTools: boolean
  readonly candidates: number
  /** Refused parameters, as the facts spell them: `logprobs@google`. */
  readonly refused: ReadonlySet<string>
  readonly explicitCaching: boolean
}

const flashBudget = { least: 0, most: 24576, stoppable: true }
const looseBudget = { least: 0, most: 65536, stoppable: false }

const plain = (facts: Partial<ModelFacts> = {}): ModelFacts => ({
  generation: 1,
  thinking: "none",
  budget: flashBudget,
  levels: [],
  needsSignature: false,
  drawsImages: false,
  thinksAloud: false,
  prefill: true,
  toolsWithJson: false,
  mixesTools: false,
  candidates: 8,
  refused: new Set(),
  explicitCaching: true,
  ...facts
})

const generationOf = ({ family, generation }: FactRow): number => {
  if (family === "gemma") return 0
  const version = Number(generation)
  // A moving name and a model for speech are of the third generation or later.
  return Number.isNaN(version) ? 3 : version
}

const thinkingOf = ({ refused = [], thinking: { control, levels = [] } = {} }: FactRow): ModelFacts["thinking"] => {
  if (control === "budget") return "budget"
  if (control !== "level" || levels.length === 0) return "none"
  return refused.includes("thinking_budget") ? "level" : "both"
}

const budgetOf = ({ thinking = {} }: FactRow): ModelFacts["budget"] =>
  thinking.budget_max === undefined
    ? looseBudget
    : {
        least: thinking.budget_min ?? 0,
        most: thinking.budget_max,
        stoppable: thinking.can_disable ?? false
      }

const factsOf = (row: FactRow): ModelFacts => ({
  generation: generationOf(row),
  thinking: thinkingOf(row),
  budget: budgetOf(row),
  levels: (row.thinking?.levels ?? []).map((level) => level.toUpperCase()),
  needsSignature: row.requires_signatures ?? false,
  drawsImages: row.output?.includes("image") ?? false,
  thinksAloud: false,
  prefill: row.allows_prefill ?? true,
  toolsWithJson: row.tools_with_json ?? generationOf(row) >= 3,
  mixesTools: row.builtin_with_functions ?? generationOf(row) >= 3,
  candidates: row.candidate_count_max ?? 8,
  refused: new Set(row.refused),
  explicitCaching: row.explicit_caching ?? true
})

/** A fault id and the other ids of the demo take every setting of the third generation. */
const demoFacts = plain({
  generation: 3,
  thinking: "both",
  budget: looseBudget,
  levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  needsSignature: true,
  drawsImages: true,
  toolsWithJson: true,
  mixesTools: true
})

const isDemo = (model: string): boolean => model.startsWith("demo-")

/** The facts of an id; an unknown id has those of its nearest neighbour. */
export const modelFacts = (model: string): ModelFacts => {
  if (isDemo(model)) return demoFacts
  // Models of other publishers and self-deployed models have no thinking settings and no signatures.
  if (model.includes("/")) return plain()
  if (model.includes("thinking-exp")) return plain({ generation: 2, thinksAloud: true })
  const row = factRow(model)
  return row === undefined ? plain() : factsOf(row)
}

/** On Vertex AI predict serves `text-embedding`, and embedContent serves `content-embedding`. */
export type ModelKind = "chat" | "text-embedding" | "content-embedding" | "multimodal-embedding" | "imagen"

const kindOf = ({ family, operation, output = [] }: FactRow): ModelKind | undefined => {
  if (family === "imagen") return "imagen"
  if (operation.startsWith("generateContent")) return "chat"
  if (operation.includes("embedContent")) return "content-embedding"
  if (!output.includes("vector")) return undefined
  return operation === "predict, 1 input" ? "multimodal-embedding" : "text-embedding"
}

/** The kind of a published id; `undefined` for unknown ids, which answer 404. */
export const modelKind = (model: string): ModelKind | undefined => {
  if (isDemo(model)) return "chat"
  const row = factRow(model)
  return row === undefined ? undefined : kindOf(row)
}

export interface EmbeddingFacts {
  /** Dimensions of a vector that is not shortened. */
  readonly size: number
  /** Texts allowed in one call of predict. */
  readonly mostInstances: number
  /** Tokens of one text; a longer text is cut or refused. */
  readonly mostTokens: number
}

/** Sources: Google's pages on text and multimodal embeddings. */
export const embeddingFacts = (model: string): EmbeddingFacts => {
  const kind = modelKind(model)
  if (kind === "content-embedding") return { size: 3072, mostInstances: 1, mostTokens: 8192 }
  if (kind === "multimodal-embedding") return { size: 1408, mostInstances: 1, mostTokens: 32 }
  const row = factRow(model)
  return row?.operation.endsWith(", 1 input") === true
    ? { size: 3072, mostInstances: 1, mostTokens: 2048 }
    : { size: 768, mostInstances: 250, mostTokens: 2048 }
}
