// Takes refused values off the `anthropic-beta` header, and the fields that go with a value out of the body.
// Must not depend on the text of the refusal.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { withoutPath } from "./extraInputs.ts"
import type { CallChange, Lesson, Remedy } from "./lessons.ts"
import { withoutMembers } from "./members.ts"

const header = "anthropic-beta"

/** A value of Anthropic's own service, and the value under which Vertex AI offers the same. */
const successors: Readonly<Record<string, string>> = {
  "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19"
}

/** Fields that are refused without their value. */
const companions: Readonly<Record<string, string>> = {
  "context-management-2025-06-27": "context_management",
  "thinking-binding-controls-2026-08-01": "block_binding",
  "prompt-caching-scope-2026-01-05": "scope",
  "dangerous-tool-use-2026-09-03": "safeguards",
  "task-budgets-2026-03-13": "output_config.task_budget"
}

/** The beginnings of values that nothing but this field needs; a path holds its field at any depth. */
const values: ReadonlyArray<readonly [field: RegExp, beginnings: ReadonlyArray<string>]> = [
  [/^output_config$/, ["effort-", "structured-outputs-", "task-budgets-"]],
  [/^output_config\.effort$/, ["effort-"]],
  [/^output_(config\.)?format$|\bstrict$/, ["structured-outputs-"]],
  [/\btask_budget$/, ["task-budgets-"]],
  [/^context_management\b/, ["context-management-"]],
  [/\bblock_binding$/, ["thinking-binding-controls-"]],
  [/\bscope$/, ["prompt-caching-scope-"]],
  [/\bdefer_loading$/, ["advanced-tool-use-", "tool-search-tool-"]],
  [/\b(input_examples|allowed_callers)$/, ["advanced-tool-use-"]],
  [/\beager_input_streaming$/, ["fine-grained-tool-streaming-"]],
  [/^safeguards\b/, ["dangerous-tool-use-"]]
]

/**
 * Values that Vertex AI does not offer: features of Anthropic's own service, by their beginnings. They are taken off before
 * a call. Source: Anthropic's page on the features of each platform, and refusals in anthropics/claude-code #21625, #34802.
 */
const notOffered = [
  "advisor-tool-",
  "cache-diagnosis-",
  "code-execution-",
  "dangerous-tool-use-",
  "files-api-",
  "inline-tools-",
  "mcp-client-",
  "message-threads-",
  "prompt-caching-scope-",
  "server-side-fallback-",
  "skills-"
]

/** The values of a call that would be refused. */
export const betasNotOffered = (headers: Readonly<Record<string, string>>): ReadonlyArray<Lesson> => {
  const sent = headers[header]
  if (sent === undefined) return none
  return sent
    .split(",")
    .filter((value) => notOffered.some((beginning) => value.startsWith(beginning)))
    .map((value) => ({ row: "H20", value }))
}

const none: ReadonlyArray<Lesson> = []

/** The same value, where no `cache_control` has a scope; a value without any scope is returned itself. */
const unscoped = (value: Json): Json => {
  if (Array.isArray(value)) {
    const items = value.map(unscoped)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, inner]): readonly [string, Json | undefined] => {
    if (inner === undefined) return [name, inner]
    return name === "cache_control" && isJsonObject(inner) && inner["scope"] !== undefined
      ? [name, withoutMembers(inner, "scope")]
      : // A tool's input is the model's own data, and a schema is the client's.
        [name, name === "input" || name === "input_schema" ? inner : unscoped(inner)]
  })
  return entries.every(([name, inner]) => inner === value[name]) ? value : Object.fromEntries(entries)
}

/** The top-level members that may have cache marks. */
const marked = ["system", "messages", "tools", "cache_control"]

const unscopedBody = (body: JsonObject): JsonObject | undefined => {
  const changed = marked.flatMap((name): ReadonlyArray<readonly [string, Json]> => {
    const value = body[name]
    const before: JsonObject = value === undefined ? {} : { [name]: value }
    const after = unscoped(before)
    const inner = isJsonObject(after) ? after[name] : undefined
    return after === before || inner === undefined ? [] : [[name, inner]]
  })
  return changed.length === 0 ? undefined : { ...body, ...Object.fromEntries(changed) }
}

/** A field by its path, with the values of the header that nothing else needs. */
export const withoutExtraInput: Remedy = (call, field) => {
  const dropped = withoutField(call.body, field)
  if (dropped === undefined) return undefined
  const betas = (call.headers[header] ?? "").split(",").filter((value) => value !== "")
  const [, beginnings = []] = values.find(([pattern]) => pattern.test(field)) ?? []
  const gone = betas.filter((value) => beginnings.some((beginning) => value.startsWith(beginning)))
  return gone.length === 0
    ? dropped
    : {
        ...dropped,
        headers: withBetas(
          call.headers,
          betas.filter((value) => !gone.includes(value))
        ),
        ignored: [...dropped.ignored, ...gone.map((value) => `${header}.${value}`)]
      }
}

interface Dropped {
  readonly body: JsonObject
  readonly ignored: ReadonlyArray<string>
}

/** `block_binding` of thinking, `scope` of every cache mark, and any other field by its path. */
const withoutField = (body: JsonObject, field: string): Dropped | undefined => {
  if (field === "scope") {
    const unmarked = unscopedBody(body)
    return unmarked === undefined ? undefined : { body: unmarked, ignored: ["cache_control.scope"] }
  }
  if (field === "block_binding") {
    const thinking = body["thinking"]
    return !isJsonObject(thinking) || thinking["block_binding"] === undefined
      ? undefined
      : { body: { ...body, thinking: withoutMembers(thinking, "block_binding") }, ignored: ["thinking.block_binding"] }
  }
  const found = withoutPath(body, field)
  return found === undefined ? undefined : { body: found.body, ignored: [found.name] }
}

/** The header with the values; no header without any. */
const withBetas = (
  headers: Readonly<Record<string, string>>,
  betas: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const { [header]: _before, ...others } = headers
  return betas.length === 0 ? others : { ...others, [header]: betas.join(",") }
}

/** The rest stays in order (M-911). A field that goes with the value goes too. */
export const withoutBeta: Remedy = (call, value, refused): CallChange | undefined => {
  const betas = (call.headers[header] ?? "").split(",")
  if (!betas.includes(value)) return undefined
  const named = successors[value]
  const successor = named === undefined || refused.includes(named) ? undefined : named
  const kept = betas.flatMap((beta) => (beta !== value ? beta : (successor ?? [])))
  const field = companions[value]
  const dropped = field === undefined ? undefined : withoutField(call.body, field)
  const { body, ignored = [] }: Partial<Dropped> = dropped ?? {}
  return {
    headers: withBetas(call.headers, [...new Set(kept)]),
    ...(body === undefined ? {} : { body }),
    ...(successor === undefined
      ? { ignored: [`${header}.${value}`, ...ignored] }
      : { ignored, adjusted: [{ param: header, asked: value, sent: successor, takes: [successor] }] })
  }
}
