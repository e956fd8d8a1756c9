// Tests GET /admin/v1/requests/events: what its events have, when they are sent, and when the stream ends.
// Must not depend on how requests are kept.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it as plainIt } from "vitest"
import { defaultLimits, type LimitValues } from "../../../src/domain/Limits.ts"
import type { RequestRow } from "../../../src/domain/RequestRow.ts"
import { Gateway } from "../../../src/Gateway.ts"
import { WebHandler } from "../../../src/http/HttpApi.ts"
import { UsageLog } from "../../../src/keys/UsageLog.ts"
import { Transport } from "../../../src/upstream/Transport.ts"
import { processPatienceMillis, until } from "../../support/eventually.ts"
import { gatewayKey, settingsFor, startGateway } from "../../support/TestGateway.ts"
import { type RowFacts, rowOf } from "../../support/requestRows.ts"

const adminKey = "mgk_admin000000000000000000000000"
const origin = "http://127.0.0.1:8787"
const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }
]
const settings = settingsFor("http://unused.invalid", { keys })
const served = Gateway.layerTest({
  ...settings,
  limits: { ...defaultLimits, pingMillis: 1000 },
  server: { ...settings.server, console: { hosts: [] } },
  usageMetadata: ["team"]
}).pipe(Layer.provide(Transport.layerTest(() => ({ status: 500 }))))

const row = (id: string, more: Partial<RowFacts> = {}): RequestRow =>
  rowOf({
    endedMillis: Date.parse("2027-01-31T12:00:00Z"),
    requestId: id,
    traceId: "t",
    route: "/v1/chat/completions",
    status: 200,
    provider: "google",
    model: "m",
    target: 0,
    attempts: [],
    stream: false,
    cache: undefined,
    durationMillis: 1,
    ttftMillis: undefined,
    overheadMillis: 1,
    usage: undefined,
    costMicros: undefined,
    keyId: "test",
    errorCode: undefined,
    ...more
  })
const shown = (id: string, more: object = {}) => ({
  object: "request",
  id,
  request_id: id,
  trace_id: "t",
  ts: "2027-01-31T12:00:00.000Z",
  route: "/v1/chat/completions",
  status: 200,
  provider: "google",
  model: "m",
  target: 0,
  stream: false,
  duration_ms: 1,
  overhead_ms: 1,
  key_id: "test",
  attempts: [],
  ...more
})

const send = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(WebHandler, (handler) => Effect.promise(() => handler(new Request(origin + path, init))))

const admin = { "x-gateway-api-key": adminKey }

/** The stream of a query: each read has the next frame; undefined at the end. */
const opened = (query = "", headers: Record<string, string> = admin) =>
  Effect.map(send(`/admin/v1/requests/events${query}`, { headers }), (response) => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    return {
      response,
      next: Effect.promise(async () => (await reader?.read())?.value),
      close: Effect.promise(async () => reader?.cancel())
    }
  })

/** The data of a frame, whose event has this name. */
const dataOf = (text: string | undefined): unknown =>
  JSON.parse(/^event: requests\ndata: (.*)\n\n$/.exec(text ?? "")?.[1] ?? "null")

const event = (data: ReadonlyArray<object>, skipped = 0) => ({ object: "request_event", data, skipped })

