// Prompts and partials as the operator declares them: versions, labels, and how one of them is named.
// It must not know templates, requests or where prompts are kept.
import type { JsonObject } from "./text/json.ts"
import { isRefusedKey } from "./text/refusedKeys.ts"

/** What one version says: a chat to be, or a text that other prompts put into theirs. */
export type PromptContent =
  | {
      readonly _tag: "Chat"
      /** May carry `@slug/`; no template. */
      readonly model: string
      /** Messages of the chat schema, whose strings are templates. */
      readonly messages: ReadonlyArray<JsonObject>
      /** Any other parameters of the chat schema, whose strings are templates. */
      readonly parameters: JsonObject
    }
  | { readonly _tag: "Partial"; readonly text: string }

export interface Prompt {
  readonly id: string
  /** For people. */
  readonly name: string | undefined
  /** By their numbers. */
  readonly versions: ReadonlyMap<number, PromptContent>
  /** Names of versions, such as `production`. */
  readonly labels: ReadonlyMap<string, number>
}

/** Served where a request names no version; without it the newest is. */
export const defaultLabel = "production"

/** Names the newest version, unless the prompt gives the label to another. */
const newestLabel = "latest"

const idGrammar = /^[A-Za-z0-9][\w.-]{0,63}$/
const labelGrammar = /^[A-Za-z][\w.-]{0,63}$/
const numberGrammar = /^[1-9]\d{0,8}$/

/** True for text that may be the id of a prompt. */
export const isPromptId = (text: string): boolean => idGrammar.test(text)

/** True for text that may name a version; no number is one. */
export const isPromptLabel = (text: string): boolean => labelGrammar.test(text) && !isRefusedKey(text)

const newest = ({ versions }: Prompt): number => Math.max(...versions.keys())

/** The version a reference `id`, `id@3` or `id@label` means, of a prompt that has the id. */
const versionOf = (prompt: Prompt, wanted: string | undefined): number | undefined => {
  if (wanted === undefined) return prompt.labels.get(defaultLabel) ?? newest(prompt)
  if (numberGrammar.test(wanted)) return Number(wanted)
  return prompt.labels.get(wanted) ?? (wanted === newestLabel ? newest(prompt) : undefined)
}

/** One version of one prompt. */
export interface PromptVersion {
  readonly id: string
  readonly version: number
  readonly content: PromptContent
}

/** Finds versions by reference; of two prompts with one id the first wins. */
export const promptFinder = (prompts: ReadonlyArray<Prompt>): ((reference: string) => PromptVersion | undefined) => {
  const byId = new Map(prompts.toReversed().map((prompt) => [prompt.id, prompt]))
  return (reference) => {
    const at = reference.indexOf("@")
    const prompt = byId.get(at < 0 ? reference : reference.slice(0, at))
    const version = prompt === undefined ? undefined : versionOf(prompt, at < 0 ? undefined : reference.slice(at + 1))
    const content = version === undefined ? undefined : prompt?.versions.get(version)
    return prompt === undefined || version === undefined || content === undefined
      ? undefined
      : { id: prompt.id, version, content }
  }
}
