// Queries over the request log and usage sums of days, and how sums are grouped by day, key, provider and model.
// It must not know where requests or sums are stored.
import type * as Types from "effect/Types"
import type { RequestRow } from "../RequestRow.ts"

export interface RequestQuery {
  readonly status?: number | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
  readonly requestId?: string | undefined
  /** Moment in milliseconds; earlier requests are left out. */
  readonly since?: number | undefined
  readonly limit: number
  /** The position after which the page starts. */
  readonly cursor?: number | undefined
}

/** Whether the query includes this request. */
export const matchesQuery = (
  row: RequestRow,
  { key, model, provider, requestId, since, status }: RequestQuery
): boolean =>
  (status === undefined || row.status === status) &&
  (provider === undefined || row.provider === provider) &&
  (model === undefined || row.model === model) &&
  (key === undefined || row.keyId === key) &&
  (requestId === undefined || row.requestId === requestId) &&
  (since === undefined || row.endedMillis >= since)

/** The dimensions by which sums can be grouped. */
export const groupings = ["day", "key", "provider", "model"] as const
export type Grouping = (typeof groupings)[number]

export interface UsageQuery {
  /** Days as `2027-01-31`, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly key?: string | undefined
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

/** Sorted by the values of the dimensions; `next` is the cursor of the next page. */
export interface UsagePage {
  readonly groups: ReadonlyArray<UsageGroup>
  readonly next: ReadonlyArray<string> | undefined
}

/** The page of at most `limit` groups, out of `limit + 1` groups that were read. */
export const usagePage = (groups: ReadonlyArray<UsageGroup>, { groupBy, limit }: UsageQuery): UsagePage => {
  const last = groups.length > limit ? groups[limit - 1] : undefined
  return {
    groups: groups.slice(0, limit),
    next: last === undefined ? undefined : groupBy.map((one) => last.by[one] ?? "")
  }
}

/** Newest first; `next` is the cursor of the next page. */
export interface RequestPage {
  readonly rows: ReadonlyArray<RequestRow>
  readonly next: number | undefined
}

/** The sums of one day, key, provider and model, and the end of its latest request. */
export interface UsageBucket {
  readonly by: Readonly<Record<Grouping, string>>
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

/** The matching buckets, merged by the requested dimensions and sorted by their values. */
export const groupUsage = (buckets: Iterable<UsageBucket>, query: UsageQuery): UsagePage => {
  const { cursor, from, groupBy, key, limit, to } = query
  const nameOf = (values: ReadonlyArray<string>): string => values.join("\n")
  const after = cursor === undefined ? undefined : nameOf(cursor)
  const groups = new Map<string, Types.Mutable<UsageGroup>>()
  for (const { by, sums } of buckets) {
    if (
      (from !== undefined && by.day < from) ||
      (to !== undefined && by.day > to) ||
      (key !== undefined && by.key !== key)
    )
      continue
    const name = nameOf(groupBy.map((one) => by[one]))
    if (after !== undefined && name <= after) continue
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { by: Object.fromEntries(groupBy.map((one) => [one, by[one]])), ...sums })
    else add(group, sums)
  }
  const sorted = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(0, limit + 1)
  return usagePage(
    sorted.map(([, group]) => group),
    query
  )
}
