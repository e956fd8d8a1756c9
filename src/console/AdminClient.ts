// Calls of the admin API by the session of this page. Everything the console does is one of these calls.
// Must not know pages.
import { signal } from "@preact/signals"
import type {
  AdminProblem,
  AdminRequest,
  AdminUsage,
  Config,
  Key,
  Provider,
  ProviderCheck
} from "../api/AdminResources.ts"

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
