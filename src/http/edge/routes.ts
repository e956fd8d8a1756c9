// The paths of the service and their methods, which separate a wrong method from an unknown path.
// It must not depend on handlers; a test compares it with the router.
import { operationPaths } from "../../domain/operations.ts"

const methods: ReadonlyArray<readonly [path: string, allow: ReadonlyArray<string>]> = [
  ...operationPaths.map((path) => [path, ["POST"]] as const),
  ["/v1/responses", ["POST"]],
  ["/v1/responses/input_tokens", ["POST"]],
  ["/v1/responses/compact", ["POST"]],
  ["/v1/models", ["GET"]],
  ["/admin/v1/audit", ["GET"]],
  ["/admin/v1/check", ["POST"]],
  ["/admin/v1/clients", ["GET"]],
  ["/admin/v1/dry-runs", ["POST"]],
  ["/admin/v1/metrics", ["GET"]],
  ["/admin/v1/models/facts", ["GET"]],
  ["/admin/v1/models/learned", ["DELETE"]],
  ["/admin/v1/requests", ["GET"]],
  ["/admin/v1/requests/events", ["GET"]],
  ["/admin/v1/session", ["GET", "POST", "DELETE"]],
  ["/admin/v1/settings", ["GET"]],
  ["/admin/v1/usage", ["GET"]],
  ["/", ["GET"]],
  ["/api/hello", ["GET"]],
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
const requestPath = /^\/admin\/v1\/requests\/[\w-]{1,128}(\/content)?$/
const modelPath = /^\/v1\/models\/[^/](.*[^/])?$/

const entriesPath = /^\/admin\/v1\/(providers|keys|configs|prompts)$/
const entryPath = /^\/admin\/v1\/(providers|keys|configs|prompts)\/[^/]+$/
const providerModelsPath = /^\/admin\/v1\/providers\/[^/]+\/models$/
const actionPath = /^\/admin\/v1\/(providers\/[^/]+\/test|keys\/[^/]+\/rotate)$/

/** The id is one segment. */
const promptPath = /^\/v1\/prompts\/[^/]+\/(completions|render)$/

const responsePath = /^\/v1\/responses\/[^/]+$/
const responseItemsPath = /^\/v1\/responses\/[^/]+\/input_items$/
const responseCancelPath = /^\/v1\/responses\/[^/]+\/cancel$/

/** The console and the pages inside it. */
const isConsole = (path: string): boolean => path === "/console" || path.startsWith("/console/")

/** The pages of the documentation; `/docs` itself is the API reference. */
const isGuide = (path: string): boolean => /^\/docs\/[^/]+$/.test(path)

/** Paths of operators, which may have a port of their own. */
export const isOperators = (path: string): boolean =>
  path === "/metrics" || path.startsWith("/admin/") || isConsole(path)

/** The methods of a path; empty for an unknown path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => {
  if (modelPath.test(path) && !path.includes("//")) return ["GET"]
  if (promptPath.test(path)) return ["POST"]
  if (requestPath.test(path) || providerModelsPath.test(path) || isConsole(path) || isGuide(path)) return ["GET"]
  if (entriesPath.test(path)) return ["GET", "POST"]
  if (entryPath.test(path)) return ["GET", "PUT", "DELETE"]
  if (actionPath.test(path)) return ["POST"]
  const fixed = methods.find(([known]) => known === path)?.[1]
  if (fixed !== undefined) return fixed
  if (responsePath.test(path)) return ["GET", "DELETE"]
  if (responseItemsPath.test(path)) return ["GET"]
  return responseCancelPath.test(path) ? ["POST"] : []
}
