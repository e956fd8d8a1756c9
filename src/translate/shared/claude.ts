// What a request to Claude needs next to its parameters: flags of `anthropic-beta`, the version of the API, ids for counting.
// Must not depend on routes, and must not list or remove flags: the upstream's own answer counts (M-821). Rule: M-830.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import { vertexVersion } from "../../wire/anthropic.ts"
import { invalid } from "./chat-request/paramReader.ts"

const longest = 1024
const mostFlags = 20
const grammar = /^[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*$/

/** The rule for the flags, for error messages. */
export const betaRule = `is a comma-separated list of at most ${mostFlags} flags of letters, digits and "-"`

/** The distinct flags of all texts, in order; undefined when a text breaks the grammar. */
export const parseBetas = (texts: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const flags = texts.flatMap((text) => text.split(",").map((flag) => flag.trim()))
  const joined = flags.join(",")
  const isSound = flags.length === 0 || (joined.length <= longest && flags.length <= mostFlags && grammar.test(joined))
  return isSound ? [...new Set(flags)] : undefined
}

/** The flags of a body's `anthropic_beta`, text or array; undefined when malformed. Empty text gives no flags. */
export const bodyBetas = (value: unknown): ReadonlyArray<string> | undefined => {
  if (value === undefined || value === null || value === "") return []
  const texts: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return texts.every((text) => typeof text === "string") ? parseBetas(texts) : undefined
}

/** Joins the flags of header and body into one header: no header without flags, a refusal when a list is malformed. */
export const betaHeader = (
  ...asked: ReadonlyArray<ReadonlyArray<string> | undefined>
): Result.Result<Readonly<Record<string, string>>, BodyInvalid> => {
  const all = asked.includes(undefined) ? undefined : parseBetas(asked.flatMap((flags) => flags ?? []))
  if (all === undefined) return invalid("anthropic-beta", "invalid_header", `anthropic-beta ${betaRule}.`)
  return Result.succeed(all.length === 0 ? {} : { "anthropic-beta": all.join(",") })
}

// Flags of `anthropic-beta` that fields of a Claude body need: web search, context management, scoped cache marks.

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

// The version of Anthropic's API that Vertex AI is asked for, and fields of a newer version that it does not take.

/** The first version of the direct API that Vertex AI takes by its date. */
const firstDated = "2026-10-21"
const date = /^\d{4}-\d{2}-\d{2}$/

const isNewer = (version: unknown): version is string =>
  typeof version === "string" && date.test(version) && version >= firstDated

/** A dated version of the body or of the header counts from 2026-10-21 on; any other is the version of Vertex AI itself. */
export const claudeVersion = (ofBody: unknown, ofHeader: string | undefined): string =>
  isNewer(ofBody) ? ofBody : isNewer(ofHeader) ? ofHeader : vertexVersion

/** A conversation that Anthropic keeps is not there on Vertex AI; false asks for none. */
export const withoutThread = (body: JsonObject): Result.Result<JsonObject, BodyInvalid> =>
  body["thread"] === undefined || body["thread"] === null || body["thread"] === false
    ? Result.succeed(body)
    : invalid(
        "thread",
        "unsupported_parameter",
        "thread is not taken: Vertex AI keeps no conversations; send the whole history in messages, as the tool runner of Anthropic's SDK does with thread: false."
      )

/** The model in the body of count_tokens, which rejects the aliases `latest` and `default` (table 13). */
export const countedId = (modelId: string): string => modelId.replace(/[@-](latest|default)$/, "")
