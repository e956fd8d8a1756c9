// The calls of the page of prompts: the list, one version, saving, and trying one with a gateway key.
// Must not know the page.
import type { Prompt } from "../../../api/AdminResources.ts"
import { call, get, type Page } from "../../AdminClient.ts"

export const prompts = (): Promise<Page<Prompt>> => get("/prompts", { limit: "1000" })

/** A version as it was read. A change fails when another change came first. */
export interface ReadPrompt {
  readonly row: Prompt
  /** Undefined for what is declared in the configuration. */
  readonly tag: string | undefined
}

const pathOf = (id: string): string => `/prompts/${encodeURIComponent(id)}`

/** The newest version, or another one. A change of either is made from the newest. */
export const readPrompt = async (id: string, version: string | undefined): Promise<ReadPrompt> => {
  const response = await call("GET", pathOf(id))
  const tag = response.headers.get("etag") ?? undefined
  return { row: version === undefined ? await response.json() : await get(pathOf(`${id}@${version}`)), tag }
}

export const createPrompt = async (body: unknown): Promise<Prompt> => (await call("POST", "/prompts", body)).json()

export const updatePrompt = async (id: string, body: unknown, tag: string | undefined): Promise<Prompt> =>
  (await call("PUT", pathOf(id), body, tag)).json()

export const removePrompt = async (id: string, tag: string | undefined): Promise<void> => {
  await call("DELETE", pathOf(id), undefined, tag)
}

interface Answer {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number }
  readonly error?: { readonly message?: string }
}

const post = async (key: string, reference: string, action: string, variables: unknown): Promise<Answer> => {
  const response = await fetch(`/v1/prompts/${encodeURIComponent(reference)}/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key },
    body: JSON.stringify({ variables })
  })
  const body: Answer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.error?.message ?? `The gateway answered with status ${response.status}.`)
  return body
}

/** What would be asked with these variables. */
export const renderPrompt = (key: string, reference: string, variables: unknown): Promise<unknown> =>
  post(key, reference, "render", variables)

/** The text of an answer, and what it used. */
export const tryPrompt = async (key: string, reference: string, variables: unknown): Promise<string> => {
  const { choices, usage } = await post(key, reference, "completions", variables)
  const text = choices?.[0]?.message?.content ?? ""
  return `${text}\n\n${usage?.prompt_tokens ?? "–"} tokens in, ${usage?.completion_tokens ?? "–"} out`
}
