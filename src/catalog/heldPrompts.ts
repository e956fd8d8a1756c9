// The declared prompts with those of the store, which change one by one with the prompts that include them.
// It must not know how a prompt is requested. Declared prompts take precedence.
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { findVersion, type Prompt, type PromptVersion } from "../domain/Prompt.ts"
import { PromptEntry } from "../domain/settings/PromptEntry.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import type { StoredRecord } from "../store/StoredRecord.ts"
import { recordReader, type RecordSet, versionsOf } from "../store/readRecord.ts"
import { heldAccounts } from "./heldAccounts.ts"
import { type PromptDrafts, readDrafts, templateFaults } from "./readPrompts.ts"
import { compilePrompts, type ReadyPrompt } from "./readyPrompts.ts"
import type { TemplateLimits } from "./renderTemplate.ts"

const read = recordReader(PromptEntry)

const entryOf = (record: StoredRecord): StoredRecord => ({
  ...record,
  value: { ...record.value, id: record.id, version: record.version }
})

/** Only the newest version sets labels; labels of earlier versions may be outdated. */
const labelled = (entries: ReadonlyArray<PromptEntry>): ReadonlyArray<PromptEntry> =>
  entries.map((entry, index) => {
    const { labels: _, ...rest } = entry
    return index < entries.length - 1 ? rest : entry
  })

/** A stored prompt before its templates are compiled; without a version that can be read it has no prompt. */
interface Draft {
  readonly prompt: Prompt | undefined
  readonly drafts: PromptDrafts
  readonly faults: ReadonlyArray<RecordFault>
}

/** The number of a version is that of its record. */
const draftOf = (id: string, records: ReadonlyArray<StoredRecord>, slugs: ReadonlyArray<string>): Draft => {
  const entries: Array<PromptEntry> = []
  const faults: Array<RecordFault> = []
  for (const record of records) {
    const entry = read(entryOf(record))
    if (Result.isFailure(entry)) faults.push({ id: `prompt ${id}@${record.version}`, message: entry.failure })
    else entries.push(entry.success)
  }
  const drafts = readDrafts(labelled(entries), slugs)
  return { prompt: drafts.prompts[0], drafts, faults }
}

/** A stored prompt, compiled: whether it can be used, and the ids of the prompts that it includes. */
interface HeldPrompt {
  readonly prompt: Prompt | undefined
  readonly ready: ReadonlyMap<unknown, ReadyPrompt>
  readonly faults: ReadonlyArray<RecordFault>
  readonly uses: ReadonlySet<string>
}

const idOf = (reference: string): string => reference.split("@", 1)[0] ?? reference

/** The stored prompts of a state, each read where it is needed. */
const stateReader = (prompts: RecordSet, declared: ReadonlyMap<string, Prompt>, slugs: ReadonlyArray<string>) => {
  const drafts = new Map<string, Draft>()
  const draft = (id: string): Draft => {
    const made = drafts.get(id) ?? draftOf(id, versionsOf(prompts, id), slugs)
    drafts.set(id, made)
    return made
  }
  const find = (reference: string): PromptVersion | undefined =>
    findVersion((id) => declared.get(id) ?? draft(id).prompt, reference)
  const held = (id: string, limits: TemplateLimits): HeldPrompt => {
    const { drafts: read, faults, prompt } = draft(id)
    const uses = new Set<string>()
    const compiled = compilePrompts(read.prompts, limits, (reference) => {
      uses.add(idOf(reference))
      return find(reference)
    })
    const found = [...read.faults, ...templateFaults(read, compiled.faults)]
    return {
      prompt: found.length === 0 ? prompt : undefined,
      ready: compiled.prompts,
      faults: [...faults, ...found.map(({ message }) => ({ id: `prompt ${id}`, message }))],
      uses
    }
  }
  return { find, held }
}

const declaredOf = ({ declared }: ConfigState): ReadonlyMap<string, Prompt> =>
  new Map((declared.prompts ?? []).toReversed().map((prompt) => [prompt.id, prompt]))

const slugsOf = (state: ConfigState): ReadonlyArray<string> => heldAccounts(state).accounts.map(({ slug }) => slug)

/** The stored prompts of these ids that cannot be used in a state. */
export const promptFaults = (
  state: ConfigState,
  ids: Iterable<string>,
  limits: TemplateLimits
): ReadonlyArray<RecordFault> => {
  const { held } = stateReader(state.records.prompt, declaredOf(state), slugsOf(state))
  return [...ids].flatMap((id) => held(id, limits).faults)
}

export class HeldPrompts {
  private readonly declared: ReadonlyMap<string, Prompt>
  private readonly slugs: ReadonlyArray<string>
  private readonly limits: TemplateLimits
  private readonly stored = new Map<string, HeldPrompt>()
  private readonly broken = new Map<string, ReadonlyArray<RecordFault>>()
  /** By id the stored prompts that include it, or miss it. */
  private readonly users = new Map<string, Set<string>>()
  private readonly declaredReady: ReadonlyMap<unknown, ReadyPrompt>

  constructor(state: ConfigState, limits: TemplateLimits) {
    this.declared = declaredOf(state)
    this.slugs = slugsOf(state)
    this.limits = limits
    this.declaredReady = compilePrompts(state.declared.prompts ?? [], limits).prompts
    const { prompt: prompts } = state.records
    this.put(prompts, [...HashMap.keys(prompts)])
  }

  private usable(id: string): Prompt | undefined {
    return this.declared.get(id) ?? this.stored.get(id)?.prompt
  }

  /** The compiled version that a reference means; undefined for a partial. */
  find(reference: string): ReadyPrompt | undefined {
    const found = findVersion((id) => this.usable(id), reference)
    if (found === undefined) return undefined
    return this.declaredReady.get(found.content) ?? this.stored.get(found.id)?.ready.get(found.content)
  }

  /** What a reference means to a template that includes it. */
  findPartial(reference: string): PromptVersion | undefined {
    return findVersion((id) => this.usable(id), reference)
  }

  /** The prompts that can be used, declared ones first. */
  get all(): ReadonlyArray<Prompt> {
    const stored = [...this.stored.keys()].toSorted().filter((id) => !this.declared.has(id))
    return [...this.declared.values(), ...stored.flatMap((id) => this.stored.get(id)?.prompt ?? [])]
  }

  /** The stored prompts that include this one. */
  usersOf(id: string): ReadonlyArray<string> {
    return [...(this.users.get(id) ?? [])]
  }

  /** Brings these prompts to the records, and those that include one of them. */
  put(prompts: RecordSet, ids: ReadonlyArray<string>): void {
    const { held } = stateReader(prompts, this.declared, this.slugs)
    for (const id of new Set([...ids, ...ids.flatMap((one) => this.usersOf(one))])) {
      for (const used of this.stored.get(id)?.uses ?? []) this.users.get(used)?.delete(id)
      this.stored.delete(id)
      this.broken.delete(id)
      if (versionsOf(prompts, id).length === 0) continue
      const made = held(id, this.limits)
      this.stored.set(id, made)
      if (made.faults.length > 0) this.broken.set(id, made.faults)
      for (const used of made.uses) {
        const users = this.users.get(used) ?? new Set()
        this.users.set(used, users.add(id))
      }
    }
  }

  get faults(): ReadonlyArray<RecordFault> {
    return [...this.broken].toSorted(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, faults]) => faults)
  }
}
