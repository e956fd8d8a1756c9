// The one reader of facts about models: which record an id has, where each fact comes from, and where the model is served.
// It must not know requests, accounts or the clock; days come from the caller.
import * as Result from "effect/Result"
import { memoizeBounded } from "../collections.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../text/json.ts"
import { factLines, factsAsOf } from "./factLines.ts"
import {
  bareId,
  isClaudeName,
  matchesPattern,
  type ModelKind,
  normaliseModelId,
  type ParsedName,
  parseName,
  shorterIds
} from "./modelName.ts"
import type { ModelOverlay, ModelRecord } from "./ModelRecord.ts"

// Which known model stands for an unknown id: the nearest version, and of several the strictest (M-110).

const kindOf = ({ family, operation, output = [] }: ModelRecord): ModelKind | undefined => {
  if (family === "embedding") return "embedding"
  if (output.includes("image")) return "image"
  if (operation === "live" || operation === "transcribe") return operation
  if (output.includes("audio")) return "tts"
  return operation === "generateContent" || operation === "rawPredict" ? "text" : undefined
}

interface Candidate {
  readonly record: ModelRecord
  readonly name: ParsedName
}

const candidatesOf = (records: ReadonlyArray<ModelRecord>): ReadonlyArray<Candidate> =>
  records.flatMap((record) => {
    const name = parseName(record.id)
    return name === undefined ? [] : [{ record, name: { ...name, kind: kindOf(record) ?? name.kind } }]
  })

const compareVersions = (one: ParsedName, other: ParsedName): number =>
  one.major - other.major || one.minor - other.minor

/** The lower, the stricter: fewest levels, no prefill, no forced choice, thinking that does not stop. */
const leniency = ({ allows_prefill, effort, forced_tool_choice, thinking }: ModelRecord): ReadonlyArray<number> => [
  thinking?.levels?.length ?? 0,
  effort?.length ?? 0,
  allows_prefill === false ? 0 : 1,
  forced_tool_choice === false ? 0 : 1,
  thinking?.can_disable === false ? 0 : 1
]

const isStricter = (one: ModelRecord, other: ModelRecord): boolean => {
  const [mine, theirs] = [leniency(one), leniency(other)]
  const at = mine.findIndex((value, index) => value !== theirs[index])
  return at >= 0 && (mine[at] ?? 0) < (theirs[at] ?? 0)
}

/** Of the candidates the highest version, and there the strictest; of equals the first. */
const highest = (candidates: ReadonlyArray<Candidate>): ModelRecord | undefined =>
  candidates.reduce<Candidate | undefined>((best, one) => {
    if (best === undefined) return one
    const order = compareVersions(one.name, best.name)
    return order > 0 || (order === 0 && isStricter(one.record, best.record)) ? one : best
  }, undefined)?.record

/** A tier of Gemini counts within one major version, since every major names its tiers afresh; one of Claude always. */
const nearestModel = (asked: ParsedName, records: ReadonlyArray<ModelRecord>): ModelRecord | undefined => {
  const all = candidatesOf(records).filter(({ name }) => name.family === asked.family && name.kind === asked.kind)
  const notAbove = all.filter(({ name }) => compareVersions(name, asked) <= 0)
  const sameTier = notAbove.filter(({ name }) => name.tier === asked.tier)
  if (asked.family === "claude") return highest(sameTier) ?? highest(notAbove) ?? highest(all)
  const major = Math.max(...notAbove.map(({ name }) => name.major))
  return highest(sameTier.filter(({ name }) => name.major === major)) ?? highest(notAbove) ?? highest(all)
}

/** The strictest record of the newest generation of a family, for an id that does not parse. */
const newestModel = (family: "gemini" | "claude", records: ReadonlyArray<ModelRecord>): ModelRecord => {
  const all = candidatesOf(records).filter(({ name }) => name.family === family && name.kind === "text")
  const newest = highest(all)
  if (newest === undefined) throw new Error(`the data file has no model of ${family}`)
  return newest
}

// Facts about ids that the data file does not list: models of earlier years, and names whose ending varies.

const early: ModelOverlay = { inherits: "gemini-2.0-flash", generation: "1" }
const second: ModelOverlay = { inherits: "gemini-2.0-flash" }

const olderModels: ReadonlyArray<readonly [pattern: string, ModelOverlay]> = [
  ["gemini-1.*", early],
  ["gemini-pro", early],
  ["gemini-pro-vision", early],
  ["*-thinking-exp*", { ...second, joins_thoughts: true }],
  ["gemini-2.0-*image*", { ...second, output: ["text", "image"] }],
  ["gemini-2.0-*", second],
  ["gemini-exp-*", second],
  ["learnlm-*", second],
  ["gemini-2.5-*audio*", { inherits: "gemini-2.5-flash-tts", operation: "live", generation: "2.5" }],
  ["gemini-2.5-computer-use-*", { inherits: "gemini-2.5-flash" }],
  ["*nano-banana*", { inherits: "gemini-nano-banana-2.1" }],
  ["gemma-1*", { inherits: "gemma-3-1b-it" }],
  ["gemma-2*", { inherits: "gemma-3-1b-it" }],
  ["gemini-embedding-*", { inherits: "gemini-embedding-2" }],
  ["text-embedding-*", { inherits: "text-embedding-005" }],
  ["text-multilingual-embedding-*", { inherits: "text-multilingual-embedding-002" }],
  ["textembedding-gecko*", { inherits: "text-embedding-004" }],
  ["imagen-*", { inherits: "imagen-4.0-generate-001" }],
  ["imagegeneration*", { inherits: "imagegeneration@006" }],
  ["*/*", { inherits: "deepseek-ai/deepseek-r1-0528-maas" }]
]

