// Tests the page on administration: runs its commands with curl against a gateway with simulated providers.
// Must not change the commands of the page.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, expect, it } from "vitest"
import { adminKey } from "../../support/accounted.ts"
import { geminiKey, gatewayKey, startTestGateway, type TestGateway } from "../../support/TestGateway.ts"
import { makeSimulator } from "../../../src/demo/google/Simulator.ts"

type Json = ReturnType<typeof JSON.parse>

const page = readFileSync(fileURLToPath(new URL("../../../docs/admin.md", import.meta.url)), "utf8")
/** Blocks in their order, each with its language. */
const blocks = [...page.matchAll(/^```(sh|json)\n([\s\S]*?)^```/gm)].map(([, language = "", text = ""]) => ({
  language,
  text
}))

let gateway: TestGateway
let upstream: { readonly url: string; readonly close: () => Promise<void> }
beforeAll(async () => {
  upstream = await makeSimulator({ geminiApiKeys: [geminiKey] }).listen()
  gateway = await startTestGateway({
    keys: [
      { name: "test", key: Redacted.make(gatewayKey) },
      { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] }
    ]
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** What differs from run to run. */
const plain = (text: string): Json =>
  JSON.parse(
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "T")
      .replace(/key_[0-9a-z]+/g, "key_ID")
      .replace(/"mgk_\w+/g, '"mgk_')
      .replace(/"[0-9a-f]{8}\.\.\./g, '"H...')
      .replace(/"duration_ms":\d+/, '"duration_ms":0')
  )

/** Several answers of one block, one after the other. */
const answers = (text: string): ReadonlyArray<Json> =>
  text === ""
    ? []
    : text
        .replaceAll("}{", "}\n{")
        .split("\n")
        .map((line) => JSON.parse(line))

it("administration page: every command has the effect the page shows", async () => {
  const variables: Record<string, string> = { GATEWAY: gateway.url, ADMIN_KEY: adminKey, GEMINI_API_KEY: geminiKey }
  const run = async (text: string): Promise<string> => {
    // The page is for the real provider; here that is the simulated one.
    const here = text.replace('"provider":"google",', `"provider":"google","base_url":"${upstream.url}",`)
    const { stdout } = await promisify(execFile)("sh", ["-e", "-c", here], {
      env: { PATH: process.env["PATH"], ...variables }
    })
    return stdout
  }
  const seen: Array<Json> = []
  let output = ""
  for (const { language, text } of blocks) {
    if (language === "json") {
      const { base_url: _, ...told } = plain(output)
      expect(told).toEqual(plain(text))
    } else {
      output = (await run(text)).replaceAll(upstream.url, "https://generativelanguage.googleapis.com")
      seen.push(...answers(output))
      const made = seen.at(-1)
      if (made?.object === "key") Object.assign(variables, { NEW_KEY: made.key, KEY_ID: made.id })
    }
  }
  expect(seen.map(({ object, status }) => object ?? status)).toEqual([
    "provider",
    "provider_test",
    "config",
    "prompt",
    "config_check",
    "key",
    "chat.completion",
    "chat.completion",
    "dry_run",
    "config",
    "settings",
    400
  ])
  // The key was revoked on the way.
  const refused = await fetch(`${gateway.url}/v1/models`, {
    headers: { "x-gateway-api-key": variables["NEW_KEY"] ?? "" }
  })
  expect([refused.status, ((await refused.json()) as Json).error.code]).toEqual([401, "invalid_gateway_key"])
})
