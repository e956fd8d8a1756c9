// The closed set of places a request may go to, and the grammar of what enters a URL.
// It must not know credentials or bodies.
import * as Result from "effect/Result"
import { BodyInvalid } from "../domain/GatewayError.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"

const regionGrammar = /^[a-z]{2,20}(-[a-z]{2,20}){0,3}\d{0,2}$/
const projectGrammar = /^([a-z][a-z0-9-]{4,28}[a-z0-9]|[a-z0-9][a-z0-9.-]{0,100}:[a-z][a-z0-9-]{4,28}[a-z0-9]|\d{4,20})$/

export const isRegion = (text: string): boolean => regionGrammar.test(text)
export const isProject = (text: string): boolean => projectGrammar.test(text)

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
export const fixedHeaders = (account: ProviderAccount): Readonly<Record<string, string>> =>
  account.quotaProject === undefined ? {} : { "x-goog-user-project": account.quotaProject }

/** One path segment; what a model id may hold besides alphanumerics stays readable. */
export const segment = (text: string): string =>
  encodeURIComponent(text).replaceAll("%40", "@").replaceAll("%3A", ":")

/** What the URLs of one base must begin with. */
interface Base {
  readonly text: string
  readonly origin: string
  readonly prefix: string
}

/** By the text of the catalog; clients cannot add to it. */
const bases = new Map<string, Base>()

/** The operator's base URL, read once; a host of the closed set needs no reading. */
const baseOf = (account: ProviderAccount, host: string): Base | undefined => {
  if (account.baseUrl === undefined) return { text: `https://${host}`, origin: `https://${host}`, prefix: "" }
  const read = bases.get(account.baseUrl)
  if (read !== undefined) return read
  const url = URL.parse(account.baseUrl)
  if (url === null) return undefined
  const base = {
    text: account.baseUrl.replace(/\/+$/, ""),
    origin: url.origin,
    prefix: url.pathname.replace(/\/+$/, "")
  }
  bases.set(account.baseUrl, base)
  return base
}

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
  const base = baseOf(account, host)
  const text = `${base?.text}${path}${query}`
  const url = URL.parse(text)
  const sound =
    url !== null && base !== undefined &&
    url.origin === base.origin && url.username === "" && url.password === "" && url.hash === "" &&
    url.pathname === base.prefix + path && url.search === query
  return sound
    ? Result.succeed(text)
    : Result.fail(new BodyInvalid({ code: "invalid_model", param: "model", message: "The model id cannot be part of an upstream URL." }))
}
