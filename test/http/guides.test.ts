// Tests GET /docs/{page}: the pages of the documentation as HTML, without a key and without a network.
// Must not judge what a page describes.
import { afterAll, expect, it } from "vitest"
import { anchorsOf, docPages, readPage } from "../support/docPages.ts"
import { face } from "./face.ts"

const gateway = face()
afterAll(() => gateway.dispose())

const served = docPages.filter((page) => /^(?:docs\/[\w-]+|README|CHANGELOG)\.md$/.test(page))
const nameOf = (page: string): string => page.replace(/^docs\/|\.md$/g, "").toLowerCase()

it.each(served)("guides: %s is served with its headings, loads nothing and names no missing page", async (page) => {
  const response = await gateway.send(`/docs/${nameOf(page)}`)
  const html = await response.text()
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
  expect([...html.matchAll(/<h\d id="([^"]*)">/g)].map(([, anchor]) => anchor)).toEqual([...anchorsOf(readPage(page))])
  expect(html.match(/<(?:script|img|iframe|object|form)\b|\bsrc=|\bon\w+="/g)).toBeNull()
  expect(html.match(/href="\//g)).toBeNull()
  const links = [...html.matchAll(/href="\.\.\/docs\/([^"#]*)/g)].map(([, name = ""]) => name)
  const names = new Set(served.map(nameOf))
  expect(links.filter((name) => !names.has(name))).toEqual([])
})

it("guides: the policy allows the style of the page and nothing else, and a known page is not sent again", async () => {
  const page = await gateway.send("/docs/quickstart")
  expect(page.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
  )
  const etag = page.headers.get("etag") ?? ""
  const again = await gateway.send("/docs/quickstart", { headers: { "if-none-match": etag } })
  expect([again.status, await again.text()]).toEqual([304, ""])
})

it("guides: an unknown page is 404, and another method 405", async () => {
  const statuses = ["/docs/nothing", "/docs/__proto__", "/docs/a/b"].map(
    async (path) => (await gateway.send(path)).status
  )
  expect(await Promise.all(statuses)).toEqual([404, 404, 404])
  expect((await gateway.send("/docs/quickstart", { method: "POST" })).status).toBe(405)
})
