// The listening server: Node's options, answers to broken HTTP, and a graceful shutdown.
// It must not depend on routes or handlers.
import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { Server as NetServer } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { Busy } from "../domain/GatewayError.ts"
import { type ErrorFacts, errorFacts } from "../api/errorFacts.ts"
import { seriesValues } from "../telemetry/Series.ts"
import { metrics } from "../telemetry/metrics.ts"
import { errorBody } from "./response/errorBody.ts"
import { HttpApi, type HttpApiServices } from "./HttpApi.ts"
import type { Answering } from "./edge/Route.ts"
import { Certificate, type ServedCertificate } from "./node/Certificate.ts"
import { headersOfNode } from "./node/Exchange.ts"
import {
  boundConnections,
  closeStalled,
  type OpenConnections,
  refusingBroken,
  spareConnections,
  WaitingConnections
} from "./node/Connections.ts"
import { ring, type Running } from "./Ring.ts"
import { idHeaders } from "./response/responseHeaders.ts"
import { FreshId, type RequestIds, requestIds } from "./request/IncomingRequest.ts"
import { Traffic } from "./node/Traffic.ts"
import { expectationFailed, headerFault, parserFault } from "./request/wireFaults.ts"

interface Place {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

export interface ServerOptions extends Place {
  /** Operators are served here and nowhere else. */
  readonly admin?: Place
  /** True: other processes listen on the same addresses. */
  readonly reusePort?: boolean
}

type MakeId = (millis: number) => string

/** How often connections without a request are looked for while leaving; they would hold the process up. */
const sweepMillis = 100

/**
 * A socket with so many bytes that its kernel does not take gets no further piece. With Node's own 64 KiB it gets two
 * pieces of a read, which are a little shorter.
 */
const waitingBytes = 16 * 1024
/** A turn of the event loop of at most this many milliseconds was idle. */
const quietMillis = 0.2
/** A process that is never idle does not wait for it longer than so many turns. */
const mostTurns = 1000

/** Continues right after an idle turn of the event loop. */
const whenQuiet = (then: () => void): void => {
  let before = performance.now()
  let turns = 0
  const look = () => {
    const now = performance.now()
    if (now - before < quietMillis || ++turns === mostTurns) return then()
    before = now
    setImmediate(look)
  }
  setImmediate(look)
}

/**
 * Closing a listener resets the connections that wait in the kernel, with their requests. After an idle turn of the
 * event loop no connection waits. Node's close for HTTP comes last: it closes connections whose client still takes its
 * answer, and ends the timeouts of heads and requests.
 */
const closingQuietly = (server: NodeServer): void => {
  const close = server.close.bind(server)
  server.close = (done) => {
    whenQuiet(() =>
      NetServer.prototype.close.call(server, (error) => {
        close()
        done?.(error)
      })
    )
    return server
  }
}

/** The connections of all servers, and how many this one may bring them to. */
interface Bound {
  readonly open: OpenConnections
  readonly most: number
}

/** A server of HTTP, or of HTTPS where there is a certificate, whose replacement it follows. */
const createNodeServer = (limits: LimitValues, certificate: ServedCertificate | undefined): NodeServer => {
  const options = {
    highWaterMark: waitingBytes,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMillis,
    requestTimeout: limits.requestTimeoutMillis,
    connectionsCheckingInterval: Math.min(1000, limits.requestTimeoutMillis),
    keepAliveTimeout: limits.keepAliveMillis,
    // Node's own refusal of a request without a host has no body; ours is made with those of other headers.
    requireHostHeader: false
  }
  if (certificate === undefined) return createServer(options)
  const handshakeTimeout = limits.headersTimeoutMillis
  const server = createSecureServer({ ...options, ...certificate.current, handshakeTimeout })
  server.once(
    "close",
    certificate.follow((context) => server.setSecureContext(context))
  )
  return server
}

const nodeServer = (
  limits: LimitValues,
  freshId: MakeId,
  { most, open }: Bound,
  certificate: ServedCertificate | undefined
): NodeServer => {
  const server = createNodeServer(limits, certificate)
  closingQuietly(server)
  boundConnections(server, open, most, () => rawAnswer(crowded, requestIds({}, freshId(Date.now()))))
  closeStalled(server, limits.writeStallMillis)
  const refuseBroken = refusingBroken()
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET") socket.destroy()
    else refuseBroken(socket, () => rawAnswer(parserFault(error.code ?? ""), requestIds({}, freshId(Date.now()))))
  })
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const ids = requestIds(headersOfNode(request), freshId(Date.now()))
    const facts = headerFault(request, limits.headerCount) ?? expectationFailed
    const body = refusalText(facts, ids)
    response.writeHead(facts.status, refusalHeaders(facts, ids, body)).end(body)
  })
  return server
}

const refusalText = (facts: ErrorFacts, { requestId }: RequestIds): string =>
  errorBody(facts, "openai", true, requestId)

const refusalHeaders = (facts: ErrorFacts, ids: RequestIds, body: string): Record<string, string> => ({
  "content-type": "application/json",
  "content-length": String(Buffer.byteLength(body)),
  ...idHeaders(ids),
  ...facts.headers
})

