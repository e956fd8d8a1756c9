// The path of a request as the router knows it: base URLs of clients double the version, leave it out or end in a slash.
// It must not know handlers. Unknown paths stay as they are, so that an error names what was sent.
import { memoizeBounded } from "../../domain/memoizeBounded.ts"

/** First segments of routes below `/v1`. */
const versioned =
  /^\/(chat\/completions|embeddings|images\/generations|messages|models|prompts|responses|conversations)(\/|$)/

/** A record whose id is empty is no list of records. */
const literal = /^\/{1,2}admin(\/|$)/

/** Slashes at both ends, `/v1/v1/`, and routes without `/v1`. Paths of native routes with a version pass. */
export const canonicalPath: (path: string) => string = memoizeBounded((path) => {
  if (literal.test(path)) return path
  let text = path
  if (text.length > 1 && text.endsWith("/")) text = text.slice(0, -1)
  if (text.startsWith("//") && !text.startsWith("///")) text = text.slice(1)
  if (text.startsWith("/v1/v1/") || text === "/v1/v1") text = text.slice("/v1".length)
  return versioned.test(text) ? `/v1${text}` : text
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
  if (path.startsWith("/admin")) return "the admin API lives under /admin/v1"
  return "served are /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, /v1/models and Google's own paths below /v1beta, /v1/projects and /v1/publishers"
}
