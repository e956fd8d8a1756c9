// Tests the admin port: the paths each of the two ports answers, and the keys each accepts (TH23).
// Must not depend on sockets: requests go to the router of each port.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, expect, it } from "vitest"
import { until } from "../../support/eventually.ts"
import { gatewayKey, settingsFor, startGateway } from "../../support/TestGateway.ts"
import { closedPort } from "../../upstream/evilServer.ts"

const adminKey = "mgk_admin000000000000000000000000"
const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }
]

let main: string
let admin: string
let close: () => Promise<void>
beforeAll(async () => {
  admin = await Effect.runPromise(closedPort)
  const settings = settingsFor("http://unused.invalid", { keys })
  const gateway = await startGateway({
    ...settings,
    server: {
      ...settings.server,
      admin: { host: "127.0.0.1", port: Number(new URL(admin).port) },
      console: { hosts: [] }
    }
  })
  main = gateway.url
  close = gateway.close
})
afterAll(() => close())

const asked = async (origin: string, path: string, method = "GET", key = adminKey) => {
  const answer = await fetch(origin + path, { method, headers: { "x-gateway-api-key": key } })
  await answer.text()
  return answer.status
}

const both = async (path: string, method?: string, key?: string) => [
  await asked(main, path, method, key),
  await asked(admin, path, method, key)
]

it.each([
  ["/admin/v1/requests", "GET", [404, 200]],
  ["/admin/v1/requests/unknown", "GET", [404, 404]],
  ["/admin/v1/usage", "GET", [404, 200]],
  ["/admin/v1/usage", "DELETE", [404, 405]],
  ["/admin/v1/keys", "GET", [404, 200]],
  ["/admin/v1/keys/unknown", "DELETE", [404, 404]],
  ["/console", "GET", [404, 200]],
  ["/console/requests", "GET", [404, 200]],
  ["/console/requests", "POST", [404, 405]],
  ["/admin/v1/session", "GET", [404, 200]],
  ["/metrics", "GET", [404, 200]],
  ["/metrics", "POST", [404, 405]],
  ["/docs", "GET", [200, 404]],
  ["/openapi.json", "GET", [200, 404]],
  ["/v1/chat/completions", "GET", [405, 404]],
  ["/health/live", "GET", [200, 200]],
  ["/health/ready", "GET", [200, 200]]
])("admin port: %s by %s (TH23)", async (path, method, statuses) => {
  expect(await both(path, method)).toEqual(statuses)
})

it("admin port: models are called on the main port only, and an inference key is none for operators (TH23)", async () => {
  expect(await both("/v1/models", "GET", gatewayKey)).toEqual([200, 404])
  expect(await both("/admin/v1/usage", "GET", gatewayKey)).toEqual([404, 401])
  expect(await both("/admin/v1/usage", "GET", "mgk_wrong000000000000000000000000")).toEqual([404, 401])
})

it("admin port: requests of the main port are counted on the other (TH23)", async () => {
  const counted = async () => {
    const metrics = await (await fetch(`${admin}/metrics`)).text()
    return metrics
      .split("\n")
      .filter(
        (line) => line.startsWith('gateway_requests_total{route="/v1/models/*",') && line.includes('status_class="2xx"')
      ).length
  }
  await asked(main, "/v1/models", "GET", gatewayKey)
  // A request is counted when it has ended, which its client may see a moment before.
  await until(async () => (await counted()) > 0)
  expect(await counted()).toBe(1)
})

it("admin port: the main port leads no browser to a console (TH23)", async () => {
  const answer = await fetch(main, { headers: { accept: "text/html" }, redirect: "manual" })
  expect([answer.status, await answer.text()]).toEqual([
    200,
    '{"name":"model-gateway","version":"0.1.0","status":"ok","docs":"/docs"}'
  ])
})
