// Tests the page on the client: an example runs unchanged against a gateway of the test and prints its output.
// Must not change the examples of the page.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sharedCode } from "../support/buildProgram.ts"
import { sample } from "../support/release.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"
import * as Package from "../../src/client/Client.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, "utf8")
const page = read("docs/client.md")
const blocksOf = (text: string) => [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)
const blocks = blocksOf(page)
const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

describe("docs/client.md", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  const run = async (block: string): Promise<string> => {
    const source = block.replaceAll("http://127.0.0.1:8787", gateway.url).replaceAll("mgk_demo", gatewayKey)
    const args = ["--no-warnings", "--conditions=model-gateway-source", "--input-type=module-typescript", "-e", source]
    const env = { ...process.env, ...sharedCode }
    return (await promisify(execFile)(process.execPath, args, { cwd: root, env })).stdout
  }

  const printed = [
    `${greeting}\n`,
    "Hello!\n",
    "google [ 'user' ]\nrequest-1 google [ 'user' ]\n",
    "404 provider_not_found model\n",
    "stop\nend_turn\n",
    "Hello! model_not_found\n",
    "Hi\n"
  ]

  it("docs/client.md: has these examples and no more", () => {
    expect(blocks).toHaveLength(printed.length)
  })

  const rows = printed.map((text, at) => [at + 1, text] as const)
  it.each(sample(rows, 3))("docs/client.md: example %i prints its documented output", async (number, text) => {
    expect(await run(blocks[number - 1] ?? "")).toBe(text)
  })

  it("docs/client.md: names every failure of the package, and no other", () => {
    const rows = page
      .slice(page.indexOf("## Failures"), page.indexOf("## Stock SDKs"))
      .split("\n")
      .filter((line) => line.startsWith("| `"))
    const named = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)
    )
    const exported = Object.entries(Package)
      .filter(([, one]) => typeof one === "function" && one.prototype instanceof Package.GatewayFailure)
      .map(([name]) => name)
    expect(named.toSorted()).toEqual(exported.toSorted())
  })
})
