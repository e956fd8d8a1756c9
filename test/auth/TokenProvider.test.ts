// Tests access tokens: exchanged once, cached, renewed early, and the failures of the exchange.
// Must not reach the network: the token endpoint is scripted or simulated.
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { gaxios, JWT } from "google-auth-library"
import { createVerify } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TokenProvider } from "../../src/auth/TokenProvider.ts"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import type { Reason } from "../../src/domain/ProviderError.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { type ScriptedResponse, Transport, type TransportScript } from "../../src/upstream/Transport.ts"
import { until } from "../support/eventually.ts"
import { account, keyA, keyB, keyFile, keyOf } from "./keys.ts"

const seconds = 1_000
const minutes = 60 * seconds

const json = (status: number, body: unknown): ScriptedResponse => ({ status, chunks: [JSON.stringify(body)] })
const token = (n: number, expires_in: unknown = 3_600) =>
  json(200, { access_token: `token-${n}`, expires_in, token_type: "Bearer" })

interface Endpoint {
  readonly calls: Array<TransportRequest>
  answer: (n: number, request: TransportRequest) => ReturnType<TransportScript>
}
const endpoint = (answer: Endpoint["answer"] = (n) => token(n)): Endpoint => ({ calls: [], answer })

const withTokens = (
  at: Endpoint,
  options: Parameters<typeof TokenProvider.layerWith>[0] = {},
  limits = defaultLimits
) =>
  TokenProvider.layerWith(options).pipe(
    Layer.provide(
      Transport.layerTest((request) => {
        at.calls.push(request)
        return at.answer(at.calls.length, request)
      })
    ),
    Layer.provide(Layer.succeed(Limits, limits))
  )

