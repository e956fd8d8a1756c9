// Queries over the request log and usage sums of days, and how sums are grouped by their dimensions.
// It must not know where requests or sums are stored.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import { costMicrosOf, endedMillisOf, type RequestRow } from "../RequestRow.ts"
import { isJsonObject, type JsonObject, parseJsonText } from "../text/json.ts"

/** Which requests are meant; undefined takes every value. */
export interface RequestFilter {
  readonly status?: number | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
  /** The person or account that the client named, or each form in which rows may have it. */
  readonly user?: string | ReadonlyArray<string> | undefined
  readonly route?: string | undefined
  readonly client?: string | undefined
  readonly config?: string | undefined
  readonly cache?: string | undefined
  readonly error?: string | undefined
  readonly requestId?: string | undefined
  readonly traceId?: string | undefined
  readonly metadata?: ReadonlyArray<readonly [name: string, value: string]>
  readonly minDurationMillis?: number | undefined
  readonly minCostMicros?: number | undefined
  /** Moments in milliseconds: requests that ended in `since` or later, and before `until`. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface RequestQuery extends RequestFilter {
  readonly limit: number
  /** The position after which the page starts. */
  readonly cursor?: number | undefined
}

/** Which requests are deleted; at least one of these is set, and all that are set hold. */
export type RequestDeletion = Pick<RequestFilter, "user" | "key" | "until">

/** Which of the requests with an id is meant. */
export interface RequestLookup {
  readonly id: string
  /** The id is the gateway's own; else the one that the client sent. */
  readonly isOwn: boolean
  /** Only requests with a key. */
  readonly isKeyed?: boolean
  /** Only requests of another key than this one. */
  readonly notKey?: string | undefined
}

/** The texts of a row by which lists are filtered, by the name of their filter. */
export const textColumns = {
  provider: "provider",
  model: "model",
  key: "key_id",
  user: "user_id",
  route: "route",
  client: "client",
  config: "config",
  cache: "cache",
  error: "error_code",
  requestId: "request_id",
  traceId: "trace_id"
} as const satisfies Readonly<Record<string, keyof RequestRow>>
export const textFilters = Object.keys(textColumns) as ReadonlyArray<keyof typeof textColumns>

const isTaken = (text: unknown, filter: string | ReadonlyArray<string> | undefined): boolean =>
  typeof filter === "object" ? filter.some((form) => form === text) : text === filter

/** Whether a filter takes a request. Filters without a value cost nothing per request. */
export const takes = (filter: RequestFilter): ((row: RequestRow) => boolean) => {
  const { metadata = [], minCostMicros = 0, minDurationMillis = 0, since, status, until } = filter
  const texts = textFilters.filter((name) => filter[name] !== undefined)
  return (row) =>
    (status === undefined || row.status === status) &&
    (since === undefined || endedMillisOf(row) >= since) &&
    (until === undefined || endedMillisOf(row) < until) &&
    row.duration_ms >= minDurationMillis &&
    costMicrosOf(row) >= minCostMicros &&
    texts.every((name) => isTaken(row[textColumns[name]], filter[name])) &&
    metadata.every(([name, value]) => row.metadata?.[name] === value)
}

/** The dimensions that every sum has, and the names of metadata that the operator counts. */
export const groupings = ["day", "key", "provider", "model", "config", "client"] as const
export type PlainGrouping = (typeof groupings)[number]
export type Grouping = PlainGrouping | `metadata.${string}`

const metadataPrefix = "metadata."

/** The name of a metadata value, such as `team` of `metadata.team`; undefined for another dimension. */
export const metadataName = (grouping: Grouping): string | undefined =>
  grouping.startsWith(metadataPrefix) ? grouping.slice(metadataPrefix.length) : undefined

/** Whether the dimension is one that every sum has. */
export const isPlain = (name: string): name is PlainGrouping => groupings.some((one) => one === name)

export interface UsageQuery {
  /** Days as `2027-01-31`, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Only sums with these values. */
  readonly where?: ReadonlyArray<readonly [Grouping, value: string]>
  readonly groupBy: ReadonlyArray<Grouping>
  readonly limit: number
  /** The values of the group after which the page starts, in the order of `groupBy`. */
  readonly cursor?: ReadonlyArray<string> | undefined
}

export interface Sums {
  readonly requests: number
  readonly errors: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly costMicros: number
}

