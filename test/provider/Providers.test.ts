// Tests a provider kind of an application next to the two built-in ones: its calls, and an account of an unknown kind.
// Must not depend on the built-in providers.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe, expect } from "vitest"
import { TokenProvider } from "../../src/auth/TokenProvider.ts"
import { providerAccount } from "../../src/domain/ProviderAccount.ts"
import { Gateway } from "../../src/Gateway.ts"
import { WebHandler } from "../../src/http/HttpApi.ts"
import type { Provider } from "../../src/provider/Provider.ts"
import { Providers } from "../../src/provider/Providers.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { googleAccount } from "../support/account.ts"
import { acmeCalls } from "../support/acme.ts"
import { gatewayKey, settingsFor } from "../support/TestGateway.ts"

const acme: Effect.Effect<Provider, never, TokenProvider> = Effect.map(TokenProvider, ({ authorization, refresh }) => ({
  prepare: acmeCalls,
  authorize: (account) => (account.credentials === undefined ? Effect.succeed({}) : authorization(account)),
  refresh
}))

/** Asks a gateway that has acme, one stored account of it, one account of an unknown kind, and one of Google. */
const ask = Effect.fnUntraced(function* (path: string, body: unknown, headers: Record<string, string> = {}) {
  const seen: Array<Record<string, string>> = []
  const network = Transport.layerTest(({ auth, headers, url }) => {
    seen.push({
      url,
      ...headers,
      ...Object.fromEntries(Object.entries(auth).map(([name, value]) => [name, Redacted.value(value)]))
    })
    return {
      status: 200,
      chunks: [
        JSON.stringify({
          choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }]
        })
      ]
    }
  })
  const settings = settingsFor("http://unused.invalid", {
    accounts: [
      providerAccount({ slug: "acme", kind: "acme", models: ["rocket-1"] }),
      providerAccount({ slug: "lost", kind: "nobody" }),
      googleAccount
    ]
  })
  const gateway = Gateway.layerTest(settings, { providers: Providers.layerWith({ acme }) }).pipe(Layer.provide(network))
  return yield* Effect.gen(function* () {
    const handler = yield* WebHandler
    const request = new Request(`http://gateway${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const response = yield* Effect.promise(() => handler(request))
    const answer: unknown = yield* Effect.promise(() => response.json())
    return { status: response.status, answer, seen }
  }).pipe(Effect.provide(gateway))
})

const path = "/v1/chat/completions"
const asking = (model: string) => ({ model, messages: [{ role: "user", content: "Hello" }] })
const call = { url: "https://acme.example/chat/completions", "content-type": "application/json" }

describe("provider kind of an application", () => {
  it.effect("custom provider: may need no credential", () =>
    Effect.map(ask(path, asking("@acme/rocket-1")), ({ seen, status }) => {
      expect([status, seen]).toEqual([200, [call]])
    })
  )

  it.effect("custom provider: gets the token of a request, and nothing of Google's", () =>
    Effect.map(
      ask(path, asking("@acme/rocket-1"), {
        authorization: "Bearer theirs",
        "x-goog-api-key": "AIzaNotForAcme",
        "x-gateway-vertex-service-account-json": JSON.stringify({ type: "service_account" })
      }),
      ({ seen, status }) => {
        expect([status, seen]).toEqual([200, [{ ...call, authorization: "Bearer theirs" }]])
      }
    )
  )

  it.effect("custom provider: explain shows its call like any other", () =>
    Effect.map(
      ask(path, asking("@acme/rocket-1"), { authorization: "Bearer theirs", "x-gateway-dry-run": "true" }),
      ({ answer, seen }) => {
        expect(seen).toEqual([])
        expect(answer).toEqual({
          object: "dry_run",
          provider: "acme",
          target_index: 0,
          method: "POST",
          url: "https://acme.example/chat/completions",
          headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
          body: { model: "rocket-1", messages: [{ role: "user", content: "Hello" }] },
          ignored_params: [],
          adjusted_params: []
        })
      }
    )
  )

  it.effect("custom provider: has the operations it declares", () =>
    Effect.map(ask("/v1/embeddings", { model: "@acme/rocket-1", input: "Hello" }), ({ answer, status }) => {
      expect([status, answer]).toEqual([
        400,
        {
          error: {
            message: 'The provider "acme" has no operation "embeddings".',
            type: "invalid_request_error",
            param: "model",
            code: "unsupported_operation"
          }
        }
      ])
    })
  )

  it.effect("custom provider: lists the models its account names", () =>
    Effect.map(ask("/v1/models/@acme%2Frocket-1", undefined), ({ answer, status }) => {
      expect([status, answer]).toEqual([200, { id: "@acme/rocket-1", object: "model", created: 0, owned_by: "acme" }])
    })
  )

  it.effect("providers: an account of an unknown kind is refused", () =>
    Effect.map(ask(path, asking("@lost/rocket-1")), ({ answer, seen, status }) => {
      expect(seen).toEqual([])
      expect([status, answer]).toEqual([
        400,
        {
          error: {
            message: '"lost" is an account of "nobody", and this gateway has no provider of that name.',
            type: "invalid_request_error",
            param: "model",
            code: "unsupported_operation"
          }
        }
      ])
    })
  )
})
