// Chat completions of the playground, by a gateway key.
// Must not know the session or the page.
import type { Chat } from "./chatBody.ts"
import { type Answer, addEvent, noAnswer } from "./chatStream.ts"

const path = "/v1/chat/completions"

const headersOf = (key: string): Record<string, string> => ({
  "content-type": "application/json",
  "x-gateway-api-key": key,
  "x-gateway-strict-schema-compliance": "false"
})

interface ErrorBody {
  readonly error?: { readonly message?: string }
}

const succeed = async (response: Response): Promise<Response> => {
  if (response.ok) return response
  const body: ErrorBody = await response.json().catch(() => ({}))
  throw new Error(body.error?.message ?? `The gateway answered with status ${response.status}.`)
}

/** Streams an answer; `show` gets it as it grows. Returns the id of the request. */
export const stream = async (
  key: string,
  body: Chat,
  show: (answer: Answer) => void,
  signal: AbortSignal
): Promise<string> => {
  const sent = JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } })
  const response = await succeed(await fetch(path, { method: "POST", headers: headersOf(key), body: sent, signal }))
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let answer = noAnswer
  let rest = ""
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    const lines = (rest + read.value).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) answer = addEvent(answer, line)
    show(answer)
  }
  return response.headers.get("x-request-id") ?? ""
}

/** What the provider would get: URL, body, and the parameters that are ignored or changed. */
export interface DryRun {
  readonly method: string
  readonly url: string
  readonly body: unknown
  readonly ignored_params: ReadonlyArray<string>
  readonly adjusted_params: ReadonlyArray<string>
}

export const dryRun = async (key: string, body: Chat): Promise<DryRun> => {
  const headers = { ...headersOf(key), "x-gateway-dry-run": "true" }
  return (await succeed(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }))).json()
}

interface ModelList {
  readonly data: ReadonlyArray<{ readonly id: string }>
}

/** The models that the key may use. */
export const models = async (key: string): Promise<ReadonlyArray<string>> => {
  const { data }: ModelList = await (await succeed(await fetch("/v1/models", { headers: headersOf(key) }))).json()
  return data.map(({ id }) => id)
}
