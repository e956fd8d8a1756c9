// Merges declared prompts with those of the store, each with all its versions; declared ones take precedence.
// It must not know templates or how a prompt is requested.
import * as Result from "effect/Result"
import type { Prompt } from "../domain/Prompt.ts"
import { PromptEntry } from "../domain/settings/PromptEntry.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import type { StoredRecord } from "../store/StoredRecord.ts"
import { allVersions, recordReader } from "../store/readRecord.ts"
import { heldAccounts } from "./heldAccounts.ts"
import { readPrompts } from "./readPrompts.ts"
import type { TemplateLimits } from "./renderTemplate.ts"

const read = recordReader(PromptEntry)

/** A declared prompt wins over a stored one of the same id. The number of a version is that of its record. */
export const heldPrompts = (
  held: ConfigState,
  limits: TemplateLimits
): {
  readonly prompts: ReadonlyArray<Prompt>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const declared = held.declared.prompts ?? []
  const { accounts } = heldAccounts(held)
  const entries: Array<PromptEntry> = []
  const faults: Array<RecordFault> = []
  for (const record of allVersions(held.records.prompt)) {
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

/** Only the newest version sets labels; labels of earlier versions may be outdated. */
const labelled = (entries: ReadonlyArray<PromptEntry>): ReadonlyArray<PromptEntry> =>
  entries.map((entry, index) => {
    const { labels: _, ...rest } = entry
    return entries[index + 1]?.id === entry.id ? rest : entry
  })
