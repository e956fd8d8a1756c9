// Calls of the gateway as a client makes them, by the gateway key that is typed in this tab.
// It must not know the session or pages.
import { signal } from "@preact/signals"
import type { DryRunAnswer } from "./AdminClient.ts"
import { gatewayAddress } from "./gatewayAddress.ts"

/** It lives as long as the tab, and is written nowhere. */
export const gatewayKey = signal("")

const chatRoute = "/v1/chat/completions"

const headersOf = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  "content-type": "application/json",
  "x-gateway-api-key": gatewayKey.value,
  ...more
})

/** Sends a body by the typed key; the answer may be an error. */
export const sendBody = (route: string, body: unknown, config = ""): Promise<Response> =>
  fetch(gatewayAddress + route, {
    method: "POST",
    headers: headersOf(config === "" ? {} : { "x-gateway-config": config }),
    body: JSON.stringify(body)
  })

interface ErrorBody {
  readonly error?: { readonly message?: string }
}

const succeed = async (response: Response): Promise<Response> => {
  if (response.ok) return response
  const body: ErrorBody = await response.json().catch(() => ({}))
  throw new Error(body.error?.message ?? `The gateway answered with status ${response.status}.`)
}

/** Asks for the full form of an answer, which has signatures and parts. */
const fullForm = { "x-gateway-strict-schema-compliance": "false" }

/** Streams the answer to a chat; `take` gets its lines as they come. Returns the id of the request. */
export const streamChat = async (
  chat: object,
  take: (lines: ReadonlyArray<string>) => void,
  abort: AbortSignal
): Promise<string> => {
  const body = JSON.stringify({ ...chat, stream: true, stream_options: { include_usage: true } })
  const response = await succeed(
    await fetch(gatewayAddress + chatRoute, { method: "POST", headers: headersOf(fullForm), body, signal: abort })
  )
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    const lines = (rest + read.value).split("\n")
    rest = lines.pop() ?? ""
    take(lines)
  }
  return response.headers.get("x-request-id") ?? ""
}

/** What the provider would get of a chat: URL, body, and the parameters that are ignored or changed. */
export const dryRunChat = async (chat: object): Promise<DryRunAnswer> => {
  const headers = headersOf({ ...fullForm, "x-gateway-dry-run": "true" })
  return (
    await succeed(await fetch(gatewayAddress + chatRoute, { method: "POST", headers, body: JSON.stringify(chat) }))
  ).json()
}

interface ModelList {
  readonly data: ReadonlyArray<{ readonly id: string }>
}

/** The models that the key may use. */
export const listModels = async (): Promise<ReadonlyArray<string>> => {
  const { data }: ModelList = await (
    await succeed(await fetch(`${gatewayAddress}/v1/models`, { headers: headersOf() }))
  ).json()
  return data.map(({ id }) => id)
}

interface PromptAnswer {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number }
}

const askPrompt = async <A>(reference: string, action: "render" | "completions", variables: unknown): Promise<A> => {
  const route = `/v1/prompts/${encodeURIComponent(reference)}/${action}`
  return (await succeed(await sendBody(route, { variables }))).json()
}

/** What would be asked with these variables. */
export const renderPrompt = (reference: string, variables: unknown): Promise<unknown> =>
  askPrompt(reference, "render", variables)

/** The text of an answer, and what it used. */
export const tryPrompt = async (reference: string, variables: unknown): Promise<string> => {
  const { choices, usage } = await askPrompt<PromptAnswer>(reference, "completions", variables)
  const text = choices?.[0]?.message?.content ?? ""
  return `${text}\n\n${usage?.prompt_tokens ?? "–"} tokens in, ${usage?.completion_tokens ?? "–"} out`
}
