// Prompts: reads their entries, compiles their templates, and merges declared ones with those of the store.
// It must not know how a prompt is requested. Declared prompts take precedence.
import * as Result from "effect/Result"
import {
  type FindVersion,
  findVersion,
  isPromptId,
  isPromptLabel,
  type Prompt,
  type PromptContent,
  promptContent,
  PromptEntry,
  promptFinder,
  type PromptVersion
} from "../domain/Prompt.ts"
import {
  type Fault,
  faultAt,
  type FaultPath,
  faultsOfIssue,
  hint,
  isNamed,
  quoteValue,
  unreadName
} from "../domain/faults.ts"
import { compileTemplate, type Template, type TemplateFault, type TemplateLimits } from "./renderTemplate.ts"
import * as Schema from "effect/Schema"
import { parseModelRef } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import * as HashMap from "effect/HashMap"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import { recordReader, type RecordSet, type StoredRecord, versionsOf } from "../store/StoredRecord.ts"
import { mergedAccounts } from "./mergedRecords.ts"

/** One compiled version of a prompt. */
export interface ReadyPrompt {
  /** May start with `@slug/`. */
  readonly model: string
  /** The messages and the other parameters. */
  readonly template: Template
}

/** A template fault with the id and version of its prompt. */
interface PromptFault extends TemplateFault {
  readonly id: string
  readonly version: number
}

export type CompiledPrompts = {
  readonly prompts: ReadonlyMap<PromptContent, ReadyPrompt>
  readonly faults: ReadonlyArray<PromptFault>
}

/** A prompt of a single text message may also be used as a partial. */
const textOf = (content: PromptContent): string | undefined => {
  const { messages = [] } = content
  if (content.text !== undefined) return content.text
  const text = messages.length === 1 ? messages[0]?.["content"] : undefined
  return typeof text === "string" ? text : undefined
}

/** Compiles every version of every prompt and collects all template faults. `others` may be included as partials too. */
export const compilePrompts = (
  declared: ReadonlyArray<Prompt>,
  limits: TemplateLimits,
  others: FindVersion = () => undefined
): CompiledPrompts => {
  const declaredVersion = promptFinder(declared)
  const find: FindVersion = (reference) => declaredVersion(reference) ?? others(reference)
  const partials = (reference: string): Result.Result<string, string> => {
    const version = find(reference)
    if (version === undefined && find(unreadName) !== undefined) return Result.succeed("")
    const text = version === undefined ? undefined : textOf(version.content)
    if (text !== undefined) return Result.succeed(text)
    return Result.fail(
      version === undefined
        ? `there is no prompt or partial "${reference}"`
        : `"${reference}" is more than one text, so no other prompt can hold it`
    )
  }
  const prompts = new Map<PromptContent, ReadyPrompt>()
  const faults: Array<PromptFault> = []
  for (const { id, versions } of declared) {
    for (const [version, content] of versions) {
      const { messages = [], model = "", parameters, text } = content
      const compiled = compileTemplate(text === undefined ? { messages, ...parameters } : { text }, partials, limits)
      for (const fault of compiled.faults) faults.push({ ...fault, id, version })
      if (text === undefined) prompts.set(content, { model, template: compiled.template })
    }
  }
  return { prompts, faults }
}

// Reads prompt entries of the configuration file or the store into prompts and partials, or lists their faults.

/** A prompt while its entries are read, with the path of each of its versions in the file. */
interface Draft {
  readonly id: string
  name: string | undefined
  readonly versions: Map<number, PromptContent>
  readonly labels: Map<string, number>
  readonly places: Map<number, FaultPath>
}

/** In the file, parameters have a key of their own; in a chat body they are next to the messages. */
const placed = (at: FaultPath, [first = "", ...rest]: FaultPath): FaultPath => [
  ...at,
  ...(first === "messages" || first === "model" || first === "text" ? [] : ["parameters"]),
  first,
  ...rest
]

const decodeChat = Schema.decodeUnknownResult(ChatParameters, { errors: "all", onExcessProperty: "ignore" })

/** Validates a version as the chat body it becomes. A variable is allowed only inside text. */
const chatFaults = (
  { messages = [], model = "", parameters = {} }: PromptEntry,
  at: FaultPath
): ReadonlyArray<Fault> => {
  const body = { ...parameters, model, messages }
  const decoded = decodeChat(body)
  return [
    ...["model", "messages", "variables"]
      .filter((name) => Object.hasOwn(parameters, name))
      .map((name) => faultAt([...at, "parameters", name], "is no parameter")),
    ...(Result.isFailure(decoded)
      ? faultsOfIssue(decoded.failure.issue, body, []).map((fault) =>
          faultAt(placed(at, fault.at ?? []), fault.message)
        )
      : [])
  ]
}

