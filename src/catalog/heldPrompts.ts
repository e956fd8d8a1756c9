// The prompts there are: the declared ones, and behind them those of the store, each with all its versions.
// It must not know templates or how a prompt is asked for.
import * as Result from "effect/Result"
import type { Prompt } from "../domain/Prompt.ts"
import { PromptEntry } from "../domain/settings/Settings.ts"
import type { Held, RecordFault } from "../store/Holdings.ts"
import type { StoredRecord } from "../store/Records.ts"
import { recordReader } from "../store/readRecord.ts"
import { heldAccounts } from "./heldAccounts.ts"
import { readPrompts } from "./readPrompts.ts"
import type { TemplateLimits } from "./renderTemplate.ts"

const read = recordReader(PromptEntry)

/** A declared prompt wins over a stored one of its id. A version's number is that of its record. */
export const heldPrompts = (
  held: Held,
  limits: TemplateLimits
): {
  readonly prompts: ReadonlyArray<Prompt>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const declared = held.declared.prompts ?? []
  const { accounts } = heldAccounts(held)
  const entries: Array<PromptEntry> = []
  const faults: Array<RecordFault> = []
  for (const record of held.records.prompt) {
    const entry = read(entryOf(record))
    if (Result.isFailure(entry)) faults.push({ id: `prompt ${record.id}@${record.version}`, message: entry.failure })
    else entries.push(entry.success)
  }
  const found = readPrompts(labelled(entries), accounts, limits, declared)
  const broken = new Set<string>()
  for (const { at = [], message, path } of found.faults) {
    const [, index] = at
    const id = typeof index === "number" ? (entries[index]?.id ?? path) : path
    broken.add(id)
    faults.push({ id: `prompt ${id}`, message })
  }
  return { prompts: [...declared, ...found.prompts.filter(({ id }) => !broken.has(id))], faults }
}

const entryOf = (record: StoredRecord): StoredRecord => ({
  ...record,
  value: { ...record.value, id: record.id, version: record.version }
})

/** Labels are those of the newest version; the ones before may have named others. */
const labelled = (entries: ReadonlyArray<PromptEntry>): ReadonlyArray<PromptEntry> =>
  entries.map((entry, index) => {
    const { labels: _, ...rest } = entry
    return entries[index + 1]?.id === entry.id ? rest : entry
  })
