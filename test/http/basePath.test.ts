// Tests a gateway below a path of a reverse proxy that keeps the prefix, on real sockets: routes, pages and links.
// Must not depend on a browser.
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { withoutBasePath } from "../../src/http/node/Proxied.ts"
import { until } from "../support/eventually.ts"
import { type PathProxy, startPathProxy } from "../support/pathProxy.ts"
import { gatewayKey, geminiKey, settingsFor, startGateway } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000"
const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }
]

it.each([
  ["/llm", "/"],
  ["/llm/", "/"],
  ["/llm?a=1", "/?a=1"],
  ["/llm/v1/models?a=/llm", "/v1/models?a=/llm"],
  ["/llm/llm/x", "/llm/x"],
  ["/llmx/v1", "/llmx/v1"],
  ["/LLM/v1", "/LLM/v1"],
  ["/%6clm/v1", "/%6clm/v1"],
  ["/v1/models", "/v1/models"]
])("base path: %s is %s below /llm (K23)", (url, path) => {
  expect(withoutBasePath(url, "/llm")).toBe(path)
})

describe("base path", () => {
  const simulator = makeSimulator({ geminiApiKeys: [geminiKey], anyLocation: true })
  let upstream: Awaited<ReturnType<typeof simulator.listen>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let proxy: PathProxy
  beforeAll(async () => {
    upstream = await simulator.listen()
    const settings = settingsFor(upstream.url, { keys })
    const server = { ...settings.server, basePath: "/llm", console: { hosts: [] } }
    gateway = await startGateway({ ...settings, server })
    proxy = await startPathProxy(gateway.url, { prefix: "/llm" })
  })
  afterAll(async () => {
    await proxy.close()
    await gateway.close()
    await upstream.close()
  })

  const send = (path: string, headers: Readonly<Record<string, string>> = {}, body?: object) =>
    fetch(proxy.url + path, {
      redirect: "manual",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
  const messages = [{ role: "user", content: "Hello" }]
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }]

  it.each([
    ["/llm/v1/chat/completions", { model: "@google/gemini-3.8-flash", messages }],
    ["/llm/chat/completions", { model: "@google/gemini-3.8-flash", messages }],
    ["/llm/v1/v1/chat/completions", { model: "@google/gemini-3.8-flash", messages }],
    ["/llm/v1/responses", { model: "@google/gemini-3.8-flash", input: "Hello" }],
    ["/llm/v1beta/models/@google/gemini-3.8-flash:generateContent", { contents }]
  ])("base path: %s calls a model (K23)", async (path, body) => {
    const response = await send(path, { "x-gateway-api-key": gatewayKey }, body)
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true])
  })

  it.each(["/llm/v1/models", "/llm/admin/v1/keys", "/llm/health/ready", "/llm/metrics", "/llm/console/", "/llm/docs"])(
    "base path: %s is served there and at the root (K23)",
    async (path) => {
      const headers = { "x-gateway-api-key": path.includes("admin") ? adminKey : gatewayKey }
      const below = await send(path, headers)
      const root = await fetch(gateway.url + path.slice("/llm".length), { headers })
      expect([below.status, root.status]).toEqual([200, 200])
    }
  )

  it("base path: an unknown path is a 404, and another method a 405 that names the path without the prefix (K23)", async () => {
    const unknown = await send("/llm/nothing")
    const method = await send("/llm/health/live", {}, {})
    expect([unknown.status, method.status, method.headers.get("allow")]).toEqual([404, 405, "GET"])
  })

  it("base path: links to console, guides and the next page have the prefix (K23)", async () => {
    const page = await send("/llm", { accept: "text/html" })
    expect([page.status, page.headers.get("location")]).toEqual([303, "/llm/console/"])
    expect(await (await send("/llm/")).json()).toMatchObject({ name: "model-gateway", docs: "/llm/docs" })
    for (const model of ["@google/gemini-3.8-flash", "@nobody/none"])
      await send("/llm/v1/chat/completions", { "x-gateway-api-key": gatewayKey }, { model, messages })
    const usage = "/llm/admin/v1/usage?bucket=hour&group_by=status&limit=1"
    const link = async () =>
      (await send(usage, { "x-gateway-api-key": adminKey, accept: "text/csv" })).headers.get("link")
    await until(async () => (await link()) !== null)
    expect((await link())?.replace(/cursor=[^>]+/, "cursor=CURSOR")).toBe(`<${usage}&cursor=CURSOR>; rel="next"`)
  })

  it("base path: the document of the API names it as its server (K23)", async () => {
    expect(await (await send("/llm/openapi.json")).json()).toMatchObject({ servers: [{ url: "/llm" }] })
    expect(await (await send("/llm/docs")).text()).toContain('"servers":[{"url":"/llm"}]')
  })

  it.each([
    "/llm/docs/quickstart",
    "/llm/docs/quickstart/",
    "/llm/console",
    "/llm/console/",
    "/llm/console/requests/id"
  ])("base path: every address in %s leads below the prefix (K23)", async (path) => {
    const html = await (await send(path)).text()
    const own = [...html.matchAll(/ (?:href|src)="([^"#:]+)(?:#[^"]*)?"/g)].map(([, address = ""]) => address)
    const paths = own.map((address) => new URL(address, proxy.url + path).pathname)
    expect(paths.length).toBeGreaterThan(1)
    expect(paths.filter((one) => !/^\/llm\/(?:console\/assets\/|docs(?:\/|$))/.test(one))).toEqual([])
    const statuses = await Promise.all([...new Set(paths)].map(async (one) => (await send(one)).status))
    expect([...new Set(statuses)]).toEqual([200])
  })

  it("base path: the cookie of the console has the path of the sign-in as the browser sees it (K23)", async () => {
    const session = { origin: proxy.url, "x-gateway-console": "1" }
    const signedIn = await send("/llm/admin/v1/session", session, { key: adminKey })
    expect(signedIn.headers.get("set-cookie")).toMatch(
      /^gateway_console_\d+=[\w-]{43}; Max-Age=43(?:199|200); HttpOnly; SameSite=Strict$/
    )
  })
})