const modelFaults = (model: string, at: FaultPath, known: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const ref = parseModelRef(model)
  if (Result.isFailure(ref)) return [faultAt([...at, "model"], ref.failure.message)]
  const { slug } = ref.success
  return slug === undefined || isNamed(slug, known)
    ? []
    : [faultAt([...at, "model"], `${quoteValue(slug)} is no provider of this configuration${hint(slug, known)}`)]
}

/** The faults of the content of one entry. */
const contentFaults = (entry: PromptEntry, at: FaultPath, known: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const { messages, model, text } = entry
  if (text !== undefined) {
    const more = (["model", "messages", "parameters"] as const).filter((name) => entry[name] !== undefined)
    return more.map((name) => faultAt([...at, name], "has no meaning next to text, which makes a partial"))
  }
  return [
    ...(model === undefined ? [faultAt([...at, "model"], "is missing")] : modelFaults(model, at, known)),
    ...(messages === undefined || messages.length === 0
      ? [faultAt([...at, "messages"], "is missing; a partial has text instead")]
      : []),
    ...chatFaults(entry, at)
  ]
}

/** Labels apply to all versions of a prompt, whichever entry declares them. */
const labelFaults = (entry: PromptEntry, at: FaultPath, draft: Draft): ReadonlyArray<Fault> =>
  Object.entries(entry.labels ?? {}).flatMap(([label, version]) => {
    const place = [...at, "labels", label]
    const earlier = draft.labels.get(label)
    draft.labels.set(label, earlier ?? version)
    return [
      ...(isPromptLabel(label)
        ? []
        : [faultAt(place, 'is not a label: a letter, then letters, digits, "_", "." and "-", at most 64')]),
      ...(draft.versions.has(version) ? [] : [faultAt(place, `${quoteValue(entry.id)} has no version ${version}`)]),
      ...(earlier === undefined || earlier === version
        ? []
        : [faultAt(place, `is the label of version ${earlier} as well`)])
    ]
  })

/** Prompts whose templates are not compiled yet, and the paths of their versions. */
interface PromptDrafts {
  readonly prompts: ReadonlyArray<Prompt>
  readonly faults: ReadonlyArray<Fault>
  readonly placeOf: (id: string, version: number) => FaultPath
}

/**
 * Prompts in the order of their entries. Entries with the same id are its versions, numbered in order unless `version`
 * is set. `slugs` are those of the providers.
 */
const readDrafts = (written: ReadonlyArray<PromptEntry>, slugs: ReadonlyArray<string>): PromptDrafts => {
  const drafts = new Map<string, Draft>()
  const faults: Array<Fault> = []
  const entries = written.map((entry, index) => {
    const at: FaultPath = ["prompts", index]
    const { id } = entry
    const draft = drafts.get(id) ?? { id, name: undefined, versions: new Map(), labels: new Map(), places: new Map() }
    drafts.set(id, draft)
    if (!isPromptId(id))
      faults.push(
        faultAt([...at, "id"], `${quoteValue(id)} is not an id: letters, digits, "_", "." and "-", at most 64`)
      )
    const version = entry.version ?? Math.max(0, ...draft.versions.keys()) + 1
    if (draft.versions.has(version))
      faults.push(faultAt([...at, "version"], `version ${version} of ${quoteValue(id)} is declared twice`))
    faults.push(...contentFaults(entry, at, slugs))
    draft.name = entry.name ?? draft.name
    draft.versions.set(version, promptContent(entry))
    draft.places.set(version, at)
    return { entry, at, draft }
  })
  for (const { at, draft, entry } of entries) faults.push(...labelFaults(entry, at, draft))
  const prompts = [...drafts.values()].map(({ id, labels, name, versions }): Prompt => ({ id, name, versions, labels }))
  return { prompts, faults, placeOf: (id, version) => drafts.get(id)?.places.get(version) ?? ["prompts"] }
}

/** The faults of templates at the paths of their versions. */
const templateFaults = ({ placeOf }: PromptDrafts, faults: ReadonlyArray<PromptFault>): ReadonlyArray<Fault> =>
  faults.map(({ at, id, message, version }) => faultAt(placed(placeOf(id, version), at), message))

