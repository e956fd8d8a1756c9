// GET /openapi.json and /docs: for everybody, rendered once, fetched again only when changed, and closed to other origins.
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

describe.each(["/openapi.json", "/docs"])("%s", (path) => {
  it("is one text, compressed for whoever takes that", async () => {
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

  it("is not sent again to whoever has it", async () => {
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

  it("takes GET only, and says so as every route does", async () => {
    const refused = await gateway.send(path, { method: "POST" })
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET"])
  })
})

it("/openapi.json is the document", async () => {
  const response = await gateway.send("/openapi.json")
  expect(headersOf(response, "content-type", "x-content-type-options")).toEqual(["application/json", "nosniff"])
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApi())))
})

describe("/docs", async () => {
  const response = await gateway.send("/docs")
  const html = await response.text()
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script)
  const markup = html.replaceAll(/<script>[\s\S]*?<\/script>/g, "")

  it("names no other origin in its markup, and loads nothing by it", () => {
    expect(markup.match(/(?:https?:)?\/\/[\w.-]+/g)).toBeNull()
    expect(markup.match(/\b(?:src|href|srcset|action)\s*=/g)).toBeNull()
    expect(scripts).toHaveLength(2)
  })

  it("holds the document, and asks for no fonts, proxy or key store of others", () => {
    const start = scripts[1]?.replace(/\s+/g, " ") ?? ""
    expect(start).toContain('"withDefaultFonts":false')
    expect(start).toContain(JSON.stringify(openApi().info).slice(1, -1))
    expect(start.match(/"(?:proxyUrl|url)":"https?:/g)).toBeNull()
  })

  it("lets a browser reach its own origin only, and run its own scripts only", () => {
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

it("neither costs anything before it is asked for: the service starts without them", async () => {
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

it("both come over a socket, and the gateway goes on answering", async () => {
  const running = await startTestGateway()
  const asked = await Promise.all(["/docs", "/openapi.json", "/docs"].map((path) => fetch(running.url + path)))
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200])
  const [one, , other] = await Promise.all(asked.map((response) => response.text()))
  expect(one).toBe(other)
  expect((await fetch(`${running.url}/v1/models`, { headers: { "x-gateway-api-key": gatewayKey } })).status).toBe(200)
  await running.close()
})
