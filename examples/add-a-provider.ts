// Adds a provider, "acme", whose API is OpenAI-compatible: its address, its models, its credentials.
// Runs on its own with a scripted network. Prints the request to acme and the answer to the client.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import {
  callInput,
  defaultLimits,
  Limits,
  openAiChat,
  prepareUnary,
  type Provider,
  providerAccount,
  Providers,
  type RouteOf,
  type Settings,
  type TargetModel,
  TokenProvider
} from "model-gateway"
import { Gateway, Transport, WebHandler } from "model-gateway/testing"
import { translators } from "model-gateway/translate"

/** The URL of a call. `call` is its end: `/chat/completions`, `/embeddings`. */
const acmeRoute: RouteOf = (account, _model, call) =>
  Result.succeed({ url: `${account.base_url ?? "https://api.acme.example/v1"}${call}`, headers: {} })

/** Every model of acme is OpenAI-compatible and keeps its name. */
const acmeModel = (modelId: string): TargetModel => ({ family: "openai", modelId, endpoint: false })

class AcmeProvider extends Context.Service<AcmeProvider, Provider>()("acme/AcmeProvider") {
  static readonly layer: Layer.Layer<AcmeProvider, never, TokenProvider> = Layer.effect(
    AcmeProvider,
    Effect.gen(function* () {
      const limits = yield* Limits
      const tokens = yield* TokenProvider
      const chat = openAiChat(acmeRoute, limits)
      return {
        prepare: {
          chat: (request, context) => chat(request, context, acmeModel(context.modelId)),
          embeddings: (request, context) => {
            const model = acmeModel(context.modelId)
            return Result.flatMap(acmeRoute(context.account, model, "/embeddings"), (route) =>
              prepareUnary({
                translator: translators["embeddings-to-openai"],
                request,
                ...callInput("embeddings", context, model, route, limits)
              })
            )
          }
        },
        // A stored access token is sent as `Authorization: Bearer`, and so is a token that a request brings.
        authorize: tokens.authorization,
        refresh: tokens.refresh
      }
    })
  )
}

const credentials = { _tag: "AccessToken", token: Redacted.make("acme-key") } as const

const settings: Settings = {
  server: { host: "127.0.0.1", port: 8787 },
  accounts: [providerAccount({ slug: "acme", kind: "acme", credentials, models: ["rocket-1"] })],
  keys: [{ name: "me", key: Redacted.make("mgk_me") }],
  limits: defaultLimits
}

/** Passed to `Gateway.layer` as well, this is the whole service with acme. */
const parts = { providers: Providers.layerWith({ acme: AcmeProvider }).pipe(Layer.provide(AcmeProvider.layer)) }

const answer = {
  choices: [{ index: 0, message: { role: "assistant", content: "To the moon!" }, finish_reason: "stop" }]
}

const Network = Transport.layerTest(({ auth, body, method, url }) => {
  const credential = Redacted.value(auth["authorization"] ?? Redacted.make(""))
  console.log(`> ${method} ${url}\n> authorization: ${credential}\n> ${String(body)}`)
  return { status: 200, chunks: [JSON.stringify(answer)] }
})

const question = new Request("http://gateway/v1/chat/completions", {
  method: "POST",
  headers: { "content-type": "application/json", "x-gateway-api-key": "mgk_me" },
  body: JSON.stringify({ model: "@acme/rocket-1", messages: [{ role: "user", content: "Where to?" }] })
})

const program = Effect.gen(function* () {
  const handler = yield* WebHandler
  const response = yield* Effect.promise(() => handler(question))
  console.log(`< ${response.status} from ${response.headers.get("x-gateway-provider")}`)
  console.log(JSON.stringify(yield* Effect.promise(() => response.json()), null, 2))
})

await Effect.runPromise(Effect.provide(program, Gateway.layerTest(settings, parts).pipe(Layer.provide(Network))))
