// `serve` and `demo` on a store of their own: the start-up lines, and changes by the command line to the same store.
// Must not start a process.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { demoKey } from "../../src/demo/seed.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { until } from "../support/eventually.ts"
import { geminiKey } from "../support/TestGateway.ts"

const home = mkdtempSync(join(tmpdir(), "gateway-serve-"))
afterAll(() => rmSync(home, { recursive: true }))
const env = { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GATEWAY_LIMITS_REFRESH_MILLIS: "20", GATEWAY_LOG_FORMAT: "off" }

/** Waits until the gateway answers so. It polls its store. */
const answers = (url: string, key: string, status: number): Promise<void> =>
  until(async () => (await fetch(url, { headers: { "x-gateway-api-key": key } })).status === status)

it("the demo keeps changes in the folder of --data", async () => {
  const demo = startCommand(["demo", "--port", "0", "--data", "kept"], {}, { files: {} })
  const [, origin = ""] = await demo.said(/API {6}(http:\S+)\/v1/)
  const [, path] = await demo.said(/Data {5}(\S+)/)
  expect(path).toBe(`sqlite:${join(demo.folder, "kept", "gateway.db")}`)
  const [, admin = ""] = await demo.said(/Admin {4}(mgk_\S+)/)
  expect((await fetch(`${origin}/admin/v1/usage`, { headers: { "x-gateway-api-key": admin } })).status).toBe(200)
  expect((await demo.stop()).code).toBe(0)
})

it("serve makes an admin key once and keeps it, and follows changes of the command line", async () => {
  const data = join(home, "data")
  const given = { ...env, GATEWAY_DATA_DIR: data }
  const first = startCommand(["serve", "--port", "0"], given)
  const [, origin = ""] = await first.said(/API {6}(http:\S+)\/v1/)
  const [, path] = await first.said(/Store {4}(\S+)/)
  expect(path).toBe(`sqlite:${join(data, "gateway.db")}`)
  const [, admin = ""] = await first.said(/Admin {4}(mgk_\S+) {3}key for \/admin\/v1, shown only here/)
  const [, forThisRun = ""] = await first.said(/Key {6}(mgk_\S+) {3}made for this run/)
  const status = async (route: string, key: string) =>
    (await fetch(`${origin}${route}`, { headers: { "x-gateway-api-key": key } })).status
  expect([
    await status("/admin/v1/usage", admin),
    await status("/admin/v1/usage", forThisRun),
    await status("/v1/models", forThisRun)
  ]).toEqual([200, 401, 200])

  const made = await commandLine(["keys", "create", "--name", "ci"], given)
  const key = made.out.trim()
  await answers(`${origin}/v1/models`, key, 200)
  const [, id = ""] = /(key_\w+)/.exec(made.err) ?? []
  await commandLine(["providers", "create", "mine", "--provider", "google", "--base-url", "http://127.0.0.1:9"], given)
  expect((await commandLine(["keys", "revoke", id], given)).code).toBe(0)
  await answers(`${origin}/v1/models`, key, 401)
  expect((await first.stop()).code).toBe(0)

  const again = startCommand(["serve", "--port", "0"], given)
  const [, second = ""] = await again.said(/API {6}(http:\S+)\/v1/)
  const [said] = await again.said(/[^]*Key {6}mgk_/)
  expect([said.includes("Admin"), said.includes("Account  @mine")]).toEqual([false, true])
  await answers(`${second}/admin/v1/usage`, admin, 200)
  expect((await again.stop()).code).toBe(0)
})

it("the demo plays back what serve recorded", async () => {
  const google = await makeSimulator({ geminiApiKeys: [geminiKey], serviceAccounts: [], anyLocation: true }).listen()
  const calls = join(home, "calls")
  const ask = async (origin: string, key: string, content = "Hello") => {
    const response = await fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": key },
      body: JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content }] })
    })
    const { choices }: { readonly choices: unknown } = JSON.parse(await response.text())
    return choices
  }
  const key = "mgk_recording0000000000000000000000"
  const serving = startCommand(
    ["serve", "--port", "0", "--record", calls],
    { ...env, GEMINI_API_KEY: geminiKey, GATEWAY_GEMINI_BASE_URL: google.url, GATEWAY_API_KEY: key },
    { files: {} }
  )
  const [, live = ""] = await serving.said(/API {6}(http:\S+)\/v1/)
  const first = await ask(live, key)
  await serving.stop()
  await google.close()

  const demo = startCommand(["demo", "--port", "0", "--replay", calls])
  const [, origin = ""] = await demo.said(/API {6}(http:\S+)\/v1/)
  const [, recorded] = await demo.said(/Replay {3}(.*)/)
  const again = await ask(origin, demoKey)
  await ask(origin, demoKey, "Hello again")
  const [warning] = await demo.said(/warn .* has no recording of .*/)
  await demo.stop()
  expect(warning.slice(warning.indexOf("has"))).toBe(
    "has no recording of POST /v1beta/models/gemini-2.5-flash:generateContent with this body; it has 1 with another one. serve --record records more."
  )
  expect(recorded).toBe(`${calls}   1 recorded`)
  expect(again).toEqual(first)
})
