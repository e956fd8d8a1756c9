// Tests the console's sign-in, its sessions, and the routes of its files, through the router (TH30).
// Must not open sockets or a browser.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import type { ConsoleSetting } from "../../src/domain/settings/Settings.ts"
import { KeyInvalid } from "../../src/domain/GatewayError.ts"
import { Gateway } from "../../src/Gateway.ts"
import { WebHandler } from "../../src/http/HttpApi.ts"
import { ConsoleSessions } from "../../src/keys/ConsoleSessions.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { RateCounters } from "../../src/store/Spending.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { gatewayKey, settingsFor } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000"
const code = "c0de".repeat(10)
const origin = "http://127.0.0.1:8787"

const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] as const }
]
const linked: ConsoleSetting = { hosts: ["console.example.com"], code: Redacted.make(code) }

const gateway = (setting: ConsoleSetting | false = linked) => {
  const settings = settingsFor("http://unused.invalid", { keys })
  return Gateway.layerTest({ ...settings, server: { ...settings.server, console: setting } }).pipe(
    Layer.provide(Transport.layerTest(() => ({ status: 500 })))
  )
}

interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const send = (path: string, { body, headers = {}, method = "GET" }: Sent = {}) =>
  Effect.flatMap(WebHandler, (handler) =>
    Effect.promise(() =>
      handler(
        new Request(origin + path, {
          method,
          headers: { host: "127.0.0.1:8787", "x-request-id": "r1", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      )
    )
  )

const own = { origin, "x-gateway-console": "1", "content-type": "application/json" }

const signIn = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send("/admin/v1/session", { method: "POST", body, headers: { ...own, ...headers } })

const textOf = (response: Response) => Effect.promise(async () => [response.status, await response.text()] as const)

/** The cookie of a new session as a browser sends it back. */
const signedIn = (body: unknown) =>
  Effect.map(signIn(body), (response) => ({ cookie: response.headers.get("set-cookie")?.split(";", 1)[0] ?? "" }))

const statusOf = (path: string, sent?: Sent) => Effect.map(send(path, sent), ({ status }) => status)

const problem = (status: number, name: string, detail: string) => ({
  type: `urn:model-gateway:error:${name}`,
  title: name.replaceAll("_", " "),
  status,
  detail,
  instance: "r1"
})

describe("console sign-in", () => {
  it.effect("console sign-in: the link begins one session (TH30)", () =>
    Effect.gen(function* () {
      const first = yield* signIn({ code })
      expect(first.headers.get("set-cookie")).toMatch(
        /^gateway_console_8787=[\w-]{43}; Path=\/admin\/v1; Max-Age=43200; HttpOnly; SameSite=Strict$/
      )
      expect(yield* textOf(first)).toEqual([200, '{"object":"session","key_id":"console","is_open":false}'])
      const again = yield* signIn({ code })
      expect([again.status, again.headers.get("set-cookie"), yield* Effect.promise(() => again.json())]).toEqual([
        401,
        null,
        problem(
          401,
          "console_sign_in_failed",
          "The admin key or the link is not valid; a link is valid once, for ten minutes after the start."
        )
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console sign-in: the link ends after ten minutes (TH30)", () =>
    Effect.gen(function* () {
      yield* send("/admin/v1/session")
      yield* TestClock.adjust("10 minutes")
      expect((yield* signIn({ code })).status).toBe(401)
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console sign-in: an admin key signs in, another key does not (TH30)", () =>
    Effect.gen(function* () {
      expect(yield* textOf(yield* signIn({ key: adminKey }))).toEqual([
        200,
        '{"object":"session","key_id":"ops","is_open":false}'
      ])
      const refused = [{ key: gatewayKey }, { key: "mgk_wrong" }, { code: "wrong" }, {}]
      expect(yield* Effect.forEach(refused, (body) => Effect.map(signIn(body), ({ status }) => status))).toEqual([
        401, 401, 401, 401
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect.each([
    [{ key: 1 }, "It is a text of at most 512 characters."],
    [{ key: adminKey, code }, "Send key or code, not both."],
    [{ password: "x" }, "Only key or code is taken here."]
  ] as const)("console sign-in: refuses a body of another form (TH30) %#", ([body, message]) =>
    Effect.gen(function* () {
      const [status, text] = yield* textOf(yield* signIn(body))
      expect([status, JSON.parse(text)]).toEqual([400, problem(400, "invalid_value", message)])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect(
    "console sign-in: ten failures stop the wrong tries of an address for a minute, and no right one (TH30 TH30b)",
    () =>
      Effect.gen(function* () {
        for (let failed = 0; failed < 10; failed++) yield* signIn({ key: "mgk_wrong" })
        yield* TestClock.adjust("20 seconds")
        const limited = yield* signIn({ key: "mgk_wrong" })
        expect([
          limited.headers.get("retry-after"),
          limited.status,
          yield* Effect.promise(() => limited.json())
        ]).toEqual([
          "40",
          429,
          problem(429, "console_sign_in_limited", "Too many sign-ins failed; wait a minute and try again.")
        ])
        expect((yield* signIn({ key: adminKey })).status).toBe(200)
        yield* TestClock.adjust("40 seconds")
        expect((yield* signIn({ key: "mgk_wrong" })).status).toBe(401)
      }).pipe(Effect.provide(gateway()))
  )

  it.effect("console sign-in: an open console needs no credential, under its own host only (TH30)", () =>
    Effect.gen(function* () {
      expect(yield* textOf(yield* send("/admin/v1/session"))).toEqual([
        200,
        '{"object":"session","key_id":null,"is_open":true}'
      ])
      expect((yield* signIn({})).status).toBe(200)
      const evil = { host: "evil.example", origin: "http://evil.example" }
      expect((yield* signIn({}, evil)).status).toBe(403)
    }).pipe(Effect.provide(gateway({ hosts: [], isOpen: true })))
  )

  it.effect("console sign-in: a session of an open console ends where the console is open no more (TH30)", () =>
    Effect.gen(function* () {
      const keys = yield* GatewayKeys
      const sessions = (isOpen: boolean) =>
        Effect.flatMap(
          Effect.provide(
            ConsoleSessions,
            Layer.provide(ConsoleSessions.layerWith({ hosts: [], isOpen }), RateCounters.layerMemory)
          ),
          Effect.fromNullishOr
        )
      const [open, closed] = [yield* sessions(true), yield* sessions(false)]
      const begun = yield* open.begin({ _tag: "Nothing" }, "")
      expect([(yield* open.find(begun.id)).id, yield* Effect.flip(closed.find(begun.id))]).toEqual([
        "console",
        new KeyInvalid()
      ])
      // A session by a key counts in both.
      const keyed = yield* open.begin({ _tag: "Key", text: adminKey }, "")
      expect(yield* closed.find(keyed.id)).toEqual(yield* keys.find(adminKey))
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console sign-in: the cookie is secure on https (TH30)", () =>
    Effect.gen(function* () {
      const secure = yield* signIn({ code }, { host: "console.example.com", origin: "https://console.example.com" })
      expect(secure.headers.get("set-cookie")).toMatch(
        /^gateway_console=[\w-]{43}; Path=\/admin\/v1; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/
      )
    }).pipe(Effect.provide(gateway()))
  )
})

describe("console session", () => {
  it.effect("console session: reads the admin API until it is signed out (TH30)", () =>
    Effect.gen(function* () {
      const cookie = yield* signedIn({ code })
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(200)
      expect(yield* statusOf("/v1/models", { headers: cookie })).toBe(401)
      const out = yield* send("/admin/v1/session", { method: "DELETE", headers: { ...own, ...cookie } })
      expect([out.status, out.headers.get("set-cookie")]).toEqual([
        204,
        "gateway_console_8787=; Path=/admin/v1; Max-Age=0; HttpOnly; SameSite=Strict"
      ])
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(401)
      expect(yield* textOf(yield* send("/admin/v1/session", { headers: cookie }))).toEqual([
        200,
        '{"object":"session","key_id":null,"is_open":false}'
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console session: ends after twelve hours (TH30)", () =>
    Effect.gen(function* () {
      const cookie = yield* signedIn({ key: adminKey })
      yield* TestClock.adjust("719 minutes")
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(200)
      yield* TestClock.adjust("1 minute")
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(401)
    }).pipe(Effect.provide(gateway()))
  )

  it.effect.each([
    ["rotate", "POST", "/rotate"],
    ["revoke", "DELETE", ""]
  ] as const)("console session: ends when its key is changed by %s (TH30)", ([, method, suffix]) =>
    Effect.gen(function* () {
      const admin = { "x-gateway-api-key": adminKey, "content-type": "application/json" }
      const body = { name: "second", scopes: ["admin"] }
      const made = yield* send("/admin/v1/keys", { method: "POST", headers: admin, body })
      const { id, key } = yield* Effect.promise(() => made.json())
      const cookie = yield* signedIn({ key })
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(200)
      yield* send(`/admin/v1/keys/${id}${suffix}`, { method, headers: admin })
      expect(yield* statusOf("/admin/v1/keys", { headers: cookie })).toBe(401)
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console session: a change is recorded under its key (TH30)", () =>
    Effect.gen(function* () {
      const cookie = yield* signedIn({ code })
      const made = yield* send("/admin/v1/keys", {
        method: "POST",
        headers: { ...own, ...cookie },
        body: { name: "a" }
      })
      expect(made.status).toBe(201)
      const audit = yield* send("/admin/v1/audit", { headers: cookie })
      const { data } = yield* Effect.promise(() => audit.json())
      expect(data.map(({ action, actor }: { actor: string; action: string }) => [actor, action])).toEqual([
        ["console", "create"]
      ])
    }).pipe(Effect.provide(gateway()))
  )

  const foreign = problem(403, "console_origin_refused", "The console takes requests of its own page only.")
  const unnamed = problem(
    403,
    "console_host_refused",
    "The console is not used under this host name; list the name in server.console_hosts."
  )
  const bare = problem(
    403,
    "console_header_refused",
    "A change by a console session needs the header x-gateway-console."
  )
  it.effect.each([
    [{ ...own, origin: "http://evil.example" }, foreign],
    [{ ...own, origin: "http://127.0.0.1:3000" }, foreign],
    [{ ...own, origin: "null" }, foreign],
    [{ "x-gateway-console": "1", "content-type": "application/json" }, foreign],
    [{ ...own, "sec-fetch-site": "same-site" }, foreign],
    [{ origin, "content-type": "application/json" }, bare],
    [{ ...own, host: "evil.example:8787", origin: "http://evil.example:8787" }, unnamed]
  ] as const)("console session: changes nothing for a page of another origin (TH30) %#", ([headers, expected]) =>
    Effect.gen(function* () {
      const { cookie } = yield* signedIn({ code })
      const refused = yield* send("/admin/v1/keys", {
        method: "POST",
        headers: { ...headers, cookie },
        body: { name: "a" }
      })
      expect([refused.status, yield* Effect.promise(() => refused.json())]).toEqual([403, expected])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect.each([
    ["localhost:8787", 200],
    ["app.localhost:8787", 200],
    ["[::1]:8787", 200],
    ["10.0.0.7:8787", 200],
    ["console.example.com", 200],
    ["example.com", 403],
    ["console.example.com.evil.example", 403],
    ["127.0.0.1.evil.example:8787", 403],
    ["", 403]
  ] as const)("console session: takes the host %s by the list (TH30)", ([host, status]) =>
    Effect.gen(function* () {
      expect(yield* statusOf("/admin/v1/session", { headers: { host } })).toBe(status)
    }).pipe(Effect.provide(gateway()))
  )
})

describe("console files", () => {
  const headersOf = (response: Response, ...names: ReadonlyArray<string>) =>
    names.map((name) => response.headers.get(name))

  /** The page with its relative addresses as a browser resolves them. */
  const resolved = (html: string, path: string): string =>
    html.replaceAll(
      / (href|src)="(\.[^"]*)"/g,
      (_, name, address) => ` ${name}="${new URL(address, origin + path).pathname}"`
    )

  it.effect("console files: every page is the same document, which runs its own files only (TH30)", () =>
    Effect.gen(function* () {
      const [first, ...others] = yield* Effect.forEach(
        ["/console", "/console/", "/console/requests", "/console/requests/id?status=500"],
        (path) =>
          Effect.flatMap(send(path), (answer) =>
            Effect.map(textOf(answer), ([status, html]) => [status, resolved(html, path)])
          )
      )
      expect(String(first?.[1])).toContain(' src="/console/assets/')
      expect(others).toEqual([first, first, first])
      const page = yield* send("/console/")
      expect(headersOf(page, "content-security-policy", "cache-control", "x-content-type-options")).toEqual([
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        "no-cache",
        "nosniff"
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console files: are compressed, cached by digest, and at most 70 KB together", () =>
    Effect.gen(function* () {
      const html = resolved((yield* textOf(yield* send("/console/")))[1], "/console/")
      const assets = [...html.matchAll(/"(\/console\/assets\/[\w.-]+)"/g)].map(([, path = ""]) => path)
      expect(assets.map((path) => path.replace(/-[\w-]{12}\./, "-DIGEST."))).toEqual([
        "/console/assets/console-DIGEST.css",
        "/console/assets/console-DIGEST.js"
      ])
      let bytes = 0
      for (const path of assets) {
        const zipped = yield* send(path, { headers: { "accept-encoding": "gzip" } })
        bytes += (yield* Effect.promise(() => zipped.arrayBuffer())).byteLength
        expect(headersOf(zipped, "content-encoding", "cache-control")).toEqual([
          "gzip",
          "public, max-age=31536000, immutable"
        ])
        const etag = zipped.headers.get("etag") ?? ""
        expect(yield* textOf(yield* send(path, { headers: { "if-none-match": etag } }))).toEqual([304, ""])
      }
      expect(bytes).toBeLessThan(70_000)
      expect(yield* statusOf("/console/assets/unknown.js")).toBe(404)
      expect(yield* statusOf("/console/", { method: "POST" })).toBe(405)
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console files: `/` leads a browser there, and answers other clients as before (N1201)", () =>
    Effect.gen(function* () {
      const browser = yield* send("/", { headers: { accept: "text/html,application/xhtml+xml" } })
      expect([browser.status, ...headersOf(browser, "location", "vary")]).toEqual([303, "/console/", "accept"])
      expect(yield* textOf(yield* send("/", { headers: { accept: "*/*" } }))).toEqual([
        200,
        '{"name":"model-gateway","version":"0.1.0","status":"ok","docs":"/docs"}'
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("console files: without a console there are neither pages nor sessions", () =>
    Effect.gen(function* () {
      const statuses = yield* Effect.forEach(["/console", "/console/requests", "/admin/v1/session", "/"], (path) =>
        statusOf(path, { headers: { accept: "text/html" } })
      )
      expect(statuses).toEqual([404, 404, 404, 200])
      expect((yield* signIn({ key: adminKey })).status).toBe(404)
    }).pipe(Effect.provide(gateway(false)))
  )
})

describe("pages without a key", () => {
  const evil = { host: "evil.example:8787" }
  const german = { "accept-language": "de" }
  const reads: ReadonlyArray<readonly [who: string, headers: Readonly<Record<string, string>>, status: number]> = [
    ["Prometheus by address", {}, 200],
    ["Prometheus by the name of a service", { host: "gateway.monitoring.svc:8787" }, 200],
    ["a browser by address", german, 200],
    ["a browser by address of IPv6", { host: "[::1]:8787", ...german }, 200],
    ["a browser at this machine", { host: "localhost:8787", ...german, "sec-fetch-site": "none" }, 200],
    ["a browser by a name of the settings", { host: "console.example.com", ...german }, 200],
    ["a page of a rebound name", { ...evil, ...german }, 403],
    ["a page of a rebound name that hides its language", { ...evil, "accept-language": "" }, 403],
    ["a page of a rebound name with its origin", { ...evil, origin: "http://evil.example:8787" }, 403],
    ["a page of another origin", { origin: "http://evil.example" }, 403],
    ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a page without a host name", { host: "", ...german }, 403]
  ]

  it.effect.each(reads)("metrics: %s (TH39)", ([, headers, status]) =>
    Effect.gen(function* () {
      const answer = yield* send("/metrics", { headers })
      expect(answer.status).toBe(status)
      const text = yield* Effect.promise(() => answer.text())
      if (status === 200) return expect(text).toContain("# TYPE ")
      const isOrigin = headers["host"] === undefined
      expect(JSON.parse(text)).toEqual({
        error: {
          message: isOrigin
            ? "Pages of another origin do not read this."
            : "Browsers do not read this under this host name, which could be made to point here; use an address, or list the name in server.console_hosts.",
          type: "permission_error",
          param: null,
          code: "foreign_page_refused"
        }
      })
    }).pipe(Effect.provide(gateway()))
  )

  it.effect.each(reads)("readiness: %s (TH39)", ([, headers, status]) =>
    Effect.gen(function* () {
      const answer = yield* send("/health/ready", { headers })
      const body = yield* Effect.promise(() => answer.json())
      expect([answer.status, Object.keys(body)]).toEqual([
        200,
        status === 200 ? ["status", "checks", "version"] : ["status"]
      ])
    }).pipe(Effect.provide(gateway()))
  )

  it.effect("metrics: without a console browsers read them by address only (TH39)", () =>
    Effect.gen(function* () {
      const at = (host: string) => statusOf("/metrics", { headers: { host, ...german } })
      expect([yield* at("127.0.0.1:8787"), yield* at("console.example.com")]).toEqual([200, 403])
    }).pipe(Effect.provide(gateway(false)))
  )
})
