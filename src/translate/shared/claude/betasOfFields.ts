// Flags of `anthropic-beta` that fields of a Claude body need: web search, context management, scoped cache marks.
// Must not depend on routes, and must not remove a flag: the upstream's own answer counts (M-821).
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"

const webSearch = "web-search-2025-03-05"
const contextManagement = "context-management-2025-06-27"
const cacheScope = "prompt-caching-scope-2026-01-05"

/** The fields that may need a flag, of any body. */
export interface FlaggedFields {
  readonly tools?: unknown
  readonly system?: unknown
  readonly messages?: unknown
  readonly cache_control?: unknown
  readonly context_management?: unknown
}

/** Clients of Anthropic's own service leave these flags out where that service needs none. Runs on every request. */
export const betasOfFields = (body: FlaggedFields): ReadonlyArray<string> => {
  const { context_management: management, messages, system, tools } = body
  const isSearching = someObject(tools, isWebSearch)
  const isManaged = isJsonObject(management)
  const isScoped =
    hasScope(body) || someObject(tools, hasScope) || holdsScope(system) || someObject(messages, holdsInContent)
  if (!isSearching && !isManaged && !isScoped) return none
  return [
    ...(isSearching ? [webSearch] : []),
    ...(isManaged ? [contextManagement] : []),
    ...(isScoped ? [cacheScope] : [])
  ]
}

const none: ReadonlyArray<string> = []

const someObject = (value: unknown, test: (item: JsonObject) => boolean): boolean => {
  if (!Array.isArray(value)) return false
  for (const item of value) if (isJsonObject(item) && test(item)) return true
  return false
}

/** Each version of the tool has a type of its own, such as `web_search_20250305`. */
const isWebSearch = ({ type }: JsonObject): boolean => typeof type === "string" && type.startsWith("web_search_")

const hasScope = ({ cache_control: mark }: Pick<FlaggedFields, "cache_control">): boolean =>
  mark !== undefined && isJsonObject(mark) && (mark["scope"] ?? undefined) !== undefined

/** Tool results contain blocks of their own. */
const holdsScope = (content: unknown): boolean => someObject(content, isScopedBlock)
const isScopedBlock = (block: JsonObject): boolean => hasScope(block) || holdsScope(block["content"])
const holdsInContent = ({ content }: JsonObject): boolean => holdsScope(content)
