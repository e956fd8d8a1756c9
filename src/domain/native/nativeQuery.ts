// The query of a native call: which parameters count, which pass, and the key that older clients write into it.
// It must not know headers or logs. Rules: N204, N209, N212, and section 0 on `fields`.
import * as Result from "effect/Result"
import { BodyInvalid } from "../GatewayError.ts"
import type { NativeCall } from "./nativePath.ts"

export interface NativeQuery {
  /** `array` is the framing of a stream without `alt=sse`. */
  readonly framing: "sse" | "array"
  /** Parameters for the upstream, from `?` on; empty where there are none. */
  readonly upstream: string
  readonly pageSize: number | undefined
  readonly pageToken: string | undefined
  /** Parameters that would change the answer and have no effect, as the client spells them. */
  readonly ignored: ReadonlyArray<string>
}

/** The value of `key`: a gateway key, or a key of Google's. Read before anything else of the query. */
export const queryKey = (query: string): string | undefined => {
  if (!query.includes("key")) return undefined
  const value = new URLSearchParams(query).get("key")
  return value === null || value === "" ? undefined : value
}

/** Reaches the Gemini API unchanged; Vertex AI gets none. */
const passing = "prettyPrint"
const passedValue = /^[A-Za-z]{1,16}$/

/**
 * Google's system parameters, without the `$` that each may begin with. Source:
 * https://cloud.google.com/apis/docs/system-parameters
 */
const masks: ReadonlySet<string> = new Set(["fields", "callback"])
const credentials: ReadonlySet<string> = new Set(["access_token", "oauth_token", "bearer_token"])

/** Enumerations as numbers are for generated clients, which read names as well; the gateway reads names alone. */
const withoutEnums = (form: string): string => form.replace(/;enum-encoding=int$/, "")

const pageOf = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined

const invalid = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_value", param, message: `${param} ${message}` }))

const nothing: NativeQuery = {
  framing: "array",
  upstream: "",
  pageSize: undefined,
  pageToken: undefined,
  ignored: []
}

/**
 * `query` is the text after `?`. Parameters that are not known here are dropped: an answer in another form, or without
 * its counts, could not be accounted for.
 */
export const readNativeQuery = (
  query: string,
  { form, verb }: Pick<NativeCall, "form"> & Partial<Pick<NativeCall, "verb">>
): Result.Result<NativeQuery, BodyInvalid> => {
  if (query === "") return Result.succeed(nothing)
  const params = new URLSearchParams(query)
  let alt: string | undefined
  const ignored: Array<string> = []
  for (const [name, value] of params) {
    const plain = name.replace(/^\$/, "").toLowerCase()
    if (masks.has(plain)) ignored.push(name)
    else if (credentials.has(plain))
      return invalid(
        name,
        "is not read: send the token in the header authorization, and the gateway key in x-gateway-api-key."
      )
    else if (plain === "alt") {
      const asked = withoutEnums(value.toLowerCase())
      if (asked !== "json" && asked !== "sse") return invalid(name, 'is "sse" or "json".')
      if (alt !== undefined && alt !== asked) return invalid(name, "is given twice with different values; send one.")
      alt = asked
    }
  }
  // Other verbs than this one answer as JSON whatever is asked for.
  const upstream = alt === "sse" && (verb ?? "streamGenerateContent") === "streamGenerateContent" ? ["alt=sse"] : []
  const printed = form === "google" ? params.get(passing) : null
  if (printed !== null) {
    if (!passedValue.test(printed)) return invalid(passing, "is one word.")
    upstream.push(`${passing}=${printed}`)
  }
  return Result.succeed({
    framing: alt === "sse" ? "sse" : "array",
    upstream: upstream.length === 0 ? "" : `?${upstream.join("&")}`,
    pageSize: pageOf(params.get("pageSize")),
    pageToken: params.get("pageToken") ?? undefined,
    ignored: [...new Set(ignored)]
  })
}
