// Replaces two layers of the gateway: credentials come from the application's own vault, accounts from its own table.
// Runs on its own with a scripted network. Prints what is sent and the models that are offered.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Catalog, defaultLimits, providerAccount, TokenProvider, type Settings } from "model-gateway"
import { Gateway, Transport, WebHandler } from "model-gateway/testing"

const settings: Settings = {
  server: { host: "127.0.0.1", port: 8787 },
  accounts: [],
  keys: [{ name: "me", key: Redacted.make("mgk_me") }],
  limits: defaultLimits
}

/** Where the application keeps its credentials. */
const vault = new Map([["team-a", "token-of-team-a"]])

const tokenProvider = Layer.succeed(TokenProvider, {
  authorization: ({ slug }) => Effect.succeed({ authorization: Redacted.make(`Bearer ${vault.get(slug) ?? "none"}`) }),
  refresh: () => Effect.succeed(false)
})
/** "ApplicationDefault" leaves the credential to the token provider. */
const credentials = { _tag: "ApplicationDefault" } as const
const catalog = Catalog.layerMemory([
  providerAccount({ slug: "team-a", kind: "google", credentials, models: ["gemini-3.8-flash"] })
])

const Network = Transport.layerTest(({ auth, url }) => {
  console.log(`> ${url}\n> ${Redacted.value(auth["authorization"] ?? Redacted.make(""))}`)
  return {
    status: 200,
    chunks: [
      JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] })
    ]
  }
})

/** With `Gateway.layer(settings, { tokenProvider, catalog })` it is the whole service. */
const App = Gateway.layerTest(settings, { tokenProvider, catalog }).pipe(Layer.provide(Network))

const program = Effect.gen(function* () {
  const handler = yield* WebHandler
  const ask = (path: string, body?: object) =>
    Effect.promise(async () => {
      const headers = { "content-type": "application/json", "x-gateway-api-key": "mgk_me" }
      const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) }
      return (await handler(new Request(`http://gateway${path}`, init))).text()
    })
  console.log(yield* ask("/v1/models"))
  yield* ask("/v1/chat/completions", {
    model: "@team-a/gemini-3.8-flash",
    messages: [{ role: "user", content: "Hello" }]
  })
})
await Effect.runPromise(Effect.provide(program, App))
