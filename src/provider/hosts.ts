// The closed set of hosts a request may go to, and the grammar of the parts of a URL.
// It must not depend on credentials or bodies.
import * as Result from "effect/Result"
import { BodyInvalid } from "../domain/GatewayError.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { quotaProjectOf } from "../domain/settings/credentialFile.ts"
import { memoizeBounded } from "../domain/memoizeBounded.ts"

/**
 * Host of a Vertex AI location: `global` and express mode have none of their own, `us` and `eu` are multi-regions
 * with their own name, everything else is a region. Source: Vertex AI locations page.
 */
export const vertexHost = (location: string): string => {
  if (location === "global") return "aiplatform.googleapis.com"
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** Host of the Gemini Developer API. */
export const geminiHost = "generativelanguage.googleapis.com"

/** Headers that every call of an account carries. */
export const fixedHeaders = ({
  credentials,
  quotaProject,
  servingHeaders
}: ProviderAccount): Readonly<Record<string, string>> => {
  const project = quotaProject ?? quotaProjectOf(credentials)
  return project === undefined ? { ...servingHeaders } : { "x-goog-user-project": project, ...servingHeaders }
}

const plainSegment = /^[A-Za-z0-9@:._-]+$/

/** One path segment; the punctuation of model ids stays readable. */
export const segment = (text: string): string =>
  plainSegment.test(text) ? text : encodeURIComponent(text).replaceAll("%40", "@").replaceAll("%3A", ":")

/** Host and path kept apart by a character that neither can hold. */
const part = "\n"

/** True when the finished URL equals its parts. Memoized, because requests repeat the same URLs. */
const isSound = memoizeBounded((parts) => {
  const [base = "", path = "", query = ""] = parts.split(part)
  const url = URL.parse(base + path + query)
  const expected = URL.parse(base)
  return (
    url !== null &&
    expected !== null &&
    url.origin === expected.origin &&
    url.username === "" &&
    url.password === "" &&
    url.hash === "" &&
    url.pathname === expected.pathname.replace(/\/$/, "") + path &&
    url.search === query
  )
})

/**
 * Puts scheme, host and path together and compares the finished URL with what was meant, so that no text that
 * slipped through a grammar can choose another host or path. The operator's `base_url` replaces scheme and host only.
 */
export const upstreamUrl = (
  account: ProviderAccount,
  host: string,
  path: string,
  query: string
): Result.Result<string, BodyInvalid> => {
  const base = account.baseUrl === undefined ? `https://${host}` : account.baseUrl.replace(/\/+$/, "")
  return !path.includes(part) && isSound(`${base}${part}${path}${part}${query}`)
    ? Result.succeed(base + path + query)
    : Result.fail(
        new BodyInvalid({
          code: "invalid_model",
          param: "model",
          message: "The model id cannot be part of an upstream URL."
        })
      )
}
