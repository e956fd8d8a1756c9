// The paths of the service and their methods, for telling a wrong method from an unknown path.
// It must not know handlers; a test holds it against the router.

const methods: ReadonlyArray<readonly [path: string, allow: ReadonlyArray<string>]> = [
  ["/v1/chat/completions", ["POST"]],
  ["/v1/chat/completions/count_tokens", ["POST"]],
  ["/v1/embeddings", ["POST"]],
  ["/v1/images/generations", ["POST"]],
  ["/v1/messages", ["POST"]],
  ["/v1/messages/count_tokens", ["POST"]],
  ["/v1/models", ["GET"]],
  ["/admin/v1/audit", ["GET"]],
  ["/admin/v1/requests", ["GET"]],
  ["/admin/v1/usage", ["GET"]],
  ["/metrics", ["GET"]],
  ["/openapi.json", ["GET"]],
  ["/docs", ["GET"]],
  ["/health", ["GET"]],
  ["/health/live", ["GET"]],
  ["/health/ready", ["GET"]],
  ["/healthz", ["GET"]],
  ["/livez", ["GET"]],
  ["/readyz", ["GET"]]
]

/** A model id may hold slashes. */
const requestPath = /^\/admin\/v1\/requests\/[\w-]{1,128}$/
const modelPath = /^\/v1\/models\/[^/](.*[^/])?$/

const entriesPath = /^\/admin\/v1\/(providers|keys|configs|prompts)$/
const entryPath = /^\/admin\/v1\/(providers|keys|configs|prompts)\/[^/]+$/
const actionPath = /^\/admin\/v1\/(providers\/[^/]+\/test|keys\/[^/]+\/rotate)$/

/** The id is one segment. */
const promptPath = /^\/v1\/prompts\/[^/]+\/(completions|render)$/

/** Paths of operators, which may have a port of their own. */
export const isOperators = (path: string): boolean => path === "/metrics" || path.startsWith("/admin/")

/** Methods a path takes; none when there is no such path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => {
  if (modelPath.test(path) && !path.includes("//")) return ["GET"]
  if (promptPath.test(path)) return ["POST"]
  if (requestPath.test(path)) return ["GET"]
  if (entriesPath.test(path)) return ["GET", "POST"]
  if (entryPath.test(path)) return ["GET", "PUT", "DELETE"]
  if (actionPath.test(path)) return ["POST"]
  return methods.find(([known]) => known === path)?.[1] ?? []
}
