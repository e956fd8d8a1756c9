// The session of this page and its calls of the admin API, by which the console reads and changes the gateway.
// It must not know pages.
import { signal } from "@preact/signals"
import type {
  AdminClient,
  AdminMetric,
  AdminProblem,
  AdminRequest,
  AdminRequestContent,
  AdminUsage,
  Change,
  Config,
  Key,
  Prompt,
  Provider,
  ProviderCheck
} from "../api/AdminResources.ts"
import type { ConfigCheck } from "../api/AdminReports.ts"
import type { DryRun } from "../api/contractParts.ts"
import { withQuery } from "./format.ts"
import { gatewayAddress } from "./gatewayAddress.ts"
import { type Bucket, type Period, periodAt } from "./usageSums.ts"

export type RequestRow = typeof AdminRequest.Type
export type UsageRow = typeof AdminUsage.Type
export type KeyRow = Key
export type ConfigRow = Config
export type PromptRow = Prompt
export type ProviderRow = typeof Provider.Type
export type AuditEntry = Change
export type Metric = typeof AdminMetric.Type
type Problem = typeof AdminProblem.Type

export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly next_cursor: string | null
}

/** An answer that is not a success, with the words of the gateway. */
export class CallFailed extends Error {
  readonly status: number
  readonly faults: NonNullable<Problem["errors"]>
  constructor(status: number, detail: string, faults: NonNullable<Problem["errors"]> = []) {
    super(detail)
    this.status = status
    this.faults = faults
  }
}

/** What the page knows of its session. */
export const session = signal<"unknown" | "out" | { readonly keyId: string }>("unknown")

const isProblem = (body: unknown): body is Problem => typeof body === "object" && body !== null && "detail" in body

const failureOf = async (response: Response): Promise<CallFailed> => {
  const body: unknown = await response.json().catch(() => undefined)
  return isProblem(body)
    ? new CallFailed(response.status, body.detail, body.errors)
    : new CallFailed(response.status, `The gateway answered with status ${response.status}.`)
}

type Query = Readonly<Record<string, string | undefined>>

