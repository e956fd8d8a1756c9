// Tests GET /openapi.json and /docs: public, rendered once, cached by ETag, and closed to other origins.
// Must not depend on the operations that the document describes.
import { createHash } from "node:crypto"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gunzipSync } from "node:zlib"
import { afterAll, describe, expect, it } from "vitest"
import { openApi } from "../../src/api/openApi.ts"
import { gatewayKey, startTestGateway } from "../support/TestGateway.ts"
import { face } from "./face.ts"

const gateway = face()
afterAll(() => gateway.dispose())

const headersOf = (response: Response, ...names: ReadonlyArray<string>) =>
  names.map((name) => response.headers.get(name))

describe.each(["/openapi.json", "/docs"])("document at %s", (path) => {
  it("API docs: the text is compressed for clients that accept it", async () => {
    const plain = await gateway.send(path)
    const zipped = await gateway.send(path, { headers: { "accept-encoding": "br, gzip" } })
    expect([plain.status, ...headersOf(plain, "content-encoding", "vary", "cache-control")]).toEqual([
      200,
      null,
      "accept-encoding",
      "no-cache"
    ])
    expect([zipped.status, ...headersOf(zipped, "content-encoding", "vary", "cache-control")]).toEqual([
      200,
      "gzip",
      "accept-encoding",
      "no-cache"
    ])
    expect(gunzipSync(new Uint8Array(await zipped.arrayBuffer())).toString()).toBe(await plain.text())
  })

  it("API docs: the text is not sent again to a client that has it", async () => {
    const etag = (await gateway.send(path)).headers.get("etag") ?? ""
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/)
    const again = await gateway.send(path, { headers: { "if-none-match": `"other", ${etag}` } })
    expect([again.status, await again.text(), ...headersOf(again, "etag", "cache-control")]).toEqual([
      304,
      "",
      etag,
      "no-cache"
    ])
    expect((await gateway.send(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200)
  })

  it("API docs: other methods than GET are refused as on every route", async () => {
    const refused = await gateway.send(path, { method: "POST" })
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET"])
  })
})

it("API docs: /openapi.json is the OpenAPI document", async () => {
  const response = await gateway.send("/openapi.json")
  expect(headersOf(response, "content-type", "x-content-type-options")).toEqual(["application/json", "nosniff"])
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApi())))
})

describe("the page /docs", async () => {
  const response = await gateway.send("/docs")
  const html = await response.text()
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script)
  const markup = html.replaceAll(/<script>[\s\S]*?<\/script>/g, "")

  it("API docs: the page's markup names no other origin and loads nothing from one", () => {
    expect(markup.match(/(?:https?:)?\/\/[\w.-]+/g)).toBeNull()
    expect(markup.match(/\b(?:src|href|srcset|action)\s*=/g)).toBeNull()
    expect(scripts).toHaveLength(2)
  })

  it("API docs: the page contains the document and uses no outside fonts, proxy or key store", () => {
    const start = scripts[1]?.replace(/\s+/g, " ") ?? ""
    expect(start).toContain('"withDefaultFonts":false')
    expect(start).toContain(JSON.stringify(openApi().info).slice(1, -1))
    expect(start.match(/"(?:proxyUrl|url)":"https?:/g)).toBeNull()
  })

  it("API docs: the page's policy limits a browser to its own origin and scripts", () => {
    const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    expect(response.headers.get("content-security-policy")).toBe(
      [
        "default-src 'none'",
        `script-src ${hashes.join(" ")}`,
        "style-src 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ].join("; ")
    )
    expect(headersOf(response, "content-type", "referrer-policy", "x-content-type-options")).toEqual([
      "text/html; charset=utf-8",
      "no-referrer",
      "nosniff"
    ])
  })
})

it("API docs: the service starts without rendering them", async () => {
  const source = `
    import { registerHooks } from "node:module"
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    await import(${JSON.stringify(new URL("../../src/Gateway.ts", import.meta.url).href)})
    const early = loaded.filter((url) => /httpApiScalar|src\\/api\\/(?:openApi|GatewayApi)|DocsPages/.test(url))
    console.log(JSON.stringify({ some: loaded.length > 100, early }))
  `
  const args = ["--no-warnings", "--input-type=module", "-e", source]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL("../../", import.meta.url))
  })
  expect(JSON.parse(stdout)).toEqual({ some: true, early: [] })
})

it("API docs: both are served over a socket, and the gateway goes on answering", async () => {
  const running = await startTestGateway()
  const asked = await Promise.all(["/docs", "/openapi.json", "/docs"].map((path) => fetch(running.url + path)))
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200])
  const [one, , other] = await Promise.all(asked.map((response) => response.text()))
  expect(one).toBe(other)
  expect((await fetch(`${running.url}/v1/models`, { headers: { "x-gateway-api-key": gatewayKey } })).status).toBe(200)
  await running.close()
})