/** The prompts of entries, or their faults. `others` may be included as partials too. */
export const readPrompts = (
  written: ReadonlyArray<PromptEntry>,
  accounts: ReadonlyArray<ProviderAccount>,
  limits: TemplateLimits,
  others?: FindVersion
): { readonly prompts: ReadonlyArray<Prompt>; readonly faults: ReadonlyArray<Fault> } => {
  const drafts = readDrafts(
    written,
    accounts.map((account) => account.slug)
  )
  const compiled = compilePrompts(drafts.prompts, limits, others)
  return { prompts: drafts.prompts, faults: [...drafts.faults, ...templateFaults(drafts, compiled.faults)] }
}

// The declared prompts with those of the store, which change one by one with the prompts that include them.

const readPromptEntry = recordReader(PromptEntry)

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
interface StoredDraft {
  readonly prompt: Prompt | undefined
  readonly drafts: PromptDrafts
  readonly faults: ReadonlyArray<RecordFault>
}

/** The number of a version is that of its record. */
const draftOf = (id: string, records: ReadonlyArray<StoredRecord>, slugs: ReadonlyArray<string>): StoredDraft => {
  const entries: Array<PromptEntry> = []
  const faults: Array<RecordFault> = []
  for (const record of records) {
    const entry = readPromptEntry(entryOf(record))
    if (Result.isFailure(entry)) faults.push({ id: `prompt ${id}@${record.version}`, message: entry.failure })
    else entries.push(entry.success)
  }
  const drafts = readDrafts(labelled(entries), slugs)
  return { prompt: drafts.prompts[0], drafts, faults }
}

/** A stored prompt, compiled: whether it can be used, and the ids of the prompts that it includes. */
interface StoredPrompt {
  readonly prompt: Prompt | undefined
  readonly ready: ReadonlyMap<unknown, ReadyPrompt>
  readonly faults: ReadonlyArray<RecordFault>
  readonly uses: ReadonlySet<string>
}

const idOf = (reference: string): string => reference.split("@", 1)[0] ?? reference

/** The stored prompts of a state, each read where it is needed. */
const stateReader = (prompts: RecordSet, declared: ReadonlyMap<string, Prompt>, slugs: ReadonlyArray<string>) => {
  const drafts = new Map<string, StoredDraft>()
  const draft = (id: string): StoredDraft => {
    const made = drafts.get(id) ?? draftOf(id, versionsOf(prompts, id), slugs)
    drafts.set(id, made)
    return made
  }
  const find = (reference: string): PromptVersion | undefined =>
    findVersion((id) => declared.get(id) ?? draft(id).prompt, reference)
  const storedPrompt = (id: string, limits: TemplateLimits): StoredPrompt => {
    const { drafts, faults, prompt } = draft(id)
    const uses = new Set<string>()
    const compiled = compilePrompts(drafts.prompts, limits, (reference) => {
      uses.add(idOf(reference))
      return find(reference)
    })
    const readFaults = [...drafts.faults, ...templateFaults(drafts, compiled.faults)]
    return {
      prompt: readFaults.length === 0 ? prompt : undefined,
      ready: compiled.prompts,
      faults: [...faults, ...readFaults.map(({ message }) => ({ id: `prompt ${id}`, message }))],
      uses
    }
  }
  return { find, storedPrompt }
}

const declaredOf = ({ declared }: ConfigState): ReadonlyMap<string, Prompt> =>
  new Map((declared.prompts ?? []).toReversed().map((prompt) => [prompt.id, prompt]))

const slugsOf = (state: ConfigState): ReadonlyArray<string> => mergedAccounts(state).accounts.map(({ slug }) => slug)

/** The stored prompts of these ids that cannot be used in a state. */
export const promptFaults = (
  state: ConfigState,
  ids: Iterable<string>,
  limits: TemplateLimits
): ReadonlyArray<RecordFault> => {
  const { storedPrompt } = stateReader(state.records.prompt, declaredOf(state), slugsOf(state))
  return [...ids].flatMap((id) => storedPrompt(id, limits).faults)
}

export class MergedPrompts {
  private readonly declared: ReadonlyMap<string, Prompt>
  private readonly slugs: ReadonlyArray<string>
  private readonly limits: TemplateLimits
  private readonly stored = new Map<string, StoredPrompt>()
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
    const version = findVersion((id) => this.usable(id), reference)
    if (version === undefined) return undefined
    return this.declaredReady.get(version.content) ?? this.stored.get(version.id)?.ready.get(version.content)
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
    const { storedPrompt } = stateReader(prompts, this.declared, this.slugs)
    for (const id of new Set([...ids, ...ids.flatMap((one) => this.usersOf(one))])) {
      for (const used of this.stored.get(id)?.uses ?? []) this.users.get(used)?.delete(id)
      this.stored.delete(id)
      this.broken.delete(id)
      if (versionsOf(prompts, id).length === 0) continue
      const made = storedPrompt(id, this.limits)
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