// The one reader of facts about models: which record an id has, and where it comes from.

/** The day on which the facts were gathered (M-104). */
export const modelFactsDay: string = factsAsOf

/** The record in force for an id. */
export interface FoundModel {
  readonly record: ModelRecord
  /** `user`: the configuration; `file`: the id is known; `inherited`: the id is unknown and follows `from` (M-110). */
  readonly source: "user" | "file" | "inherited"
  /** The id or pattern whose record it is. */
  readonly from: string
}

export interface ModelTable {
  /** What the operator states, from which the records follow. */
  readonly overlays: ModelOverlays
  /** Total: an unknown id has the record of the nearest known one. */
  readonly find: (modelId: string) => FoundModel
  /** The ids of the data file in its order, then those that only the operator states; no patterns. */
  readonly ids: ReadonlyArray<string>
}

/** By id or pattern with `*`, what the operator states. */
export type ModelOverlays = Readonly<Record<string, ModelOverlay>>

/** Merges field by field, one level into objects as well; null takes a field away. */
const merged = (base: object, over: object): object => {
  const out = new Map<string, unknown>(Object.entries(base))
  for (const [name, value] of Object.entries(over)) {
    if (value === null || value === undefined) out.delete(name)
    else {
      const before = out.get(name)
      out.set(name, isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value)
    }
  }
  return Object.fromEntries(out)
}

const isRecord = (value: object): value is ModelRecord => "id" in value && "family" in value && "generation" in value

const recordOf = (fields: object): ModelRecord => {
  if (!isRecord(fields)) throw new Error("a record of the data file lacks its id, family or generation")
  return fields
}

/** Facts of a model's life do not pass on to an unknown id. */
const lifeless = { stage: null, release: null, shutdown: null, successor: null, routed: null, price: null }

const idOf = (line: string): string => line.slice(7, line.indexOf('"', 7))

const parsedLine = (line: string): JsonObject => {
  const value: Json = Result.getOrElse(parseJsonText(line), () => null)
  return isJsonObject(value) ? value : {}
}

/** The data file: a line is parsed when its record is first asked for. */
const builtIn = (() => {
  const lines = new Map(
    factLines
      .trim()
      .split("\n")
      .map((line) => [idOf(line), line])
  )
  // A moving name without its ending is another model: gemini-pro was one of the first generation.
  const fixed = [...lines.keys()].filter((id) => !id.endsWith("-latest"))
  const bare = new Map(fixed.toReversed().map((id) => [bareId(id), id]))
  const known = new Map<string, ModelRecord>()
  const record = (id: string): ModelRecord | undefined => {
    const cached = known.get(id)
    if (cached !== undefined) return cached
    const line = lines.get(id)
    if (line === undefined) return undefined
    const { inherits, ...fields } = parsedLine(line)
    const base = typeof inherits === "string" ? record(inherits) : undefined
    const made = recordOf(merged(base ?? {}, fields))
    known.set(id, made)
    return made
  }
  return { ids: [...lines.keys()], record, ofBareId: (id: string) => bare.get(id) }
})()

/** The exact id, then the id without one ending after another, then an id that differs in its ending alone. */
const fileRecord = (id: string): ModelRecord | undefined => {
  for (const one of [id, ...shorterIds(id)]) {
    const record = builtIn.record(one)
    if (record !== undefined) return record
  }
  const same = builtIn.ofBareId(bareId(id))
  return same === undefined ? undefined : builtIn.record(same)
}

const candidates = (): ReadonlyArray<ModelRecord> => builtIn.ids.flatMap((id) => builtIn.record(id) ?? [])

const foundBuiltIn = memoizeBounded((id): FoundModel => {
  const exact = fileRecord(id)
  if (exact !== undefined) return { record: exact, source: "file", from: exact.id }
  const older = olderModels.find(([pattern]) => matchesPattern(pattern, id))?.[1]
  const { inherits, ...fields } = older ?? {}
  const name = parseName(id)
  const base =
    (inherits === undefined ? undefined : builtIn.record(inherits)) ??
    (name === undefined ? undefined : nearestModel(name, candidates())) ??
    newestModel(isClaudeName(id) ? "claude" : "gemini", candidates())
  return { record: recordOf(merged(merged(base, lifeless), fields)), source: "inherited", from: base.id }
})

