// An Effect application with its own routes and the gateway's routes on one server: one key, one account.
// GEMINI_API_KEY is the account's key, PORT the port. Try /hello and /v1/models. SIGTERM lets running answers finish.
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Catalog, defaultLimits, Gateway, HttpApi, providerAccount, type Settings } from "model-gateway"

const settings: Settings = {
  server: { host: "127.0.0.1", port: 8788 },
  accounts: [
    providerAccount({
      slug: "google",
      kind: "google",
      credentials: { _tag: "ApiKey", key: Redacted.make(process.env["GEMINI_API_KEY"] ?? "") },
      base_url: process.env["GEMINI_BASE_URL"]
    })
  ],
  keys: [{ name: "me", key: Redacted.make("mgk_me_and_nobody_else") }],
  limits: defaultLimits
}

/** A route of the application. It may use the gateway's services, here the catalog. */
const Hello = HttpRouter.add(
  "GET",
  "/hello",
  Effect.gen(function* () {
    const catalog = yield* Catalog
    return HttpServerResponse.jsonUnsafe({ hello: "world", accounts: catalog.list().map(({ slug }) => slug) })
  })
)

const Announce = Layer.effectDiscard(
  HttpServer.addressFormattedWith((address) => Effect.sync(() => console.log(`listening on ${address}`)))
)

const App = HttpRouter.serve(Layer.mergeAll(Hello, HttpApi.layer), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(Announce),
  Layer.provide(Gateway.layerServices(settings)),
  Layer.provide(
    NodeHttpServer.layer(createServer, {
      host: settings.server.host,
      port: Number(process.env["PORT"] ?? settings.server.port),
      gracefulShutdownTimeout: settings.limits.drainMillis
    })
  )
)

NodeRuntime.runMain(Layer.launch(App))