const { headers: crowdedHeaders, ...crowdedFacts } = errorFacts(
  new Busy({ code: "overloaded", retryAfterMillis: 1000 })
)
/** The refusal of a connection beyond the bound. */
const crowded: ErrorFacts = { ...crowdedFacts, headers: { ...crowdedHeaders, connection: "close" } }

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
  503: "Service Unavailable"
}

const rawAnswer = (facts: ErrorFacts, ids: RequestIds): string => {
  const body = refusalText(facts, ids)
  const lines = Object.entries(refusalHeaders(facts, ids, body)).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${facts.status} ${reasons[facts.status] ?? "Bad Request"}\r\n${lines.join("")}\r\n${body}`
}

/** Ends when the listener and all of its connections are closed. */
const closed = (server: NodeServer): Effect.Effect<Effect.Effect<void>> =>
  Effect.cached(
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
    })
  )

const counted = (count: number, one: string, several: string): string => `${count} ${count === 1 ? one : several}`

const drainingText = (requests: number, streams: number, { drainMillis, readyDelayMillis }: LimitValues): string =>
  [
    `The service is stopping: ${counted(requests, "request runs", "requests run")}${streams === 0 ? "" : `, ${counted(streams, "stream", "streams")} among them`}.`,
    ...(readyDelayMillis === 0 ? [] : [`New ones are taken for ${readyDelayMillis} ms.`]),
    `The rest has ${Math.round(drainMillis / 1000)} s to end.`
  ].join(" ")

const openStreams = Effect.map(Effect.context<never>(), (context) =>
  seriesValues(context)
    .filter(({ id }) => id === metrics.activeStreams.name)
    .reduce((sum, { value }) => sum + Number(value), 0)
)

/**
 * Shutdown, in this order: readiness returns 503 while connections are still accepted, then the listener closes,
 * running answers finish, and connections without a request are closed. What still runs after the hard cap is
 * interrupted.
 */
const drain = (
  server: NodeServer,
  running: Running,
  waiting: WaitingConnections
): Effect.Effect<void, never, Traffic> =>
  Effect.gen(function* () {
    const traffic = yield* Traffic
    const limits = yield* Limits
    const allClosed = yield* closed(server)
    const now = yield* Clock.currentTimeMillis
    const since = traffic.drainingSince
    traffic.drainingSince = since ?? now
    const requests = running.fibers.size
    if (since === undefined || requests > 0) yield* Effect.logInfo(drainingText(requests, yield* openStreams, limits))
    // A second server closes after the first one, whose delay was its own too.
    yield* Effect.sleep(Math.max(0, traffic.drainingSince + limits.readyDelayMillis - now))
    const sweep = setInterval(() => waiting.close(), sweepMillis)
    server.once("close", () => clearInterval(sweep))
    yield* Effect.timeoutOrElse(allClosed, { duration: limits.drainMillis, orElse: () => Effect.void })
    yield* running.interrupt
    yield* allClosed
  })

/** What answers, on a port. Closing its scope drains it. */
const listening = <R>(
  place: Place,
  reusePort: boolean,
  boundOf: (limits: LimitValues) => Bound,
  make: Effect.Effect<Answering, never, R>
): Layer.Layer<HttpServer.HttpServer, ServeError, R | Traffic> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const limits = yield* Limits
      const bound = boundOf(limits)
      const server = nodeServer(limits, yield* FreshId, bound, yield* Certificate)
      const serving = Effect.gen(function* () {
        const running = yield* ring(server, yield* make)
        const waiting = new WaitingConnections(server)
        yield* Effect.addFinalizer(() => drain(server, running, waiting))
      })
      // As many connections may wait in the kernel as may be open. Of more than 511, which Node asks for, the kernel
      // drops those of a burst: their clients believe them open and hear nothing for seconds.
      const address = { host: place.host, port: place.port, reusePort, backlog: bound.most }
      return Layer.effectDiscard(serving).pipe(Layer.provideMerge(NodeHttpServer.layerServer(() => server, address)))
    })
  )

/** The gateway on its port, or on two. It is known by the main one; both count the same traffic. */
const layer = ({
  admin,
  reusePort = false,
  ...main
}: ServerOptions): Layer.Layer<HttpServer.HttpServer, ServeError, HttpApiServices> => {
  const open: OpenConnections = { count: 0 }
  const clients = ({ connections }: LimitValues): Bound => ({ open, most: connections })
  // Clients that hold all connections do not keep operators out.
  const operators = ({ connections }: LimitValues): Bound => ({
    open,
    most: connections + spareConnections(connections)
  })
  return (
    admin === undefined
      ? listening(main, reusePort, clients, HttpApi.servers.single)
      : Layer.merge(
          listening(main, reusePort, clients, HttpApi.servers.clients),
          Layer.effectDiscard(Layer.build(listening(admin, reusePort, operators, HttpApi.servers.operators)))
        )
  ).pipe(Layer.provide(Traffic.layer))
}

export const Server = { layer }