export interface UsageGroup extends Sums {
  /** The value of each requested dimension. */
  readonly by: Readonly<Partial<Record<Grouping, string>>>
}

/**
 * Sorted by the day, if it is a dimension, and then by the values of the others. `next` is the cursor of the next page; a
 * page by day can be short and have one.
 */
export interface UsagePage {
  readonly groups: ReadonlyArray<UsageGroup>
  readonly next: ReadonlyArray<string> | undefined
}

/** The dimensions in the order by which groups are sorted. */
export const sortedGroupings = (groupBy: ReadonlyArray<Grouping>): ReadonlyArray<Grouping> =>
  groupBy.toSorted((one, other) => Number(other === "day") - Number(one === "day"))

/** The values of the cursor in the order by which groups are sorted. */
export const cursorValues = ({ cursor = [], groupBy }: UsageQuery): ReadonlyArray<string> =>
  sortedGroupings(groupBy).map((grouping) => cursor[groupBy.indexOf(grouping)] ?? "")

/** The cursor of the page after this group. */
export const cursorAfter = ({ by }: UsageGroup, { groupBy }: UsageQuery): ReadonlyArray<string> =>
  groupBy.map((grouping) => by[grouping] ?? "")

/** The page of at most `limit` groups, out of `limit + 1` groups that were read. */
export const usagePage = (groups: ReadonlyArray<UsageGroup>, query: UsageQuery): UsagePage => {
  const last = groups.length > query.limit ? groups[query.limit - 1] : undefined
  return { groups: groups.slice(0, query.limit), next: last === undefined ? undefined : cursorAfter(last, query) }
}

/** Newest first; `next` is the cursor of the next page. */
export interface RequestPage {
  readonly rows: ReadonlyArray<RequestRow>
  readonly next: number | undefined
}

/** Requests since an earlier read, the latest first. */
export interface RecentRequests {
  readonly rows: ReadonlyArray<RequestRow>
  /** How many more there were, which were not read. */
  readonly skipped: number
}

/** The sums of requests that are alike in every dimension on one day, and the end of the latest of them. */
export interface UsageBucket {
  /** `metadata` is a JSON object of texts. */
  readonly by: Readonly<Record<PlainGrouping | "metadata", string>>
  readonly sums: Types.Mutable<Sums>
  lastMillis: number
}

/** Adds sums to sums. */
export const add = (sums: Types.Mutable<Sums>, more: Sums): void => {
  sums.requests += more.requests
  sums.errors += more.errors
  sums.input += more.input
  sums.output += more.output
  sums.cached += more.cached
  sums.costMicros += more.costMicros
}

/** The metadata of a bucket or a stored sum. */
const readMetadata = (text: string): JsonObject => {
  const value = Result.getOrUndefined(parseJsonText(text))
  return isJsonObject(value) ? value : {}
}

/** The value of the bucket in this dimension; empty without one. */
const valueIn = (by: UsageBucket["by"], grouping: Grouping): string => {
  if (isPlain(grouping)) return by[grouping]
  const value = readMetadata(by.metadata)[metadataName(grouping) ?? ""]
  return typeof value === "string" ? value : ""
}

/** The matching buckets, merged by the requested dimensions and sorted by their values. */
export const groupUsage = (buckets: Iterable<UsageBucket>, query: UsageQuery): UsagePage => {
  const { cursor, from, groupBy, limit, to, where = [] } = query
  const sorted = sortedGroupings(groupBy)
  const after = cursor === undefined ? undefined : cursorValues(query).join("\n")
  const groups = new Map<string, Types.Mutable<UsageGroup>>()
  for (const { by, sums } of buckets) {
    if (
      (from !== undefined && by.day < from) ||
      (to !== undefined && by.day > to) ||
      where.some(([grouping, value]) => valueIn(by, grouping) !== value)
    )
      continue
    const name = sorted.map((one) => valueIn(by, one)).join("\n")
    if (after !== undefined && name <= after) continue
    const group = groups.get(name)
    if (group === undefined)
      groups.set(name, { by: Object.fromEntries(groupBy.map((one) => [one, valueIn(by, one)])), ...sums })
    else add(group, sums)
  }
  const first = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(0, limit + 1)
  return usagePage(
    first.map(([, group]) => group),
    query
  )
}
