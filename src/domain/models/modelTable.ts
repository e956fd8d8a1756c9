// The one reader of facts about models: which record an id has, and where it comes from.
// It must not know requests, accounts or the clock; days come from the caller.
import * as Result from "effect/Result"
import { memoizeBounded } from "../memoizeBounded.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../text/json.ts"
import { factLines, factsAsOf } from "./factLines.ts"
import { bareId, isClaudeName, matchesPattern, normaliseModelId, parseName, shorterIds } from "./modelName.ts"
import type { ModelOverlay, ModelRecord } from "./ModelRecord.ts"
import { nearestModel, newestModel } from "./nearestModel.ts"
import { olderModels } from "./olderModels.ts"

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
    const met = known.get(id)
    if (met !== undefined) return met
    const line = lines.get(id)
    if (line === undefined) return undefined
    const { inherits, ...own } = parsedLine(line)
    const base = typeof inherits === "string" ? record(inherits) : undefined
    const made = recordOf(merged(base ?? {}, own))
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
  const { inherits, ...own } = older ?? {}
  const name = parseName(id)
  const base =
    (inherits === undefined ? undefined : builtIn.record(inherits)) ??
    (name === undefined ? undefined : nearestModel(name, candidates())) ??
    newestModel(isClaudeName(id) ? "claude" : "gemini", candidates())
  return { record: recordOf(merged(merged(base, lifeless), own)), source: "inherited", from: base.id }
})

/** The user's exact id, the user's first pattern that matches, the data file, the nearest known id (M-101). */
export const modelTable = (overlays: ModelOverlays): ModelTable => {
  const patterns = Object.entries(overlays)
  const stated = (id: string): readonly [string, ModelOverlay] | undefined =>
    patterns.find(([key]) => key === id) ?? patterns.find(([key]) => key.includes("*") && matchesPattern(key, id))
  const find = (modelId: string): FoundModel => {
    const id = normaliseModelId(modelId)
    const own = stated(id)
    if (own === undefined) return foundBuiltIn(id)
    const [from, { inherits, ...fields }] = own
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
  const found = { record: withoutLife(record), source, from }
  return { ...table, find: (modelId) => (normaliseModelId(modelId) === name ? found : table.find(modelId)) }
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
