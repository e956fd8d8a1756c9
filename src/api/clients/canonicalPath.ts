// The path of a request as the router knows it: base URLs of clients double the version, leave it out, or are those of other services.
// It must not know handlers. Unknown paths stay as they are, so that an error names what was sent.
import { memoizeBounded } from "../../domain/memoizeBounded.ts"

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
  const own = path.replace(compatible, "/v1")
  const rest = own.replace(doubled, "")
  return rest !== own && versioned.test(rest) ? rest : own
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
export const isAnthropicPath = (path: string): boolean =>
  /\/(messages|complete|organizations|skills)(\/|$)|\/publishers\/anthropic(\/|$)/.test(path)
