// The body that makes or changes a gateway key, from the fields of a form. Empty fields are left out; the gateway checks the rest.
// Must not know the form.
import type { Key, WrittenKeyBody } from "../../../api/AdminResources.ts"

type Body = typeof WrittenKeyBody.Type

const listOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

const optional = <A>(name: string, text: string, of: (text: string) => A): Readonly<Record<string, A>> =>
  text.trim() === "" ? {} : { [name]: of(text) }

const limits = ["requests_per_minute", "requests_burst", "tokens_per_minute", "tokens_burst"] as const

/** Undefined where no limit is set. */
const rateLimit = (field: (name: string) => string): Body["rate_limit"] => {
  const set = limits.filter((name) => field(name).trim() !== "")
  return set.length === 0 ? undefined : Object.fromEntries(set.map((name) => [name, Number(field(name))]))
}

const contents = ["off", "errors", "all"] as const

export const keyBody = (field: (name: string) => string): Body => {
  const limit = rateLimit(field)
  const content = contents.find((one) => one === field("log_content"))
  return {
    name: field("name").trim(),
    scopes: [field("scope") === "admin" ? "admin" : "inference"],
    ...optional("providers", field("providers"), listOf),
    ...optional("models", field("models"), listOf),
    ...optional("config", field("config"), (text) => text.trim()),
    ...(limit === undefined ? {} : { rate_limit: limit }),
    ...optional("concurrency", field("concurrency"), Number),
    ...optional("budget", field("budget"), (text) => ({
      usd: Number(text),
      per: field("per") === "day" ? ("day" as const) : ("month" as const)
    })),
    // The field has the time of the reader without its zone.
    ...optional("expires_at", field("expires_at"), (text) => new Date(text).toISOString()),
    ...(content === undefined ? {} : { log_content: content })
  }
}

/** The changed key: fields that the form does not have stay as they are. */
export const changedKey = (
  { configs, metadata, metadata_locked: locked, other_models: otherModels, prompts, scopes = [] }: Key,
  body: Body
): Body => ({
  ...body,
  ...(scopes.length > 1 ? { scopes } : {}),
  ...(configs === undefined ? {} : { configs }),
  ...(prompts === undefined ? {} : { prompts }),
  ...(metadata === undefined ? {} : { metadata }),
  ...(locked === undefined ? {} : { metadata_locked: locked }),
  ...(otherModels === undefined ? {} : { other_models: otherModels })
})

const two = (part: number): string => String(part).padStart(2, "0")

/** A moment as a field for date and time takes it, in the zone of the reader. */
export const localMoment = (moment: string | undefined): string => {
  if (moment === undefined) return ""
  const at = new Date(moment)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}
