// The way from Node's server to the fiber of a handler and back: one fiber a request, which ends when its client leaves.
// It must not depend on routes, or on what is answered.
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ClientAbort } from "effect/http/HttpServerError"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import { schedulePhase } from "../batching/Phases.ts"
import type { Answering } from "./edge/Route.ts"
import { Limits } from "../domain/Limits.ts"
import { arrivalOfNode } from "./node/Arrival.ts"
import { pipelined } from "./node/Pipelined.ts"
import { boundUnreadBody, closesConnection } from "./node/UnreadBody.ts"

/** Larger answers count as in flight until they are written. */
const waitedLength = 1024 * 1024

/** Writes an answer that its handler has left to the server; handlers that have Node's response stream on it themselves. */
const write = (
  message: IncomingMessage,
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse
): Effect.Effect<void> => {
  if (response.writableEnded || response.destroyed) return Effect.void
  // Half an answer is out: its handler failed.
  if (response.headersSent) return Effect.sync(() => response.destroy())
  response.writeHead(status, closesConnection(message) ? { ...headers, connection: "close" } : headers)
  if (body._tag !== "Uint8Array") return Effect.sync(() => response.end())
  const bytes = body.text ?? body.body
  if (body.contentLength < waitedLength) return Effect.sync(() => response.end(bytes))
  return Effect.interruptible(
    Effect.callback((resume) => {
      response.once("close", () => resume(Effect.void))
      response.end(bytes)
    })
  )
}

/** A request that nothing answered: its client has left, or the edge itself is broken. */
const breakOff = (response: ServerResponse, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (response.headersSent || response.destroyed) response.destroy()
  else response.writeHead(500, { connection: "close", "content-length": "0" }).end()
  return Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("request failed unexpectedly", cause)
}

/** The running requests of a server. */
export interface Running {
  readonly fibers: ReadonlySet<Fiber.Fiber<unknown, unknown>>
  /** Interrupts them, and every one that still arrives. */
  readonly interrupt: Effect.Effect<void>
}

/**
 * Answers the requests of a server. Each starts after the event loop has read all sockets, when most bodies are complete,
 * and those of one connection in order.
 */
export const ring = (server: Server, answer: Answering): Effect.Effect<Running> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
    let isOver = false

    const start = (message: IncomingMessage, response: ServerResponse): void => {
      // No further event would report a connection that has closed by now. An ended one takes no answer.
      if (response.closed || message.socket.writableEnded) return
      if (!message.complete) boundUnreadBody(message, response)
      const scope = Scope.makeUnsafe()
      const answered = Effect.flatMap(
        Effect.suspend(() => answer(arrivalOfNode(message, response))),
        (value) => write(message, response, value)
      )
      const fiber = Effect.runForkWith(Context.add(context, Scope.Scope, scope))(
        Effect.onExitPrimitive(answered, (exit) => {
          const closing = Scope.closeUnsafe(scope, exit)
          if (Exit.isSuccess(exit)) return closing
          const broken = breakOff(response, exit.cause)
          return closing === undefined ? broken : Effect.andThen(broken, closing)
        }),
        { uninterruptible: true }
      )
      if (fiber.pollUnsafe() !== undefined) return
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
      if (isOver) fiber.interruptUnsafe()
      response.once("close", () => {
        if (!response.writableEnded) fiber.interruptUnsafe(undefined, ClientAbort.annotation)
      })
    }

    const inTurn = pipelined(Context.get(context, Limits).pipelined)
    const arrive = (message: IncomingMessage, response: ServerResponse): void =>
      inTurn(message, response, () => schedulePhase("arrival", () => start(message, response)))
    server.on("request", arrive)
    server.on("checkContinue", arrive)
    const interrupt = Effect.suspend(() => {
      isOver = true
      return Fiber.interruptAll(fibers)
    })
    return Effect.succeed({ fibers, interrupt })
  })
