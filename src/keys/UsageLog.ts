// The latest requests and the sums of all, in the memory of this process, for those who ask by the admin API.
// It must not know HTTP or how a request ran.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Limits } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"

export interface RequestQuery {
  readonly status?: number | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
  /** Moment in milliseconds; older requests are left out. */
  readonly since?: number | undefined
  readonly limit: number
  /** The position behind which to go on. */
  readonly cursor?: number | undefined
}

/** What sums can be told apart by. */
export const groupings = ["day", "key", "provider", "model"] as const
export type Grouping = (typeof groupings)[number]

export interface UsageQuery {
  /** Days as `2027-01-31`, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly groupBy: ReadonlyArray<Grouping>
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
  /** The value of each grouping asked for. */
  readonly by: Readonly<Partial<Record<Grouping, string>>>
}

type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }
interface Bucket {
  readonly by: Readonly<Record<Grouping, string>>
  readonly sums: Mutable<Sums>
}

export class UsageLog extends Context.Service<UsageLog, {
  /** `model` is the name the row is summed under. */
  readonly append: (row: RequestRow, model: string) => void
  readonly request: (requestId: string) => RequestRow | undefined
  /** The newest first; `next` is the cursor of the page behind. */
  readonly requests: (query: RequestQuery) => { readonly rows: ReadonlyArray<RequestRow>; readonly next: number | undefined }
  readonly usage: (query: UsageQuery) => ReadonlyArray<UsageGroup>
}>()("gateway/keys/UsageLog") {
  /** So many of the latest requests, and sums per day, key, provider and model of as many as fit; the oldest go first. */
  static readonly layerMemory: Layer.Layer<UsageLog> = Layer.effect(
    UsageLog,
    Effect.map(Limits, ({ requestsKept, usageEntries }) => {
      const ring: Array<RequestRow> = []
      let count = 0
      const buckets = new Map<string, Bucket>()
      const at = (position: number): RequestRow | undefined => ring[position % requestsKept]
      const oldest = () => Math.max(0, count - requestsKept)
      return {
        append: (row, model) => {
          ring[count++ % requestsKept] = row
          sumUp(buckets, row, model, usageEntries)
        },
        request: (requestId) => {
          for (let position = count - 1; position >= oldest(); position--) {
            const row = at(position)
            if (row?.requestId === requestId) return row
          }
          return undefined
        },
        requests: (query) => {
          const rows: Array<RequestRow> = []
          for (let position = Math.min(query.cursor ?? count, count) - 1; position >= oldest(); position--) {
            const row = at(position)
            if (row === undefined || !fits(row, query)) continue
            if (rows.length === query.limit) return { rows, next: position + 1 }
            rows.push(row)
          }
          return { rows, next: undefined }
        },
        usage: (query) => grouped([...buckets.values()], query)
      }
    })
  )
}

const fits = (row: RequestRow, { key, model, provider, since, status }: RequestQuery): boolean =>
  (status === undefined || row.status === status) && (provider === undefined || row.provider === provider) &&
  (model === undefined || row.model === model) && (key === undefined || row.keyId === key) &&
  (since === undefined || row.endedMillis >= since)

const dayMillis = 24 * 60 * 60 * 1000

const sumUp = (buckets: Map<string, Bucket>, row: RequestRow, model: string, most: number): void => {
  const { endedMillis, keyId: key = "", provider = "" } = row
  const name = `${Math.floor(endedMillis / dayMillis)}\n${key}\n${provider}\n${model}`
  let bucket = buckets.get(name)
  if (bucket === undefined) {
    const day = new Date(endedMillis).toISOString().slice(0, 10)
    bucket = { by: { day, key, provider, model }, sums: { requests: 0, errors: 0, input: 0, output: 0, cached: 0, costMicros: 0 } }
    buckets.set(name, bucket)
    const [first] = buckets.keys()
    if (buckets.size > most && first !== undefined) buckets.delete(first)
  }
  const { sums } = bucket
  sums.requests++
  if (row.errorCode !== undefined) sums.errors++
  if (row.usage !== undefined) {
    sums.input += row.usage.input
    sums.output += row.usage.output
    sums.cached += row.usage.cached
  }
  sums.costMicros += row.costMicros ?? 0
}

const add = (sums: Mutable<Sums>, more: Sums): void => {
  sums.requests += more.requests
  sums.errors += more.errors
  sums.input += more.input
  sums.output += more.output
  sums.cached += more.cached
  sums.costMicros += more.costMicros
}

const grouped = (buckets: ReadonlyArray<Bucket>, { from, groupBy, to }: UsageQuery): ReadonlyArray<UsageGroup> => {
  const groups = new Map<string, Mutable<UsageGroup>>()
  for (const { by, sums } of buckets) {
    if ((from !== undefined && by.day < from) || (to !== undefined && by.day > to)) continue
    const kept = Object.fromEntries(groupBy.map((one) => [one, by[one]]))
    const name = JSON.stringify(kept)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { by: kept, ...sums })
    else add(group, sums)
  }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group)
}
