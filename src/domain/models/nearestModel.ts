// Which known model stands for an unknown id: the nearest version, and of several the strictest (M-110).
// It must not know how records are kept.
import { type ModelKind, type ParsedName, parseName } from "./modelName.ts"
import type { ModelRecord } from "./ModelRecord.ts"

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
export const nearestModel = (asked: ParsedName, records: ReadonlyArray<ModelRecord>): ModelRecord | undefined => {
  const all = candidatesOf(records).filter(({ name }) => name.family === asked.family && name.kind === asked.kind)
  const notAbove = all.filter(({ name }) => compareVersions(name, asked) <= 0)
  const sameTier = notAbove.filter(({ name }) => name.tier === asked.tier)
  if (asked.family === "claude") return highest(sameTier) ?? highest(notAbove) ?? highest(all)
  const major = Math.max(...notAbove.map(({ name }) => name.major))
  return highest(sameTier.filter(({ name }) => name.major === major)) ?? highest(notAbove) ?? highest(all)
}

/** The strictest record of the newest generation of a family, for an id that does not parse. */
export const newestModel = (family: "gemini" | "claude", records: ReadonlyArray<ModelRecord>): ModelRecord => {
  const all = candidatesOf(records).filter(({ name }) => name.family === family && name.kind === "text")
  const newest = highest(all)
  if (newest === undefined) throw new Error(`the data file has no model of ${family}`)
  return newest
}
