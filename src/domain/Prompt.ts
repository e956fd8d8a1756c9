// Prompts and partials as the operator declares them: their schema, versions, labels, and the reference that names a version.
// It must not know templates, requests or where prompts are stored.
import { isRefusedKey, nonEmptyText, wholeNumber } from "./config/configured.ts"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

/**
 * The content of one version as its entry has it: a chat, whose model may start with `@slug/` and is no template, or a
 * text that prompts include as a partial. Strings in messages and parameters are templates.
 */
export type PromptContent = Pick<PromptEntry, (typeof contentFields)[number]>

export interface Prompt {
  readonly id: string
  /** A title for operators. */
  readonly name: string | undefined
  /** The versions by number. */
  readonly versions: ReadonlyMap<number, PromptContent>
  /** Version numbers by label, such as `production`. */
  readonly labels: ReadonlyMap<string, number>
}

/** The label served when a request names no version. Without this label the newest version is served. */
export const defaultLabel = "production"

/** Names the newest version, unless the prompt assigns the label to another version. */
const newestLabel = "latest"

const idGrammar = /^[A-Za-z0-9][\w.-]{0,63}$/
const labelGrammar = /^[A-Za-z][\w.-]{0,63}$/
const numberGrammar = /^[1-9]\d{0,8}$/

/** True for text that may be the id of a prompt. */
export const isPromptId = (text: string): boolean => idGrammar.test(text)

/** True for text that may be a label; a number is not one. */
export const isPromptLabel = (text: string): boolean => labelGrammar.test(text) && !isRefusedKey(text)

const newest = ({ versions }: Prompt): number => Math.max(...versions.keys())

/** The version number that a reference `id`, `id@3` or `id@label` means in this prompt. */
const versionOf = (prompt: Prompt, wanted: string | undefined): number | undefined => {
  if (wanted === undefined) return prompt.labels.get(defaultLabel) ?? newest(prompt)
  if (numberGrammar.test(wanted)) return Number(wanted)
  return prompt.labels.get(wanted) ?? (wanted === newestLabel ? newest(prompt) : undefined)
}

/** One version of a prompt. */
export interface PromptVersion {
  readonly id: string
  readonly version: number
  readonly content: PromptContent
}

/** The version that a reference means, among the prompts by their ids. */
export const findVersion = (
  promptOf: (id: string) => Prompt | undefined,
  reference: string
): PromptVersion | undefined => {
  const at = reference.indexOf("@")
  const prompt = promptOf(at < 0 ? reference : reference.slice(0, at))
  const version = prompt === undefined ? undefined : versionOf(prompt, at < 0 ? undefined : reference.slice(at + 1))
  const content = version === undefined ? undefined : prompt?.versions.get(version)
  return prompt === undefined || version === undefined || content === undefined
    ? undefined
    : { id: prompt.id, version, content }
}

/** Finds versions by reference. */
export type FindVersion = (reference: string) => PromptVersion | undefined

/** Of two prompts with the same id the first wins. */
export const promptFinder = (prompts: ReadonlyArray<Prompt>): FindVersion => {
  const byId = new Map(prompts.toReversed().map((prompt) => [prompt.id, prompt]))
  return (reference) => findVersion((id) => byId.get(id), reference)
}

// The schema of a prompt entry, in the configuration file and in the store: one version of a prompt, or a partial.

/** One version of a prompt, or a partial, as it is written down. */
export const PromptEntry = Schema.Struct({
  id: nonEmptyText.annotate({ description: "Name of the prompt or partial; entries of one id are its versions." }),
  name: Schema.optionalKey(nonEmptyText.annotate({ description: "Title for people." })),
  version: Schema.optionalKey(
    wholeNumber(1, 999_999_999).annotate({ description: "One more than the version before, unless set." })
  ),
  model: Schema.optionalKey(nonEmptyText.annotate({ description: "Model of the chat; may carry @slug/." })),
  messages: Schema.optionalKey(
    Schema.Array(Schema.JsonObject).annotate({
      description: "Messages of the chat, with {{variables}} and {{>partials}} in their texts."
    })
  ),
  parameters: Schema.optionalKey(
    Schema.JsonObject.annotate({ description: "Any other parameter of the chat, with variables as well." })
  ),
  text: Schema.optionalKey(
    Schema.String.annotate({ description: "In place of model and messages: a partial that prompts put in by {{>id}}." })
  ),
  labels: Schema.optionalKey(
    Schema.Record(Schema.String, wholeNumber(1, 999_999_999)).annotate({
      description: "Versions by name; the one named production is served where none is asked for."
    })
  )
})

export type PromptEntry = typeof PromptEntry.Type

const contentFields = ["model", "messages", "parameters", "text"] as const

export const promptContent = (entry: PromptEntry): PromptContent => Struct.pick(entry, contentFields)
