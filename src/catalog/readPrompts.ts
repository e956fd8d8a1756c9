// Reads prompt entries of the configuration file or the store into prompts and partials, or lists their faults.
// It must not know where the entries were written or how a prompt is requested.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type PromptFault, compilePrompts } from "./readyPrompts.ts"
import type { TemplateLimits } from "./renderTemplate.ts"
import { parseModelRef } from "../domain/ModelRef.ts"
import { type FindVersion, isPromptId, isPromptLabel, type Prompt, type PromptContent } from "../domain/Prompt.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { PromptEntry } from "../domain/settings/PromptEntry.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { hint, isNamed } from "../domain/text/nearest.ts"
import { faultAt, faultsOfIssue, type Fault, type FaultPath, quoteValue } from "../domain/faults.ts"

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

/** The content of one entry, and its own faults. */
const contentOf = (
  entry: PromptEntry,
  at: FaultPath,
  known: ReadonlyArray<string>
): { readonly content: PromptContent; readonly faults: ReadonlyArray<Fault> } => {
  const { messages, model, parameters, text } = entry
  if (text !== undefined) {
    const more = (["model", "messages", "parameters"] as const).filter((name) => entry[name] !== undefined)
    return {
      content: { _tag: "Partial", text },
      faults: more.map((name) => faultAt([...at, name], "has no meaning next to text, which makes a partial"))
    }
  }
  const missing = [
    ...(model === undefined ? [faultAt([...at, "model"], "is missing")] : modelFaults(model, at, known)),
    ...(messages === undefined || messages.length === 0
      ? [faultAt([...at, "messages"], "is missing; a partial has text instead")]
      : [])
  ]
  return {
    content: { _tag: "Chat", model: model ?? "", messages: messages ?? [], parameters: parameters ?? {} },
    faults: [...missing, ...chatFaults(entry, at)]
  }
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
export interface PromptDrafts {
  readonly prompts: ReadonlyArray<Prompt>
  readonly faults: ReadonlyArray<Fault>
  readonly placeOf: (id: string, version: number) => FaultPath
}

/**
 * Prompts in the order of their entries. Entries with the same id are its versions, numbered in order unless `version`
 * is set. `slugs` are those of the providers.
 */
export const readDrafts = (written: ReadonlyArray<PromptEntry>, slugs: ReadonlyArray<string>): PromptDrafts => {
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
    const { content, faults: own } = contentOf(entry, at, slugs)
    faults.push(...own)
    draft.name = entry.name ?? draft.name
    draft.versions.set(version, content)
    draft.places.set(version, at)
    return { entry, at, draft }
  })
  for (const { at, draft, entry } of entries) faults.push(...labelFaults(entry, at, draft))
  const prompts = [...drafts.values()].map(({ id, labels, name, versions }): Prompt => ({ id, name, versions, labels }))
  return { prompts, faults, placeOf: (id, version) => drafts.get(id)?.places.get(version) ?? ["prompts"] }
}

/** The faults of templates at the paths of their versions. */
export const templateFaults = ({ placeOf }: PromptDrafts, faults: ReadonlyArray<PromptFault>): ReadonlyArray<Fault> =>
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