/** `tag` is the ETag that a change is made from; without it the change is made whatever is there. */
export const call = async (method: string, path: string, body?: unknown, tag?: string): Promise<Response> => {
  const response = await fetch(`${gatewayAddress}/admin/v1${path}`, {
    method,
    headers: {
      "x-gateway-console": "1",
      ...(tag === undefined ? {} : { "if-match": tag }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    body: body === undefined ? null : JSON.stringify(body)
  }).catch(() => {
    throw new CallFailed(0, "The gateway cannot be reached.")
  })
  if (response.ok) return response
  if (response.status === 401 && path !== "/session") session.value = "out"
  throw await failureOf(response)
}

export const get = async <A>(path: string, query: Query = {}): Promise<A> =>
  (await call("GET", withQuery(path, query))).json()

const post = async <A>(path: string, body?: unknown): Promise<A> => (await call("POST", path, body)).json()

interface SessionBody {
  readonly key_id: string | null
  readonly is_open: boolean
}

/** Signs in with the code of a link, with an admin key, or with nothing where the console is open. */
export const signIn = async (credential: { readonly code?: string; readonly key?: string }): Promise<void> => {
  const { key_id: keyId }: SessionBody = await post("/session", credential)
  session.value = keyId === null ? "out" : { keyId }
}

export const signOut = async (): Promise<void> => {
  await call("DELETE", "/session")
  session.value = "out"
}

/** Finds the session of the page, or begins one where no credential is needed. */
export const resume = async (): Promise<void> => {
  const { is_open: isOpen, key_id: keyId } = await get<SessionBody>("/session")
  if (keyId !== null) session.value = { keyId }
  else if (isOpen) await signIn({})
  else session.value = "out"
}

// Records: providers, keys, configs and prompts.

/** A record as it was read. A change of it fails when another change came first. */
export interface ReadRecord<Row> {
  readonly row: Row
  /** Undefined for a record that is declared in the configuration. */
  readonly tag: string | undefined
}

/** The calls of one kind of record. */
export interface Records<Row> {
  readonly list: () => Promise<Page<Row>>
  /** The newest version, or another one. A change of either is made from the newest. */
  readonly read: (id: string, version?: string) => Promise<ReadRecord<Row>>
  readonly version: (id: string, version: number | string) => Promise<Row>
  readonly create: (body: unknown) => Promise<Row>
  readonly update: (id: string, body: unknown, tag: string | undefined) => Promise<Row>
  readonly remove: (id: string, tag?: string) => Promise<void>
}

const recordsAt = <Row>(path: string): Records<Row> => {
  const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`
  const version: Records<Row>["version"] = (id, number) => get(pathOf(`${id}@${number}`))
  return {
    list: () => get(path, { limit: "1000" }),
    read: async (id, number) => {
      const response = await call("GET", pathOf(id))
      const row = number === undefined ? await response.json() : await version(id, number)
      return { row, tag: response.headers.get("etag") ?? undefined }
    },
    version,
    create: (body) => post(path, body),
    update: async (id, body, tag) => (await call("PUT", pathOf(id), body, tag)).json(),
    remove: async (id, tag) => {
      await call("DELETE", pathOf(id), undefined, tag)
    }
  }
}

export const providers = recordsAt<ProviderRow>("/providers")
export const keys = recordsAt<KeyRow>("/keys")
export const configs = recordsAt<ConfigRow>("/configs")
export const prompts = recordsAt<PromptRow>("/prompts")

export const testProvider = (slug: string): Promise<ProviderCheck> =>
  post(`/providers/${encodeURIComponent(slug)}/test`)

/** The old text is taken for that long after; 0: not at all. */
export const rotateKey = (id: string, graceSeconds: number): Promise<KeyRow> =>
  post(
    withQuery(`/keys/${encodeURIComponent(id)}/rotate`, {
      grace_seconds: graceSeconds === 0 ? "" : String(graceSeconds)
    })
  )

/** A request to try a config with. */
export interface TriedRequest {
  readonly key?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export const checkConfig = (
  id: string | undefined,
  config: unknown,
  request: TriedRequest | undefined
): Promise<ConfigCheck> => post("/check", { id, config, request })

// Requests, their content, and what a request would become.

export const requests = (query: Query): Promise<Page<RequestRow>> => get("/requests", query)
export const request = (id: string): Promise<RequestRow> => get(`/requests/${encodeURIComponent(id)}`)

export type RequestContent = typeof AdminRequestContent.Type
export const requestContent = (id: string): Promise<RequestContent> =>
  get(`/requests/${encodeURIComponent(id)}/content`)

/** The routes whose bodies a dry run reads. */
export const dryRunRoutes = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/images/generations"
] as const

export interface DryRunChoice {
  readonly route: string
  /** Ids; empty for the key of the session, and for the config of the key. */
  readonly key: string
  readonly config: string
}

export type DryRunAnswer = typeof DryRun.Type

/** What the upstream would get of a body. */
export const dryRun = ({ config, key, route }: DryRunChoice, body: unknown): Promise<DryRunAnswer> =>
  post(withQuery("/dry-runs", { route, key, config }), body)

// Reports: usage, metrics, clients, and the log of changes.

/** More rows of a chart than these pages have are left out. */
const mostPages = 50

export interface UsageQuestion {
  readonly bucket: Bucket
  readonly from: number
  readonly to: number
  readonly groupBy?: "key" | "provider" | "model" | "status" | "error"
}

const usageQuery = ({ bucket, from, groupBy, to }: UsageQuestion): Query => ({
  bucket,
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  group_by: groupBy
})

export const usageSeries = async (question: UsageQuestion): Promise<ReadonlyArray<UsageRow>> => {
  const rows: Array<UsageRow> = []
  let cursor: string | null = null
  for (let page = 0; page < mostPages; page++) {
    const answer: Page<UsageRow> = await get("/usage", { ...usageQuery(question), cursor: cursor ?? undefined })
    rows.push(...answer.data)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return rows
}

const dataOf = async <A>(path: string, query?: Query): Promise<ReadonlyArray<A>> =>
  (await get<Page<A>>(path, query)).data

export const topUsage = (
  question: UsageQuestion,
  by: "requests" | "errors" | "tokens" | "cost",
  most: number
): Promise<ReadonlyArray<UsageRow>> => dataOf("/usage", { ...usageQuery(question), top: by, limit: String(most) })

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

/** Sums since the day of a moment, of one key or of all. */
export const usageSince = (
  moment: number,
  groupBy: "day" | "model" | "provider,model",
  key?: string
): Promise<ReadonlyArray<UsageRow>> => dataOf("/usage", { key, from: dayOf(moment), group_by: groupBy })

/** What the key spent in each part of the period: sums of days are by key, those of hours are of all keys. */
const spentIn = async (
  id: string,
  per: "day" | "month",
  { from, starts, to }: Period
): Promise<ReadonlyArray<number>> => {
  const rows =
    per === "month"
      ? await usageSince(from, "day", id)
      : (await usageSeries({ bucket: "hour", from, to, groupBy: "key" })).filter(({ key }) => key === id)
  const costs = new Map(rows.map((row) => [Date.parse(row.start ?? row.day ?? ""), row.cost_usd]))
  return starts.map((start) => costs.get(start) ?? 0)
}

export const monthMillis = 30 * 24 * 60 * 60 * 1000

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
    usageSince(now - monthMillis, "day", id),
    usageSince(now - monthMillis, "model", id),
    spentIn(id, per, period)
  ])
  return { days, models, now, period, spentIn: spent }
}

export const gatewayMetrics = (...names: ReadonlyArray<string>): Promise<ReadonlyArray<Metric>> =>
  dataOf("/metrics", { name: names.join(",") })

export const knownClients = (): Promise<ReadonlyArray<typeof AdminClient.Type>> => dataOf("/clients")

export const auditPage = (cursor?: string): Promise<Page<AuditEntry>> => get("/audit", { cursor })
