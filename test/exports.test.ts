// Tests what the package exports, from the sources: its subpaths, and a client that runs without Node.
// Must not build or pack the package; before a release test/exports.release.test.ts does.
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { browserClient, clientNames, inBrowser } from "./support/browserClient.ts"
import { startTestGateway } from "./support/TestGateway.ts"

const root = new URL("../", import.meta.url)
const { exports }: { readonly exports: Readonly<Record<string, Readonly<Record<"model-gateway-source", string>>>> } =
  JSON.parse(readFileSync(new URL("package.json", root), "utf8"))
const entries = Object.entries(exports).map(
  ([path, one]) => [path, new URL(one["model-gateway-source"], root)] as const
)

it("package: every subpath exports something, and the client these names", async () => {
  const found = await Promise.all(
    entries.map(async ([path, { pathname }]) => [path, Object.keys(await import(pathname)).toSorted()] as const)
  )
  expect(found.filter(([, names]) => names.length === 0)).toEqual([])
  expect(Object.fromEntries(found)).toMatchObject({ "./client": clientNames, "./client/effect": ["GatewayClient"] })
})

it("client: imports its own files only, and runs with the globals of a browser", async () => {
  const gateway = await startTestGateway()
  const [, client] = entries.find(([path]) => path === "./client") ?? []
  const result = await browserClient(client?.pathname ?? "", gateway.url)
  await gateway.close()
  expect(result).toEqual(inBrowser)
})
