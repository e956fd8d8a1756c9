// Which dialect a client speaks where a path alone does not show it: `/v1/models`, `/v1/files`, unknown paths.
// It must not know routes or handlers.
import type { HeaderRecord } from "../Headers.ts"
import { isAnthropicPath } from "./canonicalPath.ts"

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
