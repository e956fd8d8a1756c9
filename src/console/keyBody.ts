// The body that makes a gateway key, from the fields of a form. Empty fields are left out; the gateway checks the rest.
// Must not know the form.
import type { WrittenKeyBody } from "../api/AdminResources.ts"

const listOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

const optional = <A>(name: string, text: string, of: (text: string) => A): Readonly<Record<string, A>> =>
  text.trim() === "" ? {} : { [name]: of(text) }

export const keyBody = (field: (name: string) => string): typeof WrittenKeyBody.Type => ({
  name: field("name").trim(),
  scopes: [field("scope") === "admin" ? "admin" : "inference"],
  ...optional("providers", field("providers"), listOf),
  ...optional("models", field("models"), listOf),
  ...optional("rate_limit", field("requests"), (text) => ({ requests_per_minute: Number(text) })),
  ...optional("budget", field("budget"), (text) => ({ usd: Number(text), per: "month" as const }))
})
