// Records exchanges of the whole gateway into a folder, looks for credentials in it, and plays it back offline.
// Must not reach the network.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { scrub } from "../../src/domain/text/redaction.ts"
import { defaultLimits, Limits } from "../../src/index.ts"
import { FreshId, Gateway, Transport, WebHandler } from "../../src/testing.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewayKey, serviceAccount, settingsFor } from "../support/TestGateway.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cassette-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Credentials as the gateway uses them; none of them may reach a file. */
const canaries = {
  apiKey: "AIzaSyCanaryOfTheOperator00000000000000",
  carried: "carried-canary+of/a-client",
  token: "ya29.canary-access-token",
  privateKey: serviceAccount.privateKeyPem.split("\n")[3] ?? "",
  keyId: String(serviceAccount.privateKeyId)
}

const settings = settingsFor("http://unused.invalid", {
  accounts: [
    { ...googleAccount, credentials: { _tag: "ApiKey", key: Redacted.make(canaries.apiKey) } },
    {
      ...vertexAccount,
      credentials: {
        _tag: "ServiceAccount",
        key: {
          clientEmail: serviceAccount.clientEmail,
          privateKeyId: serviceAccount.privateKeyId,
          privateKey: Redacted.make(serviceAccount.privateKeyPem),
          projectId: serviceAccount.projectId
        }
      }
    }
  ]
})

const answer = JSON.stringify({
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})

/** Google, which repeats credentials: in an error, split between two reads, and as the token itself. */
const google = Transport.layerTest(({ auth, body, url }) => {
  if (url.includes("oauth2"))
    return {
      status: 200,
      chunks: [JSON.stringify({ access_token: canaries.token, expires_in: 3600, token_type: "Bearer" })]
    }
  if (url.includes("streamGenerateContent")) {
    const event = `data: ${answer.replace("Hi", `Hi ${canaries.apiKey}`)}\r\n\r\n`
    const cut = event.indexOf(canaries.apiKey) + 9
    return { status: 200, chunks: [event.slice(0, cut), event.slice(cut)] }
  }
  const key = Redacted.value(auth["x-goog-api-key"] ?? Redacted.make(""))
  return key === canaries.apiKey || key === ""
    ? { status: 200, headers: { "set-cookie": canaries.token }, chunks: [answer] }
    : {
        status: 400,
        chunks: [JSON.stringify({ error: { code: 400, message: `API key ${key} not valid: ${String(body)}` } })]
      }
})

const ask = (model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
  body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }], ...more })
})
const asked = [
  ask("@google/gemini-3.8-flash"),
  ask("@vertex-ai/gemini-3.8-flash"),
  ask("@google/gemini-3.8-flash", { stream: true }),
  ask("@google/gemini-3.8-flash", {}, { authorization: canaries.carried }),
  ask("@google/gemini-3.8-flash")
]

/** The answers to all requests, with the clock and the ids fixed. */
const answers = Effect.gen(function* () {
  const handler = yield* WebHandler
  const found: Array<readonly [status: number, text: string]> = []
  for (const init of asked) {
    const response = yield* Effect.promise(() => handler(new Request("http://gateway/v1/chat/completions", init)))
    found.push([response.status, yield* Effect.promise(() => response.text())])
  }
  return found
})

const over = <E>(network: Layer.Layer<Transport, E>) =>
  Effect.andThen(
    TestClock.setTime(1_700_000_000_000),
    Effect.provide(
      answers,
      Gateway.layerTest(settings).pipe(
        Layer.provide([network, Layer.succeed(FreshId, () => "00000000-0000-7000-8000-000000000001")])
      ),
      { local: true }
    )
  )

const files = () => readdirSync(folder).toSorted()
const contents = () => files().map((name) => readFileSync(join(folder, name), "utf8"))

