// Tests the settings of the console, and the link that `serve` and `demo` print.
// Must not start a process.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { Flags } from "../../src/cli/settings/environment.ts"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { startCommand } from "../support/commandLine.ts"

const read = (file: Json, env: Record<string, string> = {}, flags: Flags = {}) =>
  readSettings({ file, env, flags, fileText: () => Result.fail("no file") })

const consoleOf = (file: Json, env?: Record<string, string>, flags?: Flags) =>
  Result.getOrThrow(read(file, env, flags)).server.console

describe("console settings", () => {
  it.each([
    [null, {}, {}, undefined],
    [{ server: { console: true } }, {}, {}, undefined],
    [{ server: { console: false } }, {}, {}, false],
    [{ server: { console: false } }, { GATEWAY_SERVER_CONSOLE: "true" }, {}, undefined],
    [null, { GATEWAY_SERVER_CONSOLE: "false" }, {}, false],
    [{ server: { console: true } }, {}, { console: false } as const, false],
    [{ server: { console_hosts: ["a.example.com"] } }, {}, {}, { hosts: ["a.example.com"] }],
    [
      null,
      { GATEWAY_SERVER_CONSOLE_HOSTS: "a.example.com, b.example.com" },
      {},
      { hosts: ["a.example.com", "b.example.com"] }
    ]
  ])("console settings: file, variable and flag (%#)", (file, env, flags, expected) => {
    expect(consoleOf(file, env, flags)).toEqual(expected)
  })

  it.each(["https://a.example.com", "a.example.com:8787", "A.example.com", "*", "a b"])(
    "console settings: %s is no host name",
    (host) => {
      expect(read({ server: { console_hosts: [host] } })).toEqual(
        Result.fail([
          {
            path: "server.console_hosts[0]",
            at: ["server", "console_hosts", 0],
            message: `"${host}" is not a host name in lower case without a port, such as gateway.example.com`
          }
        ])
      )
    }
  )
})

const env = { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GATEWAY_LOG_FORMAT: "off" }

const signIn = (origin: string, body: unknown) =>
  fetch(`${origin}/admin/v1/session`, {
    method: "POST",
    headers: { origin, "x-gateway-console": "1", "content-type": "application/json" },
    body: JSON.stringify(body)
  })

describe("console link", () => {
  it("console link: serve prints a link that signs in (TH30)", async () => {
    const running = startCommand(["serve", "--port", "0"], env, { files: {} })
    const [, origin = "", code = ""] = await running.said(
      /Console {2}(http:\S+)\/console\/#code=([\w-]{43}) {3}valid once, for 10 minutes/
    )
    expect([(await signIn(origin, {})).status, (await signIn(origin, { code })).status]).toEqual([401, 200])
    expect((await running.stop()).code).toBe(0)
  })

  it("console link: serve --no-console has no console", async () => {
    const running = startCommand(["serve", "--port", "0", "--no-console"], env, { files: {} })
    const [, origin = ""] = await running.said(/API {6}(http:\S+)\/v1/)
    expect([(await fetch(`${origin}/console`)).status, (await signIn(origin, {})).status]).toEqual([404, 404])
    const { err } = await running.stop()
    expect(err.includes("Console")).toBe(false)
  })

  it("console link: the demo signs in by itself on loopback (TH30)", async () => {
    const running = startCommand(["demo", "--port", "0"])
    const [, origin = ""] = await running.said(/Console {2}(http:\S+)\/console\/\n/)
    expect((await signIn(origin, {})).status).toBe(200)
    expect((await running.stop()).code).toBe(0)
  })

  it("console link: the demo on every address needs its link (TH30)", async () => {
    const running = startCommand(["demo", "--port", "0", "--host", "0.0.0.0"])
    const [, origin = "", code = ""] = await running.said(/Console {2}(http:\S+)\/console\/#code=([\w-]{43})/)
    expect([(await signIn(origin, {})).status, (await signIn(origin, { code })).status]).toEqual([401, 200])
    expect((await running.stop()).code).toBe(0)
  })
})
