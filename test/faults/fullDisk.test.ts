// Tests a full disk through the service (F32): requests are served, readiness has the reason, two log lines in all.
// Must not depend on how the store keeps its records.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { afterEach, expect, it } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { randomMasterText } from "../../src/store/Encryption.ts"
import * as Store from "../../src/store/Store.ts"
import { until } from "../support/eventually.ts"
import { gatewayKey, geminiKey, settingsFor, startGateway } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000000"
const closing: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const full = {
  type: "urn:model-gateway:error:storage_unavailable",
  title: "storage unavailable",
  status: 507,
  detail:
    "The gateway's store is full or cannot be written; what was there before is unchanged. An operator has to make room.",
  instance: "r1"
}

const state = (status: string, store: string, messages?: Readonly<Record<string, string>>) => [
  200,
  { status, checks: { config: "ok", store }, ...(messages === undefined ? {} : { messages }), version: "0.1.0" }
]
const fullMessage =
  "The disk of the store is full: reads answer, changes are refused and rows of requests wait in memory. Make room; no restart is needed."

/** A gateway on a SQLite file, the connection of its store, and its log lines. */
const start = async () => {
  const directory = mkdtempSync(join(tmpdir(), "gateway-full-"))
  closing.push(() => rmSync(directory, { recursive: true, force: true }))
  const store = {
    location: { kind: "sqlite" as const, path: join(directory, "gateway.db") },
    secretKeys: [Redacted.make(randomMasterText())],
    keyFile: join(directory, "key")
  }
  const upstream = await makeSimulator({ geminiApiKeys: [geminiKey] }).listen()
  closing.push(upstream.close)
  const scope = await Effect.runPromise(Scope.make())
  closing.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const services = await Effect.runPromise(Layer.buildWithScope(Store.layerOf(store), scope))
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (String(message).startsWith("store: ")) lines.push(`${logLevel} ${String(message)}`)
  })
  const keys = [
    { name: "test", key: Redacted.make(gatewayKey) },
    { name: "boss", key: Redacted.make(adminKey), scopes: ["admin" as const] }
  ]
  const settings = { ...settingsFor(upstream.url, { keys, limits: { refreshMillis: 10 } }), store }
  const gateway = await startGateway(settings, Layer.merge(Logger.layer([logger]), Layer.succeedContext(services)))
  closing.push(gateway.close)
  return { url: gateway.url, sql: Context.get(services, SqlClient.SqlClient), lines }
}

it("full disk: requests are served, readiness has the reason, and each change of state is one line (F32)", async () => {
  const { lines, sql, url } = await start()
  const pages = (most: number) => Effect.runPromise(sql.unsafe(`PRAGMA max_page_count = ${most}`))
  const send = async (key: string, path: string, body: unknown) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": key, "x-request-id": "r1" },
      body: JSON.stringify(body)
    })
    return [answer.status, await answer.json()] as const
  }
  const chat = async () =>
    (
      await send(gatewayKey, "/v1/chat/completions", {
        model: "@google/gemini-2.5-flash",
        messages: [{ role: "user", content: "Hi" }]
      })
    )[0]
  const create = (id: string) =>
    send(adminKey, "/admin/v1/configs", { id, config: { override_params: { user: "x".repeat(100_000) } } })
  const health = async () => {
    const answer = await fetch(`${url}/health/ready`)
    return [answer.status, await answer.json()]
  }
  const read = async (path: string) =>
    (await fetch(`${url}/admin/v1/${path}`, { headers: { "x-gateway-api-key": adminKey } })).status
  const reads = () => read("configs")

  expect(await health()).toEqual(state("ok", "ok"))
  const [{ page_count: count } = { page_count: 0 }] = await Effect.runPromise(
    sql<{ readonly page_count: number }>`PRAGMA page_count`
  )
  await pages(count)
  for (let n = 0; n < 20; n++) {
    expect(await create(`c${n}`)).toEqual([507, full])
    expect([await chat(), await reads()]).toEqual([200, 200])
  }
  expect(await health()).toEqual(state("degraded", "disk_full", { store: fullMessage }))
  expect(await Promise.all(["requests", "usage?group_by=key"].map(read))).toEqual([200, 200])
  const refused = "Error store: it takes no writes (disk_full): database or disk is full"
  expect(lines).toEqual([refused])

  await pages(100_000)
  expect((await create("c"))[0]).toBe(201)
  await until(async () => JSON.stringify(await health()) === JSON.stringify(state("ok", "ok")))
  expect(lines).toEqual([refused, "Info store: it takes writes again"])
})