const bearer = (of: ProviderAccount) =>
  Effect.map(
    Effect.flatMap(TokenProvider, (tokens) => tokens.authorization(of)),
    (headers) =>
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${Redacted.value(value)}`)
        .join()
  )

const refusal = (of: ProviderAccount): Effect.Effect<Reason, string, TokenProvider> =>
  Effect.map(Effect.flip(bearer(of)), (error) => error.reason)

const refresh = (of: ProviderAccount) => Effect.flatMap(TokenProvider, (tokens) => tokens.refresh(of))

/** Lets forked work and signing come to an end; the test clock stands still meanwhile. */
const settled = (done: () => boolean) => Effect.promise(() => until(done))

const claimsOf = (request: TransportRequest | undefined) => {
  const form = new URLSearchParams(String(request?.body))
  const [head = "", body = "", signature = ""] = (form.get("assertion") ?? "").split(".")
  const decode = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString())
  return {
    grant: form.get("grant_type"),
    header: decode(head),
    claims: decode(body),
    signed: createVerify("RSA-SHA256").update(`${head}.${body}`).verify(keyA.publicPem, signature, "base64url")
  }
}

describe("credential headers", () => {
  const plain = endpoint()
  it.effect("credential headers: keys and tokens are sent unchanged, and cannot be renewed (T2201, T2202)", () =>
    Effect.gen(function* () {
      const key = account({ kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make("AIza-key") } })
      const access = account({ credentials: { _tag: "AccessToken", token: Redacted.make("ya29.x") } })
      expect([yield* bearer(key), yield* bearer(access)]).toEqual([
        "x-goog-api-key: AIza-key",
        "authorization: Bearer ya29.x"
      ])
      expect([yield* refresh(key), yield* refresh(access)]).toEqual([false, false])
      expect(plain.calls.length).toBe(0)
    }).pipe(Effect.provide(withTokens(plain)))
  )
})

describe("token exchange of service accounts", () => {
  const first = endpoint()
  it.effect("token exchange: sends RS256, kid, claims and grant, and ignores the key's token_uri (T2204)", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_500)
      expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
      const { body: _, ...request } = first.calls[0] ?? {}
      expect(request).toEqual({
        method: "POST",
        url: "https://oauth2.googleapis.com/token",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        auth: {},
        connectMillis: 5_000,
        firstByteMillis: 5_000,
        idleMillis: 5_000,
        totalMillis: 5_000
      })
      expect(claimsOf(first.calls[0])).toEqual({
        grant: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        header: { alg: "RS256", typ: "JWT", kid: "0123456789abcdef" },
        claims: {
          iss: "robot@sim-project.iam.gserviceaccount.com",
          sub: "robot@sim-project.iam.gserviceaccount.com",
          aud: "https://oauth2.googleapis.com/token",
          scope: "https://www.googleapis.com/auth/cloud-platform",
          iat: 1_699_999_970,
          exp: 1_700_003_570
        },
        signed: true
      })
    }).pipe(Effect.provide(withTokens(first)))
  )

  const compared = endpoint()
  it.live(
    "token exchange: claims, lifetime and grant equal google-auth-library's, with kid, typ and sub added (T2204)",
    () =>
      Effect.gen(function* () {
        yield* bearer(account())
        const bodies: Array<string> = []
        const client = new JWT({
          email: keyFile().client_email,
          key: keyA.privatePem,
          keyId: keyFile().private_key_id,
          scopes: ["https://www.googleapis.com/auth/cloud-platform"],
          transporter: new gaxios.Gaxios({
            fetchImplementation: (_, init) => {
              bodies.push(String(init?.body))
              return Promise.resolve(Response.json({ access_token: "x", expires_in: 3_600 }))
            }
          })
        })
        yield* Effect.promise(() => client.authorize())
        const ours = compared.calls[0]
        if (ours === undefined) throw new Error("no exchange")
        const dateless = (request: TransportRequest) => {
          const { grant, header, claims, signed } = claimsOf(request)
          const { iat, exp, sub: _sub, ...rest } = Object(claims)
          return { grant, alg: Object(header).alg, rest, signed, life: exp - iat }
        }
        expect(dateless(ours)).toEqual(dateless({ ...ours, body: bodies[0] }))
      }).pipe(Effect.provide(withTokens(compared)))
  )

  const moved = endpoint()
  it.effect("token exchange: an operator's token_url replaces the URL; the audience stays Google's", () =>
    Effect.gen(function* () {
      yield* bearer(account({ token_url: "http://127.0.0.1:1/token" }))
      expect(moved.calls[0]?.url).toBe("http://127.0.0.1:1/token")
      expect(Object(claimsOf(moved.calls[0]).claims).aud).toBe("https://oauth2.googleapis.com/token")
    }).pipe(Effect.provide(withTokens(moved)))
  )

  const simulator = makeSimulator({
    geminiApiKeys: [],
    serviceAccounts: [
      {
        clientEmail: keyFile().client_email,
        privateKeyId: keyFile().private_key_id,
        publicKeyPem: keyA.publicPem,
        projectId: "sim-project"
      }
    ]
  })
  it.live(
    "token exchange: over a socket the simulated endpoint accepts the key, and refuses another with the same names (TH3)",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => simulator.listen()),
          (made) => Effect.promise(made.close)
        )
        const good = account({ token_url: `${server.url}/token` })
        const bad = account({ ...good, credentials: { _tag: "ServiceAccount", key: keyOf(keyB.privatePem) } })
        const header = yield* bearer(good)
        expect(header).toMatch(/^authorization: Bearer ya29\.c\.[\w-]{43}$/)
        expect(yield* bearer(good)).toBe(header)
        expect(yield* refusal(bad)).toEqual({
          _tag: "CredentialsRejected",
          origin: "stored",
          message: "The token endpoint refused the credential (invalid_grant: Invalid JWT Signature.).",
          upstreamCode: "invalid_grant"
        })
        expect(simulator.counters.tokenExchanges).toBe(2)
      }).pipe(Effect.provide(TokenProvider.layer.pipe(Layer.provide(Transport.layer))))
  )
})

describe("token cache", () => {
  it.effect("token cache: each exchange is counted, and a cached token is not", () => {
    const at = endpoint((n) => (n === 1 ? json(400, { error: "invalid_grant" }) : token(n)))
    return Effect.gen(function* () {
      yield* Effect.exit(bearer(account()))
      yield* TestClock.adjust(31 * seconds)
      yield* bearer(account())
      yield* bearer(account())
      const counted = (yield* Metric.snapshot).map(({ attributes, id, state }) => [id, attributes, state])
      expect(counted).toEqual([
        [
          "gateway_token_refresh_total",
          { provider: account().slug, result: "failed" },
          { count: 1, incremental: true }
        ],
        ["gateway_token_refresh_timestamp_seconds", { provider: account().slug, result: "failed" }, { value: 0 }],
        ["gateway_token_refresh_total", { provider: account().slug, result: "ok" }, { count: 1, incremental: true }],
        ["gateway_token_refresh_timestamp_seconds", { provider: account().slug, result: "ok" }, { value: 31 }]
      ])
    }).pipe(Effect.provide(withTokens(at)), Effect.provideService(Metric.MetricRegistry, new Map()))
  })

  const many = endpoint((n) => Effect.delay(Effect.succeed(token(n)), Duration.seconds(1)))
  it.effect("a hundred concurrent cold calls: make one exchange (F36)", () =>
    Effect.gen(function* () {
      const all = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 100 }, () => bearer(account())),
          { concurrency: 100 }
        )
      )
      yield* settled(() => many.calls.length === 1)
      yield* TestClock.adjust(1 * seconds)
      expect(yield* Fiber.join(all)).toEqual(Array.from({ length: 100 }, () => "authorization: Bearer token-1"))
      expect(many.calls.length).toBe(1)
    }).pipe(Effect.provide(withTokens(many)))
  )

  const fifty = endpoint()
  it.effect("token cache: fifty credentials that differ in one part each make fifty exchanges (F36, TH3)", () =>
    Effect.gen(function* () {
      const accounts = Array.from({ length: 50 }, (_, i) => account({ slug: `vertex-${i}` }))
      yield* Effect.all([...accounts, ...accounts, ...accounts].map(bearer), { concurrency: 150 })
      expect(fifty.calls.length).toBe(50)
    }).pipe(Effect.provide(withTokens(fifty)))
  )

  const identities = endpoint()
  it.effect(
    "token cache: every part of the identity counts: slug, owner, token_url, mail, key id, key, project (TH3)",
    () =>
      Effect.gen(function* () {
        const key = keyOf()
        const same = account()
        const variants = [
          same,
          account({ slug: "other" }),
          account({ origin: "caller" }),
          account({ token_url: "http://127.0.0.1:1/token" }),
          account({ credentials: { _tag: "ServiceAccount", key: { ...key, clientEmail: "r" } } }),
          account({ credentials: { _tag: "ServiceAccount", key: { ...key, privateKeyId: "k" } } }),
          account({ credentials: { _tag: "ServiceAccount", key: { ...key, projectId: undefined } } }),
          account({ credentials: { _tag: "ServiceAccount", key: keyOf(keyB.privatePem) } })
        ]
        const headers = yield* Effect.all(variants.map(bearer))
        expect(new Set(headers).size).toBe(variants.length)
        expect(yield* bearer(account())).toBe(headers[0])
        expect(identities.calls.length).toBe(variants.length)
      }).pipe(Effect.provide(withTokens(identities)))
  )

  const left = endpoint((n) => Effect.delay(Effect.succeed(token(n)), Duration.seconds(1)))
  it.effect("token cache: the others get their token when the first caller disconnects (F36)", () =>
    Effect.gen(function* () {
      const impatient = yield* Effect.forkChild(bearer(account()))
      yield* settled(() => left.calls.length === 1)
      const patient = yield* Effect.forkChild(bearer(account()))
      yield* Fiber.interrupt(impatient)
      yield* TestClock.adjust(1 * seconds)
      expect(yield* Fiber.join(patient)).toBe("authorization: Bearer token-1")
      expect(left.calls.length).toBe(1)
    }).pipe(Effect.provide(withTokens(left)))
  )

  const ahead = endpoint((n) => (n === 1 ? token(1) : Effect.delay(Effect.succeed(token(n)), Duration.seconds(1))))
  it.effect("token cache: a token is renewed five minutes before its end, while the old one serves (T2206)", () =>
    Effect.gen(function* () {
      yield* bearer(account())
      yield* TestClock.adjust(55 * minutes - 1)
      expect([yield* bearer(account()), ahead.calls.length]).toEqual(["authorization: Bearer token-1", 1])
      yield* TestClock.adjust(1)
      expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
      yield* settled(() => ahead.calls.length === 2)
      expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
      yield* TestClock.adjust(1 * seconds)
      expect([yield* bearer(account()), ahead.calls.length]).toEqual(["authorization: Bearer token-2", 2])
    }).pipe(Effect.provide(withTokens(ahead)))
  )

  const short = endpoint((n) => token(n, 60))
  it.effect("token cache: a short-lived token is renewed at 80 % of its lifetime (T2206)", () =>
    Effect.gen(function* () {
      yield* bearer(account())
      yield* TestClock.adjust(48 * seconds - 1)
      expect([yield* bearer(account()), short.calls.length]).toEqual(["authorization: Bearer token-1", 1])
      yield* TestClock.adjust(1)
      yield* bearer(account())
      yield* settled(() => short.calls.length === 2)
    }).pipe(Effect.provide(withTokens(short)))
  )

  const bounded = endpoint()
  it.effect("token cache: the number of credentials is bounded, and the least recently used one is evicted", () =>
    Effect.gen(function* () {
      const [a, b, c] = [account({ slug: "a" }), account({ slug: "b" }), account({ slug: "c" })]
      for (const one of [a, b, a, c, a, b]) yield* bearer(one)
      expect(bounded.calls.length).toBe(4)
    }).pipe(Effect.provide(withTokens(bounded, {}, { ...defaultLimits, tokenEntries: 2 })))
  )
  const crowded = endpoint()
  it.effect("token cache: credentials sent with one key evict none of the operator's or of other keys (TH20)", () =>
    Effect.gen(function* () {
      const brought = (keyId: string, slug: string) => account({ slug, origin: "caller", carriedBy: keyId })
      const others = [account({ slug: "stored" }), brought("quiet", "a")]
      for (const one of others) yield* bearer(one)
      for (let at = 0; at < 50; at++) yield* bearer(brought("loud", `l${at}`))
      expect(crowded.calls.length).toBe(52)
      for (const one of others) yield* bearer(one)
      expect(crowded.calls.length).toBe(52)
    }).pipe(Effect.provide(withTokens(crowded, {}, { ...defaultLimits, tokenEntries: 6 })))
  )
})

/** The test clock with a wall clock that can be set apart. */
const shifted =
  (shift: { millis: number }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) =>
      Effect.provideService(effect, Clock.Clock, {
        ...clock,
        sleep: (duration) => clock.sleep(duration),
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + shift.millis,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe()
      })
    )

describe("token expiry and clocks", () => {
  const jumping = endpoint()
  it.effect(
    "token expiry: the stricter clock decides: a jump forward ends a token, a jump backward does not prolong it (F34)",
    () => {
      const shift = { millis: 0 }
      return Effect.gen(function* () {
        const asked = () => Effect.map(bearer(account()), (header) => [header.slice(-1), jumping.calls.length])
        expect(yield* asked()).toEqual(["1", 1])
        shift.millis = 120 * minutes
        expect(yield* asked()).toEqual(["2", 2])
        shift.millis = -120 * minutes
        expect(yield* asked()).toEqual(["2", 2])
        yield* TestClock.adjust(60 * minutes)
        expect(yield* asked()).toEqual(["3", 3])
        shift.millis = 365 * 24 * 60 * minutes
        expect(yield* asked()).toEqual(["4", 4])
      }).pipe(shifted(shift), Effect.provide(withTokens(jumping)))
    }
  )

  const late = endpoint(() =>
    json(400, {
      error: "invalid_grant",
      error_description:
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
    })
  )
  it.effect("a refused date: the error points at the clock (F34)", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(account())
      expect(reason.message.endsWith(" Check the clock of the gateway's machine.")).toBe(true)
    }).pipe(Effect.provide(withTokens(late)))
  )
})

describe("failed token exchanges (F35)", () => {
  const unusable = (status: number): Reason => ({
    _tag: "BadReply",
    kind: "unreadable",
    message: `The token endpoint answered ${status} without a usable access token.`
  })
  const cases: ReadonlyArray<readonly [string, ScriptedResponse, Reason]> = [
    ["HTML", { status: 200, chunks: ["<html>"] }, unusable(200)],
    ["{}", json(200, {}), unusable(200)],
    ["an empty token", json(200, { access_token: "", expires_in: 3_600 }), unusable(200)],
    ["a token no header can hold", json(200, { access_token: "a\nb", expires_in: 3_600 }), unusable(200)],
    ["expires_in 0", token(1, 0), unusable(200)],
    ["expires_in -1", token(1, -1), unusable(200)],
    ["expires_in of text", token(1, "soon"), unusable(200)],
    ["no expires_in", token(1, null), unusable(200)],
    [
      "500",
      { status: 500, chunks: ["oops"] },
      { _tag: "Internal", status: 500, message: "The token endpoint answered 500." }
    ],
    [
      "503 with advice",
      { status: 503, headers: { "retry-after": "3" } },
      { _tag: "Internal", status: 503, message: "The token endpoint answered 503.", retryAfterMillis: 3_000 }
    ],
    [
      "a redirect",
      { status: 302, headers: { location: "http://trap.invalid" } },
      {
        _tag: "BadReply",
        kind: "redirect",
        message: "The token endpoint answered with a redirect, which is never followed."
      }
    ],
    [
      "a closed port",
      { status: 0, fault: "refused" },
      { _tag: "Transport", kind: "refused", message: "The token endpoint refused the connection." }
    ],
    [
      "silence",
      { status: 0, fault: "first_byte_timeout" },
      {
        _tag: "Timeout",
        phase: "first_byte",
        message: "The token endpoint accepted the request and did not begin to answer in time (limits.connectMillis)."
      }
    ]
  ]
  for (const [name, answer, reason] of cases) {
    const at = endpoint((n) => (n === 1 ? answer : token(n)))
    it.effect(`failed token exchange: ${name} is reported, and not cached (F35)`, () =>
      Effect.gen(function* () {
        expect(yield* refusal(account())).toEqual(reason)
        expect(yield* bearer(account())).toBe("authorization: Bearer token-2")
      }).pipe(Effect.provide(withTokens(at)))
    )
  }

  const closed = endpoint((n) => (n === 1 ? { status: 0, fault: "stale" } : token(n)))
  it.effect("token exchange: a request that a closed connection took is sent again on a new one (F25)", () =>
    Effect.gen(function* () {
      expect(yield* bearer(account())).toBe("authorization: Bearer token-2")
      expect(closed.calls.map(({ isFresh }) => isFresh)).toEqual([undefined, true])
    }).pipe(Effect.provide(withTokens(closed)))
  )

  for (const life of ["3600", 1e12]) {
    const at = endpoint((n) => token(n, life))
    it.effect(`token lifetime: expires_in ${JSON.stringify(life)} counts as an hour`, () =>
      Effect.gen(function* () {
        yield* bearer(account())
        yield* TestClock.adjust(55 * minutes - 1)
        yield* bearer(account())
        expect(at.calls.length).toBe(1)
        yield* TestClock.adjust(5 * minutes + 1)
        expect(yield* bearer(account())).toBe("authorization: Bearer token-2")
      }).pipe(Effect.provide(withTokens(at)))
    )
  }

  const invalid = json(400, {
    error: "invalid_grant",
    error_description: "Account deleted: key AIzaSyA-1234567890abcdefghijklmnopqrstu"
  })
  for (const origin of ["stored", "caller"] as const) {
    const at = endpoint((n) => (n === 1 ? invalid : token(n)))
    it.effect(`invalid_grant of a ${origin} credential: is cached for 30 s, without secrets (T2208)`, () =>
      Effect.gen(function* () {
        const mine = account({ origin })
        const rejected: Reason = {
          _tag: "CredentialsRejected",
          origin,
          message: "The token endpoint refused the credential (invalid_grant: Account deleted: key [redacted]).",
          upstreamCode: "invalid_grant"
        }
        expect(yield* refusal(mine)).toEqual(rejected)
        yield* TestClock.adjust(30 * seconds - 1)
        expect([yield* refusal(mine), at.calls.length]).toEqual([rejected, 1])
        yield* TestClock.adjust(1)
        expect([yield* bearer(mine), at.calls.length]).toEqual(["authorization: Bearer token-2", 2])
      }).pipe(Effect.provide(withTokens(at)))
    )
  }

  const down = endpoint((n) => (n === 1 ? token(1) : { status: 500 }))
  it.effect(
    "failed token exchange: a valid token serves to its end, and renewals pause 10 s between failures (F35)",
    () =>
      Effect.gen(function* () {
        yield* bearer(account())
        yield* TestClock.adjust(56 * minutes)
        for (const calls of [2, 2]) {
          expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
          yield* settled(() => down.calls.length === calls)
        }
        yield* TestClock.adjust(10 * seconds)
        expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
        yield* settled(() => down.calls.length === 3)
        yield* TestClock.adjust(4 * minutes)
        expect(yield* refusal(account())).toEqual({
          _tag: "Internal",
          status: 500,
          message: "The token endpoint answered 500."
        })
      }).pipe(Effect.provide(withTokens(down)))
  )

  const shared = endpoint(() => Effect.delay(Effect.succeed<ScriptedResponse>({ status: 500 }), Duration.seconds(1)))
  it.effect("failed token exchange: concurrent callers share one failure (F36)", () =>
    Effect.gen(function* () {
      const all = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 20 }, () => refusal(account())),
          { concurrency: 20 }
        )
      )
      yield* settled(() => shared.calls.length === 1)
      yield* TestClock.adjust(1 * seconds)
      expect(new Set((yield* Fiber.join(all)).map((reason) => reason.message))).toEqual(
        new Set(["The token endpoint answered 500."])
      )
      expect(shared.calls.length).toBe(1)
    }).pipe(Effect.provide(withTokens(shared)))
  )
})

describe("tokens refused by the upstream (F49)", () => {
  const renewed = endpoint()
  it.effect("a refused token: is replaced once in 30 s for each credential (F49)", () =>
    Effect.gen(function* () {
      yield* bearer(account())
      expect(yield* refresh(account())).toBe(true)
      expect(yield* bearer(account())).toBe("authorization: Bearer token-2")
      expect(yield* refresh(account())).toBe(false)
      yield* TestClock.adjust(30 * seconds)
      expect(yield* Effect.all([refresh(account()), refresh(account())], { concurrency: 2 })).toEqual([true, true])
      expect([yield* bearer(account()), renewed.calls.length]).toEqual(["authorization: Bearer token-3", 3])
    }).pipe(Effect.provide(withTokens(renewed)))
  )

  const gone = endpoint((n) => (n === 1 ? token(1) : { status: 500 }))
  it.effect("a refused token: stays when no new one is available (F49)", () =>
    Effect.gen(function* () {
      yield* bearer(account())
      expect(yield* refresh(account())).toBe(false)
      expect(yield* bearer(account())).toBe("authorization: Bearer token-1")
    }).pipe(Effect.provide(withTokens(gone)))
  )
})

describe("application default credentials", () => {
  const adc = account({ credentials: { _tag: "ApplicationDefault" } })
  const folder = mkdtempSync(join(tmpdir(), "adc-"))
  const file = (name: string, content: unknown) => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
    return path
  }
  const flavour = { "metadata-flavor": "Google" }

  const metadata = endpoint((n) => ({ ...token(n), headers: flavour }))
  it.effect(
    "application default credentials: without a file the metadata server is called in its protocol (T2209)",
    () =>
      Effect.gen(function* () {
        expect(yield* bearer(adc)).toBe("authorization: Bearer token-1")
        const { method, url, headers, body } = metadata.calls[0] ?? {}
        expect({ method, url, headers, body }).toEqual({
          method: "GET",
          url: "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token",
          headers: flavour,
          body: undefined
        })
      }).pipe(Effect.provide(withTokens(metadata)))
  )

  const stranger = endpoint((n) => token(n))
  it.effect("a metadata answer without Google's flavor: is rejected (TH9)", () =>
    Effect.gen(function* () {
      expect(yield* refusal(adc)).toEqual({
        _tag: "BadReply",
        kind: "unreadable",
        message: "The metadata server did not identify itself as Google's."
      })
    }).pipe(Effect.provide(withTokens(stranger)))
  )

  const ambient = endpoint()
  it.effect("application default credentials: a request cannot use the machine's identity (TH9)", () =>
    Effect.gen(function* () {
      expect(yield* refusal({ ...adc, origin: "caller" })).toEqual({
        _tag: "CredentialsRejected",
        origin: "caller",
        message: "The provider has no credential that could be exchanged for a token."
      })
      expect(ambient.calls.length).toBe(0)
    }).pipe(Effect.provide(withTokens(ambient)))
  )

  const robot = endpoint()
  it.effect("application default credentials: a key file is exchanged like a stored key (T2209)", () =>
    Effect.gen(function* () {
      yield* bearer(adc)
      expect([robot.calls[0]?.url, claimsOf(robot.calls[0]).signed]).toEqual([
        "https://oauth2.googleapis.com/token",
        true
      ])
    }).pipe(Effect.provide(withTokens(robot, { credentialsFile: file("robot.json", keyFile()) })))
  )

  const person = endpoint()
  it.effect("application default credentials: a user's file is exchanged by its refresh token (T2209)", () =>
    Effect.gen(function* () {
      yield* bearer(adc)
      expect([person.calls[0]?.url, Object.fromEntries(new URLSearchParams(String(person.calls[0]?.body)))]).toEqual([
        "https://oauth2.googleapis.com/token",
        { grant_type: "refresh_token", client_id: "id", client_secret: "secret", refresh_token: "1//token" }
      ])
    }).pipe(
      Effect.provide(
        withTokens(person, {
          credentialsFile: file("user.json", {
            type: "authorized_user",
            client_id: "id",
            client_secret: "secret",
            refresh_token: "1//token"
          })
        })
      )
    )
  )

  const refused: ReadonlyArray<readonly [string, string, string]> = [
    ["a missing file", join(folder, "none.json"), "The file of the application default credentials cannot be read."],
    ["no JSON", file("text.json", "hello"), "The file of the application default credentials is not a JSON object."],
    [
      "half a user",
      file("half.json", { type: "authorized_user", client_id: "id" }),
      "The credentials of a user need client_id, client_secret and refresh_token."
    ],
    [
      "TH8 a source that runs a command",
      file("command.json", {
        type: "external_account",
        audience: "//iam.googleapis.com/pool",
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        credential_source: { executable: { command: "id" } }
      }),
      'Credentials of type "external_account": credential_source has neither a file nor an http or https url; programs, certificates and AWS are not taken.'
    ]
  ]
  for (const [name, credentialsFile, message] of refused) {
    const at = endpoint()
    it.effect(`application default credentials: refuses ${name} (T2209)`, () =>
      Effect.gen(function* () {
        expect(yield* refusal(adc)).toEqual({ _tag: "CredentialsRejected", origin: "stored", message })
        expect(at.calls.length).toBe(0)
      }).pipe(Effect.provide(withTokens(at, { credentialsFile })))
    )
  }
})

it.effect("credentials: a printed account or header contains no secret (TH21)", () =>
  Effect.gen(function* () {
    const headers = yield* Effect.flatMap(TokenProvider, (tokens) => tokens.authorization(account()))
    const shown = `${JSON.stringify(headers)}${String(headers["authorization"])}${JSON.stringify(account())}`
    expect(shown.match(/token-1|PRIVATE KEY-----/)).toBe(null)
  }).pipe(Effect.provide(withTokens(endpoint())))
)
