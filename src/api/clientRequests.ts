// How requests of different clients are read: the canonical path, the dialect that a client speaks, and the keys it presents.
// It must not know handlers or which keys exist. Unknown paths stay as they are. Rules: N204, section 4 of the contract.
import { memoizeBounded } from "../domain/collections.ts"
import { gatewayHeader, type HeaderRecord, requestHeaderNames, withoutBearer } from "./Headers.ts"

/** A path, and the model that it names. */
interface KnownPath {
  readonly path: string
  /** Of Azure's deployments, OpenAI's engines and Vertex AI's endpoints, whose paths name the model. */
  readonly model: string | undefined
}

/** First segments of routes below `/v1`. */
const versioned =
  /^\/(chat\/completions|embeddings|images\/generations|messages|models|prompts|responses|conversations)(\/|$)/

/** A record whose id is empty is no list of records. */
const literal = /^\/{1,2}admin(\/|$)/

const version = "(?:/v1(?:beta1?|alpha)?)"
/** Below these every path is OpenAI's or Anthropic's: Gemini's and Azure's own, Groq's, DeepSeek's, and Vertex AI's. */
const compatible = new RegExp(
  `^(?:(?:/api)?${version}?(?:/api)?/(?:openai|anthropic)|${version}/projects/[^/]+/locations/[^/]+/endpoints/openapi)(?:/v1)?(?=/|$)`
)
/** Below these only paths of ours are meant: OpenRouter's `/api/v1`, and a second version after a base URL's own. */
const doubled = new RegExp(`^(?:/api${version}?|${version}/v1)(?=/|$)`)

const deployment = /^(?:\/v1)?\/(?:deployments|engines)\/(.+)\/(chat\/completions|embeddings|images\/generations)$/
const endpoint = new RegExp(
  `^${version}/projects/[^/]+/locations/[^/]+/endpoints/(?!openapi/)([^/:]+)/(chat/completions)$`
)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The path without the prefixes of other services. */
const withoutPrefix = (path: string): string => {
  const single = path.replace(compatible, "/v1")
  const rest = single.replace(doubled, "")
  return rest !== single && versioned.test(rest) ? rest : single
}

/** Slashes at both ends, versions twice or not at all, and the paths of other services. Paths of native routes pass. */
export const knownPath: (path: string) => KnownPath = memoizeBounded((path) => {
  if (literal.test(path)) return { path, model: undefined }
  let text = path
  if (text.length > 1 && text.endsWith("/")) text = text.slice(0, -1)
  if (text.startsWith("//") && !text.startsWith("///")) text = text.slice(1)
  const deployed = endpoint.exec(text)
  if (deployed !== null) return { path: `/v1/${deployed[2]}`, model: `endpoints.${deployed[1]}` }
  text = withoutPrefix(text)
  if (/^\/v1\/v1(\/|$)/.test(text)) text = text.slice("/v1".length)
  const named = deployment.exec(text)
  if (named !== null) return { path: `/v1/${named[2]}`, model: decoded(named[1] ?? "") }
  return { path: versioned.test(text) ? `/v1${text}` : text, model: undefined }
})

/** What is served next to a path that is not: the address of a common mistake. */
export const insteadOf = (path: string): string => {
  if (/^\/v1\/(completions|engines)/.test(path)) return "use /v1/chat/completions"
  if (path.startsWith("/v1/messages/batches")) return "message batches are not offered; send the messages one by one"
  if (/^\/v1\/(files|uploads)/.test(path)) return "files are not kept here; send data inline, or as gs:// on Vertex AI"
  if (path.startsWith("/v1/batches")) return "batches are not offered; send the requests one by one"
  if (/^\/v1\/(audio|realtime|assistants|threads|fine_tuning|moderations|vector_stores)/.test(path))
    return "of OpenAI's API chat completions, responses, embeddings, images and models are offered"
  if (/^\/v1\/complete$/.test(path)) return "use /v1/messages"
  if (isAnthropicPath(path))
    return "served are /v1/messages, /v1/messages/count_tokens, /v1/models, and rawPredict and streamRawPredict of publishers/anthropic/models"
  if (path.startsWith("/admin")) return "the admin API lives under /admin/v1"
  return "served are /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, /v1/models and Google's own paths below /v1beta, /v1/projects and /v1/publishers"
}

/** Paths that only clients of Anthropic ask for, in any version. */
const isAnthropicPath = (path: string): boolean =>
  /\/(messages|complete|organizations|skills)(\/|$)|\/publishers\/anthropic(\/|$)/.test(path)

// Which dialect a client speaks where a path alone does not show it: `/v1/models`, `/v1/files`, unknown paths.

export type ClientDialect = "openai" | "anthropic" | "google"

/** By headers: `anthropic-version` is sent by each of Anthropic's SDKs, `x-goog-*` by each of Google's. */
export const clientDialect = (headers: HeaderRecord): ClientDialect => {
  if (headers["anthropic-version"] !== undefined || headers["anthropic-beta"] !== undefined) return "anthropic"
  return headers["x-goog-api-key"] !== undefined || headers["x-goog-api-client"] !== undefined ? "google" : "openai"
}

/** The dialect of an answer on a path that no route has: names that only Anthropic has need no header. */
export const dialectOfUnknown = (path: string, headers: HeaderRecord): ClientDialect => {
  const dialect = clientDialect(headers)
  if (dialect !== "openai") return dialect
  return isAnthropicPath(path) ? "anthropic" : "openai"
}

// The texts a request presents as its gateway key, in the order in which they are tried.

const longest = 512

/** True for text that could be a key: printable, without spaces, of a bounded length. */
const isKeyText = (text: string | undefined): text is string =>
  text !== undefined && text.length <= longest && /^[\x21-\x7e]+$/.test(text)

/**
 * The own header alone where it is sent, so that a provider's credential elsewhere is never tried as a key. Else every
 * place where an SDK puts its key, `?key=` of native routes last: the first that is a known key counts, whatever its form.
 */
export const presentedKeys = (headers: HeaderRecord, queryKey?: string): ReadonlyArray<string> => {
  const gatewayKey = gatewayHeader(headers, requestHeaderNames.apiKey)?.trim()
  if (gatewayKey !== undefined && gatewayKey !== "") return [gatewayKey]
  const authorization = headers["authorization"]
  const places = [
    authorization === undefined ? undefined : withoutBearer(authorization),
    headers["x-api-key"]?.trim(),
    headers["x-goog-api-key"]?.trim(),
    headers["api-key"]?.trim(),
    queryKey?.trim()
  ]
  return [...new Set(places.filter(isKeyText))]
}

/** How the credentials of others begin, the longer beginning first. */
const foreignForms: ReadonlyArray<readonly [RegExp, string]> = [
  [/^sk-ant-/, "a key of Anthropic"],
  [/^sk-or-/, "a key of OpenRouter"],
  [/^sk-lf-|^pk-lf-/, "a key of Langfuse"],
  [/^sk-/, "a key of OpenAI"],
  [/^pk-/, "a public key of another service"],
  [/^(AIza|AQ\.)/, "an API key of Google"],
  [/^ya29\./, "an access token of Google"],
  [/^eyJ/, "a signed token"],
  [/^gsk_/, "a key of Groq"],
  [/^xai-/, "a key of xAI"],
  [/^hf_/, "a token of Hugging Face"]
]

/** What a text that is no known key is by its form. The text itself is never repeated. */
export const foreignForm = (text: string): string | undefined => foreignForms.find(([form]) => form.test(text))?.[1]