describe("request events", () => {
  it.effect("request events: have the requests of half a second together, the newest first", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      log.append(row("before"), "m")
      const { close, next, response } = yield* opened()
      expect([
        response.status,
        ...["content-type", "cache-control", "x-accel-buffering"].map((name) => response.headers.get(name))
      ]).toEqual([200, "text/event-stream; charset=utf-8", "no-cache, no-transform", "no"])
      expect(yield* next).toBe(": ping\n\n")
      log.append(row("a"), "m")
      log.append(row("b", { status: 503, errorCode: "x" }), "m")
      yield* TestClock.adjust(500)
      expect(dataOf(yield* next)).toEqual(event([shown("b", { status: 503, error_code: "x" }), shown("a")]))
      log.append(row("c"), "m")
      yield* TestClock.adjust(500)
      expect(dataOf(yield* next)).toEqual(event([shown("c")]))
      yield* close
    }).pipe(Effect.provide(served))
  )

  it.effect("request events: pass the filters of the list, and count what exceeds the limit", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      const { close, next } = yield* opened("?metadata.team=red&limit=2")
      yield* next
      log.append(row("a", { metadata: { team: "red" } }), "m")
      log.append(row("b", { metadata: { team: "red" } }), "m")
      log.append(row("c"), "m")
      yield* TestClock.adjust(500)
      expect(dataOf(yield* next)).toEqual(event([shown("b", { metadata: { team: "red" } })], 1))
      yield* close
    }).pipe(Effect.provide(served))
  )

  it.effect("request events: a silent stream has a ping after the time of a ping", () =>
    Effect.gen(function* () {
      const { close, next } = yield* opened("?status=404")
      yield* next
      ;(yield* UsageLog).append(row("a"), "m")
      yield* TestClock.adjust(1000)
      expect(yield* next).toBe(": ping\n\n")
      yield* close
    }).pipe(Effect.provide(served))
  )

  it.effect("request events: end with the console session (TH30)", () =>
    Effect.gen(function* () {
      const own = { host: "127.0.0.1:8787", origin, "x-gateway-console": "1", "content-type": "application/json" }
      const signedIn = yield* send("/admin/v1/session", {
        method: "POST",
        headers: own,
        body: JSON.stringify({ key: adminKey })
      })
      const cookie = signedIn.headers.get("set-cookie")?.split(";", 1)[0] ?? ""
      const { next } = yield* opened("", { host: "127.0.0.1:8787", cookie })
      expect(yield* next).toBe(": ping\n\n")
      yield* send("/admin/v1/session", { method: "DELETE", headers: { ...own, cookie } })
      yield* TestClock.adjust(500)
      expect(yield* next).toBe(undefined)
    }).pipe(Effect.provide(served))
  )

  it.effect.each([
    ["", { "x-gateway-api-key": gatewayKey }, 401, "invalid_gateway_key"],
    ["", { cookie: "gateway_console_8787=x", host: "127.0.0.1:8787" }, 401, "missing_gateway_key"],
    ["?cursor=1", admin, 400, "invalid_value"],
    ["?stat=200", admin, 400, "invalid_value"]
  ] as const)("request events: refuse a reader as the list does (%#)", ([query, headers, status, code]) =>
    Effect.gen(function* () {
      const response = yield* send(`/admin/v1/requests/events${query}`, { headers })
      const { type } = yield* Effect.promise(() => response.json())
      expect([response.status, type]).toEqual([status, `urn:model-gateway:error:${code}`])
    }).pipe(Effect.provide(served))
  )
})

describe("request events on a socket", () => {
  const started = (limits: Partial<LimitValues> = {}) =>
    startGateway({ ...settings, limits: { ...defaultLimits, readyDelayMillis: 0, ...limits } })
  const open = (url: string, init: RequestInit = {}) =>
    fetch(`${url}/admin/v1/requests/events`, { headers: admin, ...init })

  plainIt("request events: end when the gateway stops, which does not wait for their reader", async () => {
    const gateway = await started()
    const text = (await open(gateway.url)).text()
    await gateway.close()
    expect(await text).toBe(": ping\n\n")
  })

  plainIt("request events: a reader that leaves frees its slot", { timeout: processPatienceMillis }, async () => {
    const gateway = await started({ adminInFlight: 1 })
    const leaving = new AbortController()
    const { body } = await open(gateway.url, { signal: leaving.signal })
    await body?.getReader().read()
    const head = () => open(gateway.url, { method: "HEAD" })
    expect((await head()).status).toBe(429)
    leaving.abort()
    await until(async () => (await head()).status === 200)
    await gateway.close()
  })
})
