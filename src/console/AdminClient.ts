// The session of this page, and its calls of the admin API. Everything the console does is one of these calls.
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
import { type Bucket, type Period, periodAt } from "./usageSums.ts"
import type { DryRun } from "../api/contractParts.ts"
import type { ConfigCheck } from "../api/AdminReports.ts"

export type RequestRow = typeof AdminRequest.Type
export type UsageRow = typeof AdminUsage.Type
export type KeyRow = Key
export type ConfigRow = Config
export type ProviderRow = typeof Provider.Type
export type Problem = typeof AdminProblem.Type

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

/** `tag` is the ETag that a change is made from; without it the change is made whatever is there. */
export const call = async (method: string, path: string, body?: unknown, tag?: string): Promise<Response> => {
  const response = await fetch(`/admin/v1${path}`, {
    method,
    headers: {
      "x-gateway-console": "1",
      ...(tag === undefined ? {} : { "if-match": tag }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch(() => {
    throw new CallFailed(0, "The gateway cannot be reached.")
  })
  if (response.ok) return response
  if (response.status === 401 && path !== "/session") session.value = "out"
  throw await failureOf(response)
}

export const get = async <A>(path: string, query: Readonly<Record<string, string>> = {}): Promise<A> => {
  const text = new URLSearchParams(query).toString()
  return (await call("GET", text === "" ? path : `${path}?${text}`)).json()
}

interface SessionBody {
  readonly key_id: string | null
  readonly is_open: boolean
}

/** Signs in with the code of a link, with an admin key, or with nothing where the console is open. */
export const signIn = async (credential: { readonly code?: string; readonly key?: string }): Promise<void> => {
  const { key_id: keyId }: SessionBody = await (await call("POST", "/session", credential)).json()
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

export const requests = (query: Readonly<Record<string, string>>): Promise<Page<RequestRow>> => get("/requests", query)
export const request = (id: string): Promise<RequestRow> => get(`/requests/${encodeURIComponent(id)}`)

export const keys = (cursor?: string): Promise<Page<KeyRow>> =>
  get("/keys", { limit: "1000", ...(cursor === undefined ? {} : { cursor }) })
export const createKey = async (body: unknown): Promise<KeyRow> => (await call("POST", "/keys", body)).json()
export const revokeKey = async (id: string): Promise<void> => {
  await call("DELETE", `/keys/${encodeURIComponent(id)}`)
}

export const providers = (): Promise<Page<ProviderRow>> => get("/providers", { limit: "1000" })
export const testProvider = async (slug: string): Promise<ProviderCheck> =>
  (await call("POST", `/providers/${encodeURIComponent(slug)}/test`)).json()

export const configs = (): Promise<Page<ConfigRow>> => get("/configs", { limit: "1000" })

// Reads of the admin API for the pages of operators: usage over time, metrics.

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

const usageQuery = ({ bucket, from, groupBy, to }: UsageQuestion): Record<string, string> => ({
  bucket,
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  ...(groupBy === undefined ? {} : { group_by: groupBy })
})

export const usageSeries = async (question: UsageQuestion): Promise<ReadonlyArray<UsageRow>> => {
  const rows: Array<UsageRow> = []
  let cursor: string | null = null
  for (let page = 0; page < mostPages; page++) {
    const more: Record<string, string> = cursor === null ? {} : { cursor }
    const answer: Page<UsageRow> = await get("/usage", { ...usageQuery(question), ...more })
    rows.push(...answer.data)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return rows
}

export const topUsage = async (
  question: UsageQuestion,
  by: "requests" | "errors" | "tokens" | "cost",
  most: number
): Promise<ReadonlyArray<UsageRow>> => {
  const answer: Page<UsageRow> = await get("/usage", { ...usageQuery(question), top: by, limit: String(most) })
  return answer.data
}

export const gatewayMetrics = async (...names: ReadonlyArray<string>): Promise<ReadonlyArray<Metric>> => {
  const answer: Page<Metric> = await get("/metrics", { name: names.join(",") })
  return answer.data
}

export const knownClients = async (): Promise<ReadonlyArray<typeof AdminClient.Type>> => {
  const answer: Page<typeof AdminClient.Type> = await get("/clients")
  return answer.data
}

export const auditPage = (cursor?: string): Promise<Page<AuditEntry>> =>
  get("/audit", cursor === undefined ? {} : { cursor })

// Calls of the admin API for one request: its kept content, and dry runs of bodies.

export type RequestContent = typeof AdminRequestContent.Type
export type DryRunAnswer = typeof DryRun.Type

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

/** What the upstream would get of a body. */
export const dryRun = async ({ config, key, route }: DryRunChoice, body: unknown): Promise<DryRunAnswer> => {
  const query = new URLSearchParams({
    route,
    ...(key === "" ? {} : { key }),
    ...(config === "" ? {} : { config })
  })
  return (await call("POST", `/dry-runs?${query}`, body)).json()
}

// The calls of the page of keys: one key with its ETag, changes of it, and its usage.

const keyPath = (id: string): string => `/keys/${encodeURIComponent(id)}`

/** A key as it was read. A change of it fails when another change came first. */
export interface ReadKey {
  readonly row: KeyRow
  /** Undefined for a key that is declared in the configuration. */
  readonly tag: string | undefined
}

export const readKey = async (id: string): Promise<ReadKey> => {
  const response = await call("GET", keyPath(id))
  return { row: await response.json(), tag: response.headers.get("etag") ?? undefined }
}

export const updateKey = async (id: string, body: unknown, tag: string | undefined): Promise<KeyRow> =>
  (await call("PUT", keyPath(id), body, tag)).json()

/** The old text is taken for that long after; 0: not at all. */
export const rotateKey = async (id: string, graceSeconds: number): Promise<KeyRow> =>
  (await call("POST", `${keyPath(id)}/rotate${graceSeconds === 0 ? "" : `?grace_seconds=${graceSeconds}`}`)).json()

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

const keySums = async (key: string, from: number, groupBy: "day" | "model"): Promise<ReadonlyArray<UsageRow>> => {
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
      ? await keySums(id, from, "day")
      : (await usageSeries({ bucket: "hour", from, to, groupBy: "key" })).filter(({ key }) => key === id)
  const costs = new Map(rows.map((row) => [Date.parse(row.start ?? row.day ?? ""), row.cost_usd]))
  return starts.map((start) => costs.get(start) ?? 0)
}

const monthMillis = 30 * 24 * 60 * 60 * 1000

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
    keySums(id, now - monthMillis, "day"),
    keySums(id, now - monthMillis, "model"),
    spentIn(id, per, period)
  ])
  return { days, models, now, period, spentIn: spent }
}

// The calls of the page of configs: reading one and its versions, checking, saving and removing.

/** A config as it was read. A change of it fails when another change came first. */
export interface ReadConfig {
  readonly row: ConfigRow
  /** Undefined for what is declared in the configuration. */
  readonly tag: string | undefined
}

const configPath = (id: string): string => `/configs/${encodeURIComponent(id)}`

export const readConfig = async (id: string): Promise<ReadConfig> => {
  const response = await call("GET", configPath(id))
  return { row: await response.json(), tag: response.headers.get("etag") ?? undefined }
}

export const configVersion = (id: string, version: number): Promise<ConfigRow> => get(configPath(`${id}@${version}`))

export const createConfig = async (body: unknown): Promise<ConfigRow> => (await call("POST", "/configs", body)).json()

export const updateConfig = async (id: string, body: unknown, tag: string | undefined): Promise<ConfigRow> =>
  (await call("PUT", configPath(id), body, tag)).json()

export const removeConfig = async (id: string, tag: string | undefined): Promise<void> => {
  await call("DELETE", configPath(id), undefined, tag)
}

/** A request to try the config with. */
export interface TriedRequest {
  readonly key?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export const checkConfig = async (
  id: string | undefined,
  config: unknown,
  request: TriedRequest | undefined
): Promise<ConfigCheck> =>
  (
    await call("POST", "/check", {
      ...(id === undefined ? {} : { id }),
      config,
      ...(request === undefined ? {} : { request })
    })
  ).json()

// The calls of the page of prompts: the list, one version, saving, and trying one with a gateway key.

export const prompts = (): Promise<Page<Prompt>> => get("/prompts", { limit: "1000" })

/** A version as it was read. A change fails when another change came first. */
export interface ReadPrompt {
  readonly row: Prompt
  /** Undefined for what is declared in the configuration. */
  readonly tag: string | undefined
}

const promptPath = (id: string): string => `/prompts/${encodeURIComponent(id)}`

/** The newest version, or another one. A change of either is made from the newest. */
export const readPrompt = async (id: string, version: string | undefined): Promise<ReadPrompt> => {
  const response = await call("GET", promptPath(id))
  const tag = response.headers.get("etag") ?? undefined
  return { row: version === undefined ? await response.json() : await get(promptPath(`${id}@${version}`)), tag }
}

export const createPrompt = async (body: unknown): Promise<Prompt> => (await call("POST", "/prompts", body)).json()

export const updatePrompt = async (id: string, body: unknown, tag: string | undefined): Promise<Prompt> =>
  (await call("PUT", promptPath(id), body, tag)).json()

export const removePrompt = async (id: string, tag: string | undefined): Promise<void> => {
  await call("DELETE", promptPath(id), undefined, tag)
}

interface PromptAnswer {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number }
  readonly error?: { readonly message?: string }
}

const postPrompt = async (
  key: string,
  reference: string,
  action: string,
  variables: unknown
): Promise<PromptAnswer> => {
  const response = await fetch(`/v1/prompts/${encodeURIComponent(reference)}/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key },
    body: JSON.stringify({ variables })
  })
  const body: PromptAnswer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.error?.message ?? `The gateway answered with status ${response.status}.`)
  return body
}

/** What would be asked with these variables. */
export const renderPrompt = (key: string, reference: string, variables: unknown): Promise<unknown> =>
  postPrompt(key, reference, "render", variables)

/** The text of an answer, and what it used. */
export const tryPrompt = async (key: string, reference: string, variables: unknown): Promise<string> => {
  const { choices, usage } = await postPrompt(key, reference, "completions", variables)
  const text = choices?.[0]?.message?.content ?? ""
  return `${text}\n\n${usage?.prompt_tokens ?? "–"} tokens in, ${usage?.completion_tokens ?? "–"} out`
}
