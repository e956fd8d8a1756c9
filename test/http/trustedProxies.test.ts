// Tests what a gateway believes of X-Forwarded-For and X-Forwarded-Proto: by values, and by sign-ins over real sockets.
// Must not depend on how sign-ins are counted.
import * as Redacted from "effect/Redacted"
import { expect, it, onTestFinished } from "vitest"
import { clientReader } from "../../src/http/node/Proxied.ts"
import { startPathProxy } from "../support/pathProxy.ts"
import { gatewayKey, settingsFor, startGateway } from "../support/TestGateway.ts"

const trusted = ["10.0.0.0/8", "192.0.2.7", "fd00::/8"]

it.each([
  ["an untrusted peer's header", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["no header", "10.1.2.3", undefined, "10.1.2.3"],
  ["an empty header", "10.1.2.3", "", "10.1.2.3"],
  ["one client", "10.1.2.3", "203.0.113.9", "203.0.113.9"],
  ["a client that invents an address", "10.1.2.3", "198.51.100.1, 203.0.113.9", "203.0.113.9"],
  ["a client that invents a trusted address", "10.1.2.3", "10.9.9.9, 203.0.113.9", "203.0.113.9"],
  ["two proxies", "10.1.2.3", "203.0.113.9, 192.0.2.7", "203.0.113.9"],
  ["a client of a trusted network", "10.1.2.3", "10.4.4.4", "10.4.4.4"],
  ["a text that is no address", "10.1.2.3", "203.0.113.9, unknown", "10.1.2.3"],
  ["a text that is no address after a proxy", "10.1.2.3", "203.0.113.9, _hidden, 10.5.5.5", "10.5.5.5"],
  ["an address with a port", "10.1.2.3", "203.0.113.9:4711", "203.0.113.9"],
  ["IPv6", "fd00::1", "2001:db8::9", "2001:db8::9"],
  ["IPv6 in brackets with a port", "fd00::1", "[2001:db8::9]:4711", "2001:db8::9"],
  ["IPv4 in IPv6", "::ffff:10.1.2.3", "::ffff:203.0.113.9", "203.0.113.9"],
  ["an untrusted peer in IPv6", "::ffff:203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["no connection", "", "203.0.113.9", ""]
])("trusted proxies: the client of %s (K23)", (_title, remoteAddress, header, address) => {
  const headers = header === undefined ? {} : { "x-forwarded-for": header }
  expect(clientReader(trusted)({ remoteAddress, headers })).toEqual({ address, isSecure: false })
})

it.each([
  [trusted, "10.1.2.3", "https", true],
  [trusted, "10.1.2.3", "http, HTTPS", true],
  [trusted, "10.1.2.3", "https, http", false],
  [trusted, "10.1.2.3", "wss", false],
  [trusted, "203.0.113.9", "https", false],
  [[], "127.0.0.1", "https", false],
  [[], "", "https", false]
])("trusted proxies: the scheme by %j from %s is %s (K23)", (proxies, remoteAddress, scheme, isSecure) => {
  const read = clientReader(proxies)({ remoteAddress, headers: { "x-forwarded-proto": scheme } })
  expect(read).toEqual({ address: remoteAddress, isSecure })
})

const adminKey = "mgk_admin000000000000000000000000"
const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }
]

/** Signs in through a proxy that adds the headers. */
const start = async (trustedProxies: ReadonlyArray<string>) => {
  const settings = settingsFor("http://unused.invalid", { keys })
  const gateway = await startGateway({
    ...settings,
    server: { ...settings.server, trustedProxies, console: { hosts: [] } }
  })
  onTestFinished(() => gateway.close())
  return async (client: string, key: string) => {
    const proxy = await startPathProxy(gateway.url, {
      prefix: "/",
      headers: { "x-forwarded-for": client, "x-forwarded-proto": "https" }
    })
    const response = await fetch(`${proxy.url}/admin/v1/session`, {
      method: "POST",
      headers: { origin: proxy.url, "x-gateway-console": "1", "content-type": "application/json" },
      body: JSON.stringify({ key })
    })
    await response.text()
    await proxy.close()
    return { status: response.status, cookie: response.headers.get("set-cookie") ?? "" }
  }
}

it.each([
  [["127.0.0.0/8"], 401, true],
  [[], 429, false]
])(
  "trusted proxies: wrong sign-ins count by client, and the cookie is for HTTPS, where the proxy is in %j (K23)",
  async (trustedProxies, status, isSecure) => {
    const signIn = await start(trustedProxies)
    const first = "203.0.113.1"
    const statuses: Array<number> = []
    for (let tries = 0; tries < 11; tries++)
      statuses.push((await signIn(first, "mgk_wrong0000000000000000000000")).status)
    expect([...new Set(statuses.slice(0, 10)), statuses[10]]).toEqual([401, 429])
    expect((await signIn("203.0.113.2", "mgk_wrong0000000000000000000000")).status).toBe(status)
    const { cookie } = await signIn(first, adminKey)
    expect([cookie.startsWith("gateway_console"), cookie.endsWith("; Secure")]).toEqual([true, isSecure])
  }
)
