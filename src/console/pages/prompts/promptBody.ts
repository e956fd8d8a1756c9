// Texts of a prompt: the body that makes or changes it, its variables, and the lines that ask it.
// It must not know the form, or how a prompt is rendered.
import type { Prompt } from "../../../api/AdminResources.ts"
import { jsonFaultLine, readJson } from "../../readJson.ts"
import { curlCommand } from "../requests/snippets.ts"

export type Message = NonNullable<Prompt["messages"]>[number]

/** A message of a prompt as the fields of a form. */
export interface Draft {
  readonly role: string
  /** The text; the JSON of content that is not a text. */
  readonly text: string
  /** The other fields of the message. */
  readonly rest: Message
}

export const firstMessages: ReadonlyArray<Message> = [
  { role: "system", content: "You are friendly and brief." },
  { role: "user", content: "{{message}}" }
]

export const draftOf = ({ content, role, ...rest }: Message): Draft => ({
  role: String(role),
  text: typeof content === "string" ? content : JSON.stringify(content, null, 2),
  rest
})

export const messageOfDraft = ({ rest, role, text }: Draft): Message => {
  const content = /^\s*[[{]/.test(text) ? (readJson(text) ?? text) : text
  return { role, content, ...rest }
}

/** The labels of a prompt when those in a text, joined by commas, are given to a version. */
const labelled = (
  labels: Prompt["labels"],
  text: string,
  version: number
): Readonly<Record<string, number>> | undefined => {
  const given = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
  return given.length === 0 ? labels : { ...labels, ...Object.fromEntries(given.map((name) => [name, version])) }
}

export interface PromptFields {
  readonly field: (name: string) => string
  readonly isPartial: boolean
  readonly messages: ReadonlyArray<Message>
  /** Those of the prompt before. */
  readonly labels: Prompt["labels"]
  /** The number that the saved version gets. */
  readonly version: number
}

/** Throws where the parameters are no JSON. */
export const promptBody = ({ field, isPartial, labels, messages, version }: PromptFields) => {
  const parameters = field("parameters") || "{}"
  const read = readJson(parameters)
  if (read === undefined)
    throw new Error(`The parameters are not JSON from their line ${jsonFaultLine(parameters)} on.`)
  const given = labelled(labels, field("labels"), version)
  const shared = {
    ...(field("name") === "" ? {} : { name: field("name") }),
    ...(given === undefined ? {} : { labels: given })
  }
  return isPartial
    ? { ...shared, text: field("text") }
    : { ...shared, model: field("model"), messages, parameters: read }
}

// Texts of a prompt: its variables, and the lines that ask it.

const variable = /\\?\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g

/** The names of the variables in a prompt, in their order; `\{{` is text. */
export const variablesIn = (prompt: unknown): ReadonlyArray<string> => {
  const names = new Set<string>()
  // In JSON a backslash of a text is written twice.
  for (const [whole, name = ""] of JSON.stringify(prompt ?? null)
    .replaceAll("\\\\", "\\")
    .matchAll(variable))
    if (!whole.startsWith("\\")) names.add(name)
  return [...names]
}

/** The same prompt as curl. */
export const snippetOf = (origin: string, reference: string, variables: Readonly<Record<string, string>>): string =>
  curlCommand(`${origin}/v1/prompts/${reference}/completions`, { variables }, false)
