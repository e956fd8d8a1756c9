// The body that makes or changes a prompt, from the fields of a form.
// Must not know the form.
import type { Prompt } from "../../../api/AdminResources.ts"
import { jsonFaultLine, readJson } from "../../readJson.ts"

export type Message = NonNullable<Prompt["messages"]>[number]

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
