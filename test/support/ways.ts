// The whole face as a function of web requests: served by the ring on a port of the loopback, or mounted in a router of Effect.
// Must not depend on a test. The router needs no socket.
import { Agent, type IncomingMessage, request as send } from "node:http"
import { Readable } from "node:stream"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Scope from "effect/Scope"
import type * as Types from "effect/Types"
import { answering, HttpApi, type HttpApiServices } from "../../src/http/HttpApi.ts"
import { Limits } from "../../src/domain/Limits.ts"
import { Traffic } from "../../src/http/node/Traffic.ts"
import { Server } from "../../src/http/Server.ts"

type Answer = Effect.Success<ReturnType<typeof answering>>

interface Way {
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

export const overRouter = <E>(services: Layer.Layer<HttpApiServices, E>): Way =>
  HttpRouter.toWebHandler(Layer.provideMerge(mounted, services), { disableLogger: true, routerConfig })

/** What a connection adds to an answer. */
const ofConnections = new Set(["connection", "date", "keep-alive", "transfer-encoding"])
const withoutBody = new Set([204, 304])

const answerOf = (message: IncomingMessage, isHead: boolean): Response => {
  const { rawHeaders, statusCode = 0 } = message
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2)
    if (!ofConnections.has(name.toLowerCase())) headers.append(name, value)
  }
  const isEmpty = isHead || withoutBody.has(statusCode)
  if (isEmpty) message.resume()
  return new Response(isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>), {
    status: statusCode,
    headers
  })
}

/** Sends a request over a connection. Unlike fetch, it adds no header, sends every header, and decodes nothing. */
const exchange = async (request: Request, port: number, agent: Agent): Promise<Response> => {
  const { headers, method, signal, url } = request
  const { pathname, search } = new URL(url)
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
  return new Promise((resolve, reject) => {
    const sent = send(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path: `${pathname}${search}`,
        headers: { ...Object.fromEntries(headers), ...(body === undefined ? {} : { "content-length": body.length }) },
        signal
      },
      (message) => resolve(answerOf(message, method === "HEAD"))
    )
    sent.on("error", reject)
    sent.end(body)
  })
}

/** A server that stops looks for idle connections every 100 ms, unless their clients close them first. */
const closeIdle = ({ freeSockets }: Agent): void => {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/** No load balancer watches it, so it ends without a delay. */
const server = Layer.unwrap(
  Effect.map(Limits, (limits) =>
    Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
      Layer.provide(Layer.succeed(Limits, { ...limits, readyDelayMillis: 0 }))
    )
  )
)

/** Prints errors only. Each server that ends and each old model would add a line to the output of the tests. */
const errors = Logger.layer([
  Logger.make((entry) => {
    if (LogLevel.isGreaterThanOrEqualTo(entry.logLevel, "Error")) Logger.defaultLogger.log(entry)
  })
])

/** The face that users meet, and that tests take unless they are about the other. */
export const webFace = <E>(services: Layer.Layer<HttpApiServices, E>): Way => {
  const scope = Scope.makeUnsafe()
  const starting = Effect.runPromise(
    Layer.buildWithScope(server.pipe(Layer.provide(services), Layer.provide(errors), Layer.orDie), scope)
  )
  const agent = new Agent({ keepAlive: true })
  return {
    handler: async (request) => {
      const { address } = Context.get(await starting, HttpServer.HttpServer)
      return exchange(request, "port" in address ? address.port : 0, agent)
    },
    dispose: async () => {
      await starting
      closeIdle(agent)
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

export type WebFace = typeof webFace