/** The user's exact id, the user's first pattern that matches, the data file, the nearest known id (M-101). */
export const modelTable = (overlays: ModelOverlays): ModelTable => {
  const patterns = Object.entries(overlays)
  const stated = (id: string): readonly [string, ModelOverlay] | undefined =>
    patterns.find(([key]) => key === id) ?? patterns.find(([key]) => key.includes("*") && matchesPattern(key, id))
  const find = (modelId: string): FoundModel => {
    const id = normaliseModelId(modelId)
    const overlay = stated(id)
    if (overlay === undefined) return foundBuiltIn(id)
    const [from, { inherits, ...fields }] = overlay
    const base = foundBuiltIn(inherits === undefined ? id : normaliseModelId(inherits)).record
    return {
      record: recordOf(merged(inherits === undefined ? base : merged(base, lifeless), fields)),
      source: "user",
      from
    }
  }
  return {
    overlays,
    find: patterns.length === 0 ? (id) => foundBuiltIn(normaliseModelId(id)) : memoizeBounded(find),
    ids: [
      ...builtIn.ids,
      ...patterns.map(([key]) => key).filter((key) => !key.includes("*") && !builtIn.ids.includes(key))
    ]
  }
}

const lifelessRecords = new WeakMap<ModelRecord, ModelRecord>()

/** Always the same object for a record: translators keep what follows from it. */
const withoutLife = (record: ModelRecord): ModelRecord => {
  const known = lifelessRecords.get(record)
  if (known !== undefined) return known
  const made = recordOf(merged(record, lifeless))
  lifelessRecords.set(record, made)
  return made
}

/** The table where a moving name has the facts of the model that answers under it, but for its life (M-111). */
export const withMovedName = (table: ModelTable, name: string, to: string): ModelTable => {
  if (table.find(name).source === "user") return table
  const { from, record, source } = table.find(to)
  const result = { record: withoutLife(record), source, from }
  return { ...table, find: (modelId) => (normaliseModelId(modelId) === name ? result : table.find(modelId)) }
}

/** The table of a gateway whose operator states nothing. */
export const builtInModels: ModelTable = modelTable({})

/** True for an id of the data file, or one that differs from it in its ending alone. */
export const isKnownModel = ({ source }: FoundModel): boolean => source !== "inherited"

/** The record of an id on a day (`2026-12-01`): from its day on, a routed id has the facts of the model that answers (M-722). */
export const recordOn = (table: ModelTable, modelId: string, provider: string, day: string): ModelRecord => {
  const { record } = table.find(modelId)
  const routed = record.routed?.[provider]
  return routed !== undefined && routed.from <= day ? table.find(routed.to).record : record
}

/** True for a chat model, as the model field spells it, whose tokens the provider counts for nothing. */
export const countsTokens = (models: ModelTable, model: string): boolean => {
  const id = model.replace(/^anthropic\./, "")
  if (/^endpoints\.|\//.test(id)) return false
  const { operation, output = [] } = models.find(id).record
  return (operation === "generateContent" || operation === "rawPredict") && output.every((kind) => kind === "text")
}

// Where each fact of the record in force comes from: the operator, the data file, or another model (M-103).

/** The record of an id, and the origin of each of its fields. */
export interface ExplainedModel {
  readonly object: "model_facts"
  readonly model: string
  /** The id or pattern whose record it is. */
  readonly from: string
  readonly record: ModelRecord
  /** By field: `user`, `file`, or `inherited from ID`. */
  readonly origins: Readonly<Record<string, string>>
}

const builtInOrigin = (id: string): string => {
  const { from, source } = builtInModels.find(id)
  return source === "file" ? "file" : `inherited from ${from}`
}

/** `model` is the id, without a slug. */
export const explainModel = ({ find, overlays }: ModelTable, model: string): ExplainedModel => {
  const id = normaliseModelId(model)
  const { from, record, source } = find(id)
  const overlay = source === "user" ? overlays[from] : undefined
  const inherits = overlay?.inherits
  const rest = inherits === undefined ? builtInOrigin(id) : `inherited from ${normaliseModelId(inherits)}`
  const stated = new Set(Object.keys(overlay ?? {}))
  return {
    object: "model_facts",
    model: id,
    from,
    record,
    origins: Object.fromEntries(Object.keys(record).map((name) => [name, stated.has(name) ? "user" : rest]))
  }
}

// Where a model is served, by the facts, and which model an account can be tested with for nothing.

const isRegion = (location: string): boolean => /\d$/.test(location)

/** True for a model whose locations are not known, as well. */
export const isServedAt = ({ locations }: ModelRecord, location: string): boolean =>
  locations === undefined || locations.includes(location) || (locations.includes("regions") && isRegion(location))

/** The first for accounts of `global`, `us` and `eu` and of the Gemini API, the second for single regions. */
const probes = ["gemini-3.8-flash", "gemini-2.5-flash"] as const

/** A model whose tokens every account of a location can count for nothing. */
export const probeModel = (models: ModelTable, location: string | undefined): string =>
  probes.find((id) => location === undefined || isServedAt(models.find(id).record, location)) ?? probes[0]
