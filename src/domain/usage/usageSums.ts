// Queries over the request log and usage sums of days: how sums are grouped, and the rare values that find single requests.
// It must not know SQL or where sums are stored. Hashes of rare values are stored: they never change.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import type { RequestRow } from "../RequestRow.ts"
import { isJsonObject, type JsonObject, parseJsonText } from "../text/json.ts"

/** Which requests are meant; undefined takes every value. */
export interface RequestFilter {
  readonly status?: number | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
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

const textOf = {
  provider: ({ provider }: RequestRow) => provider,
  model: ({ model }: RequestRow) => model,
  key: ({ keyId }: RequestRow) => keyId,
  route: ({ route }: RequestRow) => route,
  client: ({ client }: RequestRow) => client,
  config: ({ config }: RequestRow) => config,
  cache: ({ cache }: RequestRow) => cache,
  error: ({ errorCode }: RequestRow) => errorCode,
  requestId: ({ requestId }: RequestRow) => requestId,
  traceId: ({ traceId }: RequestRow) => traceId
}
/** The filters that are a text of the row. */
const textFilters = [
  "provider",
  "model",
  "key",
  "route",
  "client",
  "config",
  "cache",
  "error",
  "requestId",
  "traceId"
] as const satisfies ReadonlyArray<keyof typeof textOf>

/** The filters whose values many requests have in common. */
const commonFilters = textFilters.filter((name) => name !== "requestId" && name !== "traceId")

/** The values of a row that many requests have in common, and that lists are filtered by. */
export const addCommonValues = (values: Set<string | number>, row: RequestRow): void => {
  values.add(row.status)
  for (const name of commonFilters) {
    const text = textOf[name](row)
    if (text !== undefined) values.add(text)
  }
}

/** The values that a row has which this filter takes, among those that many requests have in common. */
export const commonValuesOf = (filter: RequestFilter): ReadonlyArray<string | number> =>
  [filter.status, ...commonFilters.map((name) => filter[name])].filter((value) => value !== undefined)

/** Whether a filter takes a request. Filters without a value cost nothing per request. */
export const takes = (filter: RequestFilter): ((row: RequestRow) => boolean) => {
  const {
    metadata = [],
    minCostMicros = 0,
    minDurationMillis = 0,
    since = 0,
    status,
    until = Number.MAX_SAFE_INTEGER
  } = filter
  const texts = textFilters.filter((name) => filter[name] !== undefined)
  return (row) =>
    (status === undefined || row.status === status) &&
    row.endedMillis >= since &&
    row.endedMillis < until &&
    row.durationMillis >= minDurationMillis &&
    (row.costMicros ?? 0) >= minCostMicros &&
    texts.every((name) => textOf[name](row) === filter[name]) &&
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

// The values that few requests have in common, ids and metadata: a batch of requests is searched for them by hash.

const hashBytes = 4
const dash = 0x2d
const hashBasis = 0x811c9dc5
const hashPrime = 0x01000193

/**
 * FNV-1a over UTF-16, of 32 bits (http://www.isthe.com/chongo/tech/comp/fnv). It passes over dashes: the gateway makes
 * a trace id of the request id without them, so that both have one hash.
 */
const hashOf = (value: string): number => {
  let hash = hashBasis
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at)
    if (unit !== dash) hash = Math.imul(hash ^ unit, hashPrime)
  }
  return hash | 0
}

const metadataValue = (name: string, value: string): string => `${name}=${value}`

type RareFacts = Pick<RequestRow, "id" | "metadata" | "requestId" | "traceId">

/** Hashes for which there is room at first. */
const firstRoom = 1024

/** The hashes of what a list can search for in some rows, and few requests have in common. */
export class RareHashes {
  /** A set of numbers would be moved by each garbage collection until its batch is written. */
  private hashes = new Int32Array(firstRoom)
  private count = 0

  private put(hash: number): void {
    if (this.count === this.hashes.length) {
      const larger = new Int32Array(this.count * 2)
      larger.set(this.hashes)
      this.hashes = larger
    }
    this.hashes[this.count++] = hash
  }

  add({ id, metadata, requestId, traceId }: RareFacts): void {
    this.put(hashOf(requestId))
    this.put(hashOf(traceId))
    if (id !== undefined) this.put(hashOf(id))
    if (metadata !== undefined)
      for (const name of Object.keys(metadata)) this.put(hashOf(metadataValue(name, metadata[name] ?? "")))
  }

  /** The stored form: the bytes of each hash once, the lowest first. */
  get bytes(): Buffer {
    const sorted = this.hashes.slice(0, this.count).sort()
    const bytes = Buffer.allocUnsafe(sorted.length * hashBytes)
    let at = 0
    for (let index = 0; index < sorted.length; index++) {
      const hash = sorted[index] ?? 0
      if (index === 0 || hash !== sorted[index - 1]) at = bytes.writeInt32BE(hash, at)
    }
    return bytes.subarray(0, at)
  }
}

const bytesOf = (hash: number): Buffer => {
  const bytes = Buffer.allocUnsafe(hashBytes)
  bytes.writeInt32BE(hash)
  return bytes
}

export interface RareValue {
  /** The bytes of its hash in the stored form. Other values may have the same. */
  readonly hash: Buffer
  /** The value in the text of a packed row. */
  readonly text: string
}

export const rareId = (id: string): RareValue => ({ hash: bytesOf(hashOf(id)), text: JSON.stringify(id) })

/** The values that a row has which this filter takes. */
export const rareValuesOf = ({ metadata = [], requestId, traceId }: RequestFilter): ReadonlyArray<RareValue> => [
  ...[requestId, traceId].filter((id) => id !== undefined).map(rareId),
  ...metadata.map(([name, value]) => ({
    hash: bytesOf(hashOf(metadataValue(name, value))),
    text: `${JSON.stringify(name)}:${JSON.stringify(value)}`
  }))
]
