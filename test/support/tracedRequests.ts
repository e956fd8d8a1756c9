// Sends requests to a gateway whose functions report the file that they are entered in.
// Must be loaded before any file of `src`, and must not judge what it counts.
import { registerHooks } from "node:module"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "vitest/node"

/** What one warm request ran. */
export interface TracedRequest {
  readonly name: string
  readonly status: number
  /** Files of `src` with a function that ran, to the end of the answer. */
  readonly files: ReadonlyArray<string>
  /** Files of services and handlers (a capital name), in the order in which they were entered before the first byte. */
  readonly flow: ReadonlyArray<string>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value

const nodesOf = (node: Node): ReadonlyArray<Node> => [
  node,
  ...Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).flatMap((child) => nodesOf(child))
  )
]

const root = new URL("../../", import.meta.url)
const report = "globalThis[Symbol.for('entered')]"

/** The source with a report at the start of each function, on the same lines. */
const reporting = (text: string, file: string): string => {
  const program: unknown = parseAst(text, { lang: "ts" })
  const call = `${report}(${JSON.stringify(file)})`
  const inserts = (isNode(program) ? nodesOf(program) : []).flatMap(
    ({ type, body }): ReadonlyArray<[number, string]> => {
      if (!/Function/.test(type) || !isNode(body)) return []
      if (body.type === "BlockStatement" || body.type === "FunctionBody") return [[body.start + 1, `${call};`]]
      return [
        [body.start, `(${call},`],
        [body.end, ")"]
      ]
    }
  )
  return inserts
    .toSorted(([a], [b]) => b - a)
    .reduce((out, [at, insert]) => out.slice(0, at) + insert + out.slice(at), text)
}

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const file = url.startsWith("file:") ? relative(fileURLToPath(root), fileURLToPath(url)) : ""
    const isTraced = file.startsWith("src/") && !file.startsWith("src/demo/") && file.endsWith(".ts")
    return isTraced ? { ...loaded, source: reporting(String(loaded.source), file) } : loaded
  }
})

let entered: Array<string> | undefined
Object.assign(globalThis, { [Symbol.for("entered")]: (file: string) => entered?.push(file) })

const isFlow = (file: string): boolean => /\/[A-Z][^/]*$/.test(file)

const traced = async (name: string, send: () => Promise<Response>): Promise<TracedRequest> => {
  await (await send()).text()
  entered = []
  const answer = await send()
  const reader = answer.body?.getReader()
  await reader?.read()
  const flow = entered.filter(isFlow).filter((file, index, all) => file !== all[index - 1])
  while (reader !== undefined && !(await reader.read()).done);
  const files = [...new Set(entered)]
  entered = undefined
  return { name, status: answer.status, files, flow }
}

const chat = { max_tokens: 64, messages: [{ role: "user", content: "Hi" }], stream: true }

/** A streamed chat and message, a refused budget, and a record that is written through the admin API. */
export const tracedRequests = async (): Promise<ReadonlyArray<TracedRequest>> => {
  const Redacted = await import("effect/Redacted")
  const { gatewayKey, startTestGateway } = await import("./TestGateway.ts")
  const key = (name: string) => ({
    name,
    key: Redacted.make(`${gatewayKey}${name}`)
  })
  const gateway = await startTestGateway({
    keys: [
      key("user"),
      { ...key("poor"), budget: { usd: 0.000001, per: "month" } },
      { ...key("boss"), scopes: ["admin"] }
    ]
  })
  const send = (method: string, path: string, name: string, body: object) => () =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${gatewayKey}${name}` },
      body: JSON.stringify(body)
    })
  const gemini = { ...chat, model: "@google/gemini-3.5-flash" }
  const claude = { ...chat, model: "@vertex-ai/claude-sonnet-5-5" }
  try {
    return [
      await traced("streamed chat", send("POST", "/v1/chat/completions", "user", gemini)),
      await traced("streamed message", send("POST", "/v1/messages", "user", claude)),
      await traced("refused budget", send("POST", "/v1/chat/completions", "poor", gemini)),
      await traced("admin PUT", send("PUT", "/admin/v1/configs/fast", "boss", { retry: { attempts: 1 } }))
    ]
  } finally {
    await gateway.close()
  }
}

// A process of its own reports to the one that started it.
if (process.send !== undefined) process.send(await tracedRequests(), () => process.exit())