describe("cassettes", () => {
  it.effect("cassette: what was recorded is played back offline, to the byte where no credential was in it", () =>
    Effect.gen(function* () {
      const live = yield* over(Transport.layerRecord(folder, google))
      expect(live.map(([status]) => status)).toEqual([200, 200, 200, 400, 200])
      expect(files()).toEqual([
        "0001-generativelanguage.googleapis.com.json",
        "0002-oauth2.googleapis.com.json",
        "0003-us-central1-aiplatform.googleapis.com.json",
        "0004-generativelanguage.googleapis.com.json",
        "0005-generativelanguage.googleapis.com.json",
        "0006-generativelanguage.googleapis.com.json"
      ])
      expect(files().map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual(files().map(() => 0o600))
      const replayed = yield* over(Transport.layerReplay(folder))
      expect(replayed).toEqual(live.map(([status, text]) => [status, text.replace(canaries.apiKey, "[redacted]")]))
      expect(yield* over(Transport.layerReplay(folder))).toEqual(replayed)
    })
  )

  it.effect("cassette: no file contains a credential, in any spelling", () =>
    Effect.gen(function* () {
      yield* over(Transport.layerRecord(folder, google))
      const text = contents().join("\n")
      const spelled = Object.entries(canaries).flatMap(([name, value]) =>
        [
          value,
          encodeURIComponent(value),
          JSON.stringify(value).slice(1, -1),
          Buffer.from(value).toString("base64")
        ].map((spelling) => [name, spelling] as const)
      )
      expect(spelled.filter(([, spelling]) => text.includes(spelling))).toEqual([])
      expect(/eyJ[\w-]+\.[\w-]+/.test(text)).toBe(false)
      // The test would pass on a recorder that writes nothing.
      expect(text.split("[redacted]").length).toBe(5)
    })
  )

  it.effect("cassette: recordings of a folder add up, and equal requests get their answers in order", () =>
    Effect.gen(function* () {
      let calls = 0
      const counting = Transport.layerTest(() => ({ status: 200, chunks: [answer.replace("Hi", `Hi ${++calls}`)] }))
      for (const _run of [1, 2]) yield* Effect.provide(once, recording(counting), { local: true })
      const replaying = Gateway.layerTest(settings).pipe(Layer.provide(Transport.layerReplay(folder)))
      const texts = yield* Effect.provide(Effect.all([once, once, once]), replaying, { local: true })
      expect(files()).toEqual([
        "0001-generativelanguage.googleapis.com.json",
        "0002-generativelanguage.googleapis.com.json"
      ])
      expect(texts).toEqual(["Hi 1", "Hi 2", "Hi 2"])
    })
  )

  it.effect("cassette: a request that was not recorded fails and reports it", () =>
    Effect.gen(function* () {
      yield* Effect.provide(once, recording(google), { local: true })
      const response = yield* Effect.provide(
        Effect.flatMap(WebHandler, (handler) =>
          Effect.promise(() =>
            handler(new Request("http://gateway/v1/chat/completions", ask("@google/gemini-3.8-pro")))
          )
        ),
        Gateway.layerTest(settings).pipe(Layer.provide(Transport.layerReplay(folder)))
      )
      expect([response.status, yield* Effect.promise(() => response.json())]).toEqual([
        502,
        {
          error: {
            message: "The upstream was not called: recorded answers are played back, and none is of this request.",
            type: "api_error",
            param: null,
            code: "upstream_bad_response"
          }
        }
      ])
    })
  )

  it.effect("cassette: a stream beyond the limit is passed on and not recorded", () =>
    Effect.gen(function* () {
      const network = Transport.layerTest(() => ({ status: 200, chunks: ["abc", "def", "ghi"] }))
      const limits = Layer.succeed(Limits, { ...defaultLimits, replyBytes: 5 })
      const reads = yield* Effect.gen(function* () {
        const { body } = yield* (yield* Transport).open(request)
        return [yield* body, yield* body, yield* body, yield* Effect.flip(body)].length
      }).pipe(Effect.scoped, Effect.provide(Transport.layerRecord(folder, network).pipe(Layer.provide(limits))))
      expect([reads, files()]).toEqual([4, []])
    })
  )

  it.effect.each([
    ["an empty folder", "", "there are none; record some with serve --record"],
    ["a file that is none", "{}", '0001-x.json is not a recording: Missing key\n  at ["request"]']
  ])("cassette: refuses %s", ([, text = "", reason]) =>
    Effect.gen(function* () {
      if (text !== "") writeFileSync(join(folder, "0001-x.json"), text)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Transport.layerReplay(folder))))
      expect(error.message).toBe(`the recordings in ${folder} cannot be used: ${reason}`)
    })
  )
})

const request = {
  method: "GET" as const,
  url: "https://host.invalid/",
  headers: {},
  auth: {},
  body: undefined,
  connectMillis: 10,
  firstByteMillis: 10,
  idleMillis: 10,
  totalMillis: 10
}

const recording = (network: Layer.Layer<Transport>) =>
  Gateway.layerTest(settings).pipe(Layer.provide(Transport.layerRecord(folder, network)))

/** The text of one answer. */
const once = Effect.gen(function* () {
  const handler = yield* WebHandler
  const response = yield* Effect.promise(() =>
    handler(new Request("http://gateway/v1/chat/completions", ask("@google/gemini-3.8-flash")))
  )
  const body: { readonly choices: ReadonlyArray<{ readonly message: { readonly content: string } }> } =
    yield* Effect.promise(() => response.json())
  return body.choices[0]?.message.content
})

describe("scrubbed texts", () => {
  it.each([
    ['{"access_token":"abc\\"def","a":1}', '{"access_token":"[redacted]","a":1}'],
    [String.raw`"{\"refresh_token\": \"abc\", \"a\": 1}"`, String.raw`"{\"refresh_token\": \"[redacted]\", \"a\": 1}"`],
    ["grant_type=x&assertion=a.b.c&b=1", "grant_type=x&assertion=[redacted]&b=1"],
    ["https://host/v1?alt=sse&key=abc", "https://host/v1?alt=sse&key=[redacted]"],
    ["Authorization: Bearer abcdefgh1234", "Authorization: Bearer [redacted]"],
    ["-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "[redacted]"],
    ['{"thoughtSignature":"CiQBcsjafA+/=="}', '{"thoughtSignature":"CiQBcsjafA+/=="}'],
    ["a secret=agent and a key are words", "a secret=agent and a key are words"]
  ])("scrub: %s", (text, safe) => {
    expect(scrub(text)).toBe(safe)
  })

  it("scrub: removes known values in JSON, URLs and base64, and leaves short ones", () => {
    const secret = 'a"b/c d+e'
    const base64 = Buffer.from(secret).toString("base64")
    expect(
      scrub(`${secret} ${JSON.stringify(secret)} ${encodeURIComponent(secret)} ${base64} abc`, [secret, "abc"])
    ).toBe('[redacted] "[redacted]" [redacted] [redacted] abc')
  })
})
