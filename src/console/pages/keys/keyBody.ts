// A gateway key as the fields of a form: their labels, their values, and the body that makes or changes a key.
// It must not know how a form is drawn. The gateway checks the values.
import type { Key, WrittenKeyBody } from "../../../api/AdminResources.ts"
import { fieldsOf } from "../../readJson.ts"

type Body = typeof WrittenKeyBody.Type

/** A field that has words to choose from; the first is chosen in an empty form. */
type Words = ReadonlyArray<readonly [value: string, text: string]>

export interface KeyField {
  readonly name: string
  readonly label: string
  /** Where its value is in the key. */
  readonly at: readonly [member: keyof Body, part?: string]
  readonly kind: "text" | "list" | "number" | "moment"
  readonly hint?: string
  readonly words?: Words
  /** Its value is in the body also when it is empty. */
  readonly isRequired?: boolean
}

const limit = (name: string, label: string, hint?: string): KeyField => ({
  name,
  label,
  at: ["rate_limit", name],
  kind: "number",
  ...(hint === undefined ? {} : { hint })
})

const scopes: Words = [
  ["inference", "inference: calls models"],
  ["admin", "admin: sees and changes the gateway"]
]
const periods: Words = [
  ["month", "month of UTC"],
  ["day", "day of UTC"]
]
const contents: Words = [
  ["", "as log.content is set"],
  ["off", "off: of no request"],
  ["errors", "errors: of failed requests"],
  ["all", "all: of every request"]
]

/** The fields of the form in their order. */
export const keyFields = (configs: ReadonlyArray<string>): ReadonlyArray<KeyField> => [
  { name: "name", label: "Name", at: ["name"], kind: "text", isRequired: true },
  { name: "scope", label: "Scope", at: ["scopes"], kind: "list", words: scopes, isRequired: true },
  { name: "providers", label: "Providers", at: ["providers"], kind: "list", hint: "all, or google, vertex-ai" },
  { name: "models", label: "Models", at: ["models"], kind: "list", hint: "all, or gemini-*, claude-*" },
  limit("requests_per_minute", "Requests a minute"),
  limit("requests_burst", "Burst of requests", "a tenth of the limit"),
  limit("tokens_per_minute", "Tokens a minute"),
  limit("tokens_burst", "Burst of tokens", "a tenth of the limit"),
  { name: "concurrency", label: "Requests at a time", at: ["concurrency"], kind: "number", hint: "its fair share" },
  { name: "budget", label: "Budget in US dollars", at: ["budget", "usd"], kind: "number", hint: "none" },
  { name: "per", label: "Budget for each", at: ["budget", "per"], kind: "text", words: periods, isRequired: true },
  { name: "expires_at", label: "Expires", at: ["expires_at"], kind: "moment" },
  {
    name: "config",
    label: "Config",
    at: ["config"],
    kind: "text",
    words: [["", "none"], ...configs.map((id) => [id, id] as const)]
  },
  { name: "log_content", label: "Keep bodies and answers", at: ["log_content"], kind: "text", words: contents }
]

const listOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

const readField = ({ kind, words }: KeyField, text: string): unknown => {
  const value = text || (words?.[0]?.[0] ?? "")
  if (kind === "list") return listOf(value)
  if (kind === "number") return Number(value)
  // The field has the time of the reader without its zone.
  return kind === "moment" ? new Date(value).toISOString() : value
}

/** The body of a form's fields. Empty fields are left out. */
export const keyBody = (text: (name: string) => string): Readonly<Record<string, unknown>> => {
  const body: Record<string, unknown> = {}
  for (const field of keyFields([])) {
    const written = text(field.name).trim()
    if (written === "" && field.isRequired !== true) continue
    const [member, part] = field.at
    const value = readField(field, written)
    body[member] = part === undefined ? value : { ...fieldsOf(body[member]), [part]: value }
  }
  const { budget, ...rest } = body
  return fieldsOf(budget)["usd"] === undefined ? rest : body
}

/** The changed key: fields that the form does not have stay as they are. */
export const changedKey = (
  { configs, metadata, metadata_locked, other_models, prompts, scopes: granted = [] }: Key,
  body: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> => {
  const others = { configs, prompts, metadata, metadata_locked, other_models }
  return {
    ...body,
    ...(granted.length > 1 ? { scopes: granted } : {}),
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  }
}

const two = (part: number): string => String(part).padStart(2, "0")

/** A moment as a field for date and time takes it, in the zone of the reader. */
const localMoment = (moment: string): string => {
  const at = new Date(moment)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}

/** The text of a field for a key, or for a new one. */
export const fieldValue = (row: Key | undefined, { at: [member, part], kind, words }: KeyField): string => {
  const whole = fieldsOf(row)[member]
  const value = part === undefined ? whole : fieldsOf(whole)[part]
  if (value === undefined) return words?.[0]?.[0] ?? ""
  // Of several scopes the last word decides, which is the widest.
  if (Array.isArray(value)) return words?.findLast(([word]) => value.includes(word))?.[0] ?? value.join(", ")
  return kind === "moment" ? localMoment(String(value)) : String(value)
}
