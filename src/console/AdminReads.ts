// Reads of the admin API for the pages of operators: usage over time, metrics.
// Must not know pages.
import type { AdminClient, AdminMetric, Change } from "../api/AdminResources.ts"
import { get, type Page, type UsageRow } from "./AdminClient.ts"
import type { Bucket } from "./usageSums.ts"

export type AuditEntry = Change
export type Metric = typeof AdminMetric.Type

/** More rows of a chart than these pages have are left out. */
const mostPages = 50

export interface UsageQuestion {
  readonly bucket: Bucket
  readonly from: number
  readonly to: number
  readonly groupBy?: "key" | "provider" | "model" | "status" | "error"
}

const queryOf = ({ bucket, from, groupBy, to }: UsageQuestion): Record<string, string> => ({
  bucket,
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  ...(groupBy === undefined ? {} : { group_by: groupBy })
})

export const series = async (question: UsageQuestion): Promise<ReadonlyArray<UsageRow>> => {
  const rows: Array<UsageRow> = []
  let cursor: string | null = null
  for (let page = 0; page < mostPages; page++) {
    const more: Record<string, string> = cursor === null ? {} : { cursor }
    const answer: Page<UsageRow> = await get("/usage", { ...queryOf(question), ...more })
    rows.push(...answer.data)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return rows
}

export const top = async (
  question: UsageQuestion,
  by: "requests" | "errors" | "tokens" | "cost",
  most: number
): Promise<ReadonlyArray<UsageRow>> => {
  const answer: Page<UsageRow> = await get("/usage", { ...queryOf(question), top: by, limit: String(most) })
  return answer.data
}

export const metrics = async (...names: ReadonlyArray<string>): Promise<ReadonlyArray<Metric>> => {
  const answer: Page<Metric> = await get("/metrics", { name: names.join(",") })
  return answer.data
}

export const clients = async (): Promise<ReadonlyArray<typeof AdminClient.Type>> => {
  const answer: Page<typeof AdminClient.Type> = await get("/clients")
  return answer.data
}

export const audit = (cursor?: string): Promise<Page<AuditEntry>> =>
  get("/audit", cursor === undefined ? {} : { cursor })
