// The calls of the page of keys: one key with its ETag, changes of it, and its usage.
// Must not know the page.
import type { UsageRow } from "../../AdminClient.ts"
import { call, get, type KeyRow, type Page } from "../../AdminClient.ts"
import { series } from "../../AdminReads.ts"
import { type Period, periodAt } from "./burnDown.ts"

const pathOf = (id: string): string => `/keys/${encodeURIComponent(id)}`

/** A key as it was read. A change of it fails when another change came first. */
export interface ReadKey {
  readonly row: KeyRow
  /** Undefined for a key that is declared in the configuration. */
  readonly tag: string | undefined
}

export const readKey = async (id: string): Promise<ReadKey> => {
  const response = await call("GET", pathOf(id))
  return { row: await response.json(), tag: response.headers.get("etag") ?? undefined }
}

export const updateKey = async (id: string, body: unknown, tag: string | undefined): Promise<KeyRow> =>
  (await call("PUT", pathOf(id), body, tag)).json()

/** The old text is taken for that long after; 0: not at all. */
export const rotateKey = async (id: string, graceSeconds: number): Promise<KeyRow> =>
  (await call("POST", `${pathOf(id)}/rotate${graceSeconds === 0 ? "" : `?grace_seconds=${graceSeconds}`}`)).json()

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

const sums = async (key: string, from: number, groupBy: "day" | "model"): Promise<ReadonlyArray<UsageRow>> => {
  const { data }: Page<UsageRow> = await get("/usage", { key, from: dayOf(from), group_by: groupBy })
  return data
}

/** What the key spent in each part of the period: sums of days are by key, those of hours are of all keys. */
const spentIn = async (
  id: string,
  per: "day" | "month",
  { from, starts, to }: Period
): Promise<ReadonlyArray<number>> => {
  const rows =
    per === "month"
      ? await sums(id, from, "day")
      : (await series({ bucket: "hour", from, to, groupBy: "key" })).filter(({ key }) => key === id)
  const costs = new Map(rows.map((row) => [Date.parse(row.start ?? row.day ?? ""), row.cost_usd]))
  return starts.map((start) => costs.get(start) ?? 0)
}

const month = 30 * 24 * 60 * 60 * 1000

export interface KeyUsage {
  readonly days: ReadonlyArray<UsageRow>
  readonly models: ReadonlyArray<UsageRow>
  readonly now: number
  readonly period: Period
  readonly spentIn: ReadonlyArray<number>
}

/** The usage of the last 30 days, and the spending in the period of the budget. */
export const keyUsage = async ({ budget, id }: KeyRow): Promise<KeyUsage> => {
  const now = Date.now()
  const per = budget?.per ?? "month"
  const period = periodAt(per, now)
  const [days, models, spent] = await Promise.all([
    sums(id, now - month, "day"),
    sums(id, now - month, "model"),
    spentIn(id, per, period)
  ])
  return { days, models, now, period, spentIn: spent }
}
