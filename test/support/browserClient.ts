// Runs the client, as sources or as packed files, in a process that gives it the globals of a browser and its own files only.
// Must not know the package around it.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { gatewayKey } from "./TestGateway.ts"

const program = `
  import { readFileSync } from "node:fs"
  import { stripTypeScriptTypes } from "node:module"
  import vm from "node:vm"
  const [, entry, baseUrl, apiKey] = process.argv
  const { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, clearTimeout, fetch, setTimeout } = globalThis
  const context = vm.createContext({ AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, clearTimeout, fetch, setTimeout })
  const modules = new Map()
  const codeOf = (url) => {
    const text = readFileSync(url, "utf8")
    return url.href.endsWith(".ts") ? stripTypeScriptTypes(text) : text
  }
  const load = (url) => {
    if (!modules.has(url.href)) modules.set(url.href, new vm.SourceTextModule(codeOf(url), { context, identifier: url.href }))
    return modules.get(url.href)
  }
  const client = load(new URL(entry, "file:///"))
  await client.link((specifier, from) => {
    if (!specifier.startsWith(".")) throw new Error(from.identifier + " imports " + specifier)
    return load(new URL(specifier, from.identifier))
  })
  await client.evaluate()
  const page = new vm.SourceTextModule(\`
    import { createClient, RequestInvalid } from "client"
    export const result = async (baseUrl, apiKey) => {
      const client = createClient({ baseUrl, apiKey, maxRetries: 0 })
      const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] }
      const whole = await client.chat.completions.create(chat)
      let text = ""
      for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) text += chunk.choices[0]?.delta.content ?? ""
      const failed = await client.chat.completions.create({ ...chat, messages: [] }).catch((error) => error instanceof RequestInvalid && error.code)
      return { same: text === whole.choices[0].message.content && text !== "", failed, node: typeof process + typeof Buffer }
    }
  \`, { context })
  await page.link(() => client)
  await page.evaluate()
  console.log(JSON.stringify({ ...await page.namespace.result(baseUrl, apiKey), files: modules.size > 5 }))
`

/** What the client did with a gateway. Throws when it imports a file of another package. `entry` is its first file. */
export const browserClient = async (entry: string, origin: string): Promise<unknown> => {
  const flags = ["--no-warnings", "--experimental-vm-modules", "--input-type=module"]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "-e", program, entry, origin, gatewayKey])
  return JSON.parse(stdout)
}

/** That of a client without faults. */
export const inBrowser = { same: true, failed: "empty_array", node: "undefinedundefined", files: true }

/** What an application imports from the client. */
export const clientNames: ReadonlyArray<string> = [
  "Aborted",
  "AnswerBroken",
  "AuthenticationFailed",
  "ConnectionFailed",
  "EventStream",
  "GatewayFailure",
  "NotFound",
  "PermissionDenied",
  "QuotaExhausted",
  "RateLimited",
  "RequestInvalid",
  "ServiceFailed",
  "TimedOut",
  "createClient",
  "createHeaders",
  "factsOf"
]
