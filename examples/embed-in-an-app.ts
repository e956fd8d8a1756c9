// An Effect application with its own routes and the gateway's routes on one server.
// Needs no key: the Google services are simulated. PORT sets the port. Try /hello and /v1/models; Ctrl-C ends it.
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { Catalog, Gateway, HttpApi } from "model-gateway"
import { Demo } from "model-gateway/testing"

/** Replace these by settings of your own. */
const settings = Demo.settings({ host: "127.0.0.1", port: 0, key: "mgk_demo" })

/** A route of the application. It may use the gateway's services, here the catalog. */
const Hello = HttpRouter.add(
  "GET",
  "/hello",
  Effect.gen(function* () {
    const catalog = yield* Catalog
    return HttpServerResponse.jsonUnsafe({ hello: "world", accounts: catalog.list().map(({ slug }) => slug) })
  })
)

/** The services once, for both: the gateway's without its HTTP routes, over the real network. */
const Services = Layer.unwrap(Effect.map(settings, (some) => Gateway.layerServices(some)))

const Announce = Layer.effectDiscard(
  HttpServer.addressFormattedWith((address) => Effect.sync(() => console.log(`listening on ${address}`)))
)

const App = HttpRouter.serve(Layer.mergeAll(Hello, HttpApi.layer), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(Announce),
  Layer.provide(Services),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: Number(process.env["PORT"] ?? 8788) }))
)

NodeRuntime.runMain(Layer.launch(App))
