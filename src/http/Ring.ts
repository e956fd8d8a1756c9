// The way from Node's server to the fiber of a handler and back: one fiber a request, which ends when its client leaves.
// It must not depend on routes, or on what is answered.
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ClientAbort } from "effect/http/HttpServerError"
import * as Scope from "effect/Scope"
import { schedulePhase } from "../batching/Phases.ts"
import type { Answering } from "./edge/Route.ts"
import { Limits } from "../domain/Limits.ts"
import { LiveList, type Place } from "../domain/collections.ts"
import { boundUnreadBody, pipelined } from "./node/Connections.ts"
import { arrivalOf } from "./node/Exchange.ts"
import { NodeExchange } from "./node/NodeExchange.ts"
import { BasePath } from "./node/Proxied.ts"

/** A request that nothing answered: its client has left, or the edge itself is broken. */
const breakOff = (response: ServerResponse, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (response.headersSent || response.destroyed) response.destroy()
  else response.writeHead(500, { connection: "close", "content-length": "0" }).end()
  return Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("request failed unexpectedly", cause)
}

/** The end of a request whose client left after its handler was done, and before its answer was written. */
const clientLeft = Exit.failCause(Cause.annotate(Cause.interrupt(), ClientAbort.annotation))

/** What is left to do for a request whose fiber has ended; undefined for nothing. */
const ending = (
  response: ServerResponse,
  scope: Scope.Closeable,
  exit: Exit.Exit<unknown>
): Effect.Effect<unknown> | undefined => {
  if (Exit.isSuccess(exit)) {
    const isLost = response.destroyed && !response.writableEnded
    return Scope.closeUnsafe(scope, isLost ? clientLeft : exit)
  }
  const closing = Scope.closeUnsafe(scope, exit)
  const broken = breakOff(response, exit.cause)
  return closing === undefined ? broken : Effect.andThen(broken, closing)
}

/** The running requests of a server. */
export interface Running {
  readonly fibers: Iterable<Fiber.Fiber<unknown>> & { readonly size: number }
  /** Interrupts them, and every one that still arrives. */
  readonly interrupt: Effect.Effect<void>
}

/**
 * Answers the requests of a server. Each starts after the event loop has read all sockets, when most bodies are complete,
 * and those of one connection in order.
 */
export const ring = (server: Server, answer: Answering): Effect.Effect<Running> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const fibers = new LiveList<Fiber.Fiber<unknown>>()
    const base = Context.get(context, BasePath)
    let isOver = false

    const fork = <R>(
      within: Context.Context<R>,
      effect: Effect.Effect<unknown, never, R>
    ): Place<Fiber.Fiber<unknown>> => fibers.add(Effect.runForkWith(within)(effect, { uninterruptible: true }))

    const start = (message: IncomingMessage, response: ServerResponse): void => {
      // No further event would report a connection that has closed by now. An ended one takes no answer.
      if (response.closed || message.socket.writableEnded) return
      if (!message.complete) boundUnreadBody(message, response)
      const scope = Scope.makeUnsafe()
      const exchange = new NodeExchange(message, response)
      const run = Effect.flatMap(
        Effect.suspend(() => answer(arrivalOf(exchange, base))),
        (value) => exchange.write(value)
      )
      const place = fork(Context.add(context, Scope.Scope, scope), run)
      const fiber = place.value
      // Answers are written in a phase of their own, and requests end after it.
      fiber.addObserver((exit) =>
        schedulePhase("end", () => {
          fibers.remove(place)
          const rest = ending(response, scope, exit)
          if (rest === undefined || Exit.isExit(rest)) return
          const last = fork(context, rest)
          last.value.addObserver(() => fibers.remove(last))
        })
      )
      if (fiber.pollUnsafe() !== undefined) return
      if (isOver) fiber.interruptUnsafe()
      response.on("close", () => {
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
