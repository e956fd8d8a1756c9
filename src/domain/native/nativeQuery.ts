// The query of a native call: which parameters count, which pass, and the key that older clients write into it.
// It must not know headers or logs. Rules: N204, N209, and section 0 on `fields`.
import * as Result from "effect/Result"
import { BodyInvalid } from "../GatewayError.ts"
import type { NativeForm } from "./nativePath.ts"

export interface NativeQuery {
  /** `array` is the framing of a stream without `alt=sse`. */
  readonly framing: "sse" | "array"
  /** Parameters for the upstream, from `?` on; empty where there are none. */
  readonly upstream: string
  readonly pageSize: number | undefined
  readonly pageToken: string | undefined
}

/** The value of `key`: a gateway key, or a key of Google's. Read before anything else of the query. */
export const queryKey = (query: string): string | undefined => {
  if (!query.includes("key")) return undefined
  const value = new URLSearchParams(query).get("key")
  return value === null || value === "" ? undefined : value
}

/** Parameters that reach the Gemini API unchanged; Vertex AI gets none. */
const passing = ["$alt", "prettyPrint"] as const
const passedValue = /^[A-Za-z]{1,16}(;enum-encoding=int)?$/

const pageOf = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined

const invalid = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_value", param, message: `${param} ${message}` }))

/** `query` is the text after `?`. Parameters that are not known here are dropped, so nothing of a client chooses how the upstream answers. */
export const readNativeQuery = (query: string, form: NativeForm): Result.Result<NativeQuery, BodyInvalid> => {
  const params = new URLSearchParams(query)
  const alt = params.get("alt")
  if (alt !== null && alt !== "json" && alt !== "sse") return invalid("alt", 'is "sse" or "json".')
  const upstream = alt === "sse" ? ["alt=sse"] : []
  if (form === "google") {
    for (const name of passing) {
      const value = params.get(name)
      if (value === null) continue
      if (!passedValue.test(value)) return invalid(name, "is one word.")
      upstream.push(`${name}=${value}`)
    }
  }
  return Result.succeed({
    framing: alt === "sse" ? "sse" : "array",
    upstream: upstream.length === 0 ? "" : `?${upstream.join("&")}`,
    pageSize: pageOf(params.get("pageSize")),
    pageToken: params.get("pageToken") ?? undefined
  })
}
