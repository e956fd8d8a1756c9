// The whole face as a function of web requests, in two ways: mounted in a router of Effect, or served by the ring.
// Must not depend on a test. `TEST_WAY=ring` takes the ring, on a port of the loopback; the router needs no socket.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as Types from "effect/Types"
import { HttpApi, type HttpApiServices } from "../../src/http/HttpApi.ts"
import { Limits } from "../../src/domain/Limits.ts"
import { answering } from "../../src/http/Mounted.ts"
import { Traffic } from "../../src/http/node/Traffic.ts"
import { Server } from "../../src/http/Server.ts"

type Answer = Effect.Success<ReturnType<typeof answering>>

export interface Way {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
}

/** The routes of clients as any application mounts them; what they leave is answered as by a server of the gateway alone. */
const mounted = Layer.merge(
  HttpApi.layer,
  HttpRouter.middleware(
    Effect.map(HttpApi.servers.single, (answer) => {
      // Nothing is left to fail, but the router's types want to see a failure pass through.
      const rest: Effect.Effect<Answer, Types.unhandled, Effect.Services<ReturnType<typeof answering>>> = answering(
        answer
      )
      return (app) => Effect.catch(app, () => rest)
    }),
    { global: true }
  ).pipe(Layer.provide(Traffic.layer))
)

/** Paths are taken literally, as the ring does. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1024
}

const overRouter = <E>(services: Layer.Layer<HttpApiServices, E>): Way =>
  HttpRouter.toWebHandler(Layer.provide(mounted, services), { disableLogger: true, routerConfig })

/** What a connection adds to an answer. */
const ofConnections = new Set(["connection", "date", "keep-alive"])

/** The pipe holds the body from the start: fetch ends a body that nothing reads yet when its own answer is collected. */
const withoutConnection = ({ body, headers, status }: Response): Response =>
  new Response(body === null ? null : body.pipeThrough(new TransformStream()), {
    status,
    headers: [...headers].filter(([name]) => !ofConnections.has(name))
  })

/** No load balancer watches it, so it ends without a delay. */
const server = Layer.unwrap(
  Effect.map(Limits, (limits) =>
    Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
      Layer.provide(Layer.succeed(Limits, { ...limits, readyDelayMillis: 0 }))
    )
  )
)

const overRing = <E>(services: Layer.Layer<HttpApiServices, E>): Way => {
  const scope = Scope.makeUnsafe()
  const starting = Effect.runPromise(Layer.buildWithScope(server.pipe(Layer.provide(services), Layer.orDie), scope))
  return {
    handler: async (request) => {
      const { address } = Context.get(await starting, HttpServer.HttpServer)
      const { pathname, search } = new URL(request.url)
      const sent = new Request(`http://127.0.0.1:${"port" in address ? address.port : 0}${pathname}${search}`, request)
      if (!sent.headers.has("accept-encoding")) sent.headers.set("accept-encoding", "identity")
      return withoutConnection(await fetch(sent))
    },
    dispose: async () => {
      await starting
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** Requests pass a socket: a client that leaves is noticed late, and no request has a header of any length or asks for another protocol. */
export const isRing = process.env["TEST_WAY"] === "ring"

export const webFace = isRing ? overRing : overRouter
