// The transport: one HTTP call to an upstream, with the response as a whole body or as a pull of bytes.
// Must not know providers, dialects or what a body means.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import { makeWire } from "./ConnectionPool.ts"
import { CollectCall, StreamCall, toBytes } from "./HttpCall.ts"
import type { CollectBounds, CollectedResponse, TransportRequest, TransportResponse } from "./HttpExchange.ts"
import { type FaultKind, TransportFault } from "./TransportFault.ts"

/** The response of a scripted call: a head and chunks, then optionally a fault. */
export interface ScriptedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly chunks?: ReadonlyArray<string | Uint8Array>
  readonly fault?: FaultKind
}
export type TransportScript = (
  request: TransportRequest
) => ScriptedResponse | Effect.Effect<ScriptedResponse, TransportFault>

export class Transport extends Context.Service<
  Transport,
  {
    /** Succeeds with the head of the response; closing the scope closes the socket. */
    readonly open: (request: TransportRequest) => Effect.Effect<TransportResponse, TransportFault, Scope.Scope>
    /** Returns the complete response. */
    readonly collect: (
      request: TransportRequest,
      bounds: CollectBounds
    ) => Effect.Effect<CollectedResponse, TransportFault>
  }
>()("gateway/upstream/Transport") {
  /** Over undici. Redirects are not followed, and bodies are not decompressed. */
  static readonly layer: Layer.Layer<Transport> = Layer.effect(
    Transport,
    Effect.gen(function* () {
      const limits = yield* Limits
      const wire = yield* Effect.acquireRelease(
        Effect.sync(() => makeWire(limits)),
        (made) => Effect.promise(made.destroy)
      )
      return {
        collect: (request, bounds) =>
          Effect.callback((resume) => {
            const call = new CollectCall(wire, request, bounds, resume)
            call.start()
            return Effect.sync(() => call.abort())
          }),
        open: (request) =>
          Effect.flatMap(Effect.scope, (scope) => {
            const call = new StreamCall(wire, request)
            return Effect.andThen(Scope.addFinalizer(scope, call.close), call.head)
          })
      }
    })
  )

  /** Responses come from a function, without sockets and timers. */
  static readonly layerTest = (script: TransportScript): Layer.Layer<Transport> => {
    const answer = (request: TransportRequest): Effect.Effect<ScriptedResponse, TransportFault> =>
      Effect.suspend(() => {
        const scripted = script(request)
        return Effect.isEffect(scripted) ? scripted : Effect.succeed(scripted)
      })
    return Layer.succeed(Transport, {
      open: (request) => Effect.map(answer(request), scriptedStream),
      collect: (request) =>
        Effect.flatMap(answer(request), ({ status, headers = {}, chunks = [], fault }) =>
          fault === undefined
            ? Effect.succeed({ status, headers, bytes: Buffer.concat(chunks.map(toBytes)) })
            : Effect.fail(new TransportFault({ kind: fault }))
        )
    })
  }
}

const scriptedStream = ({ status, headers = {}, chunks = [], fault }: ScriptedResponse): TransportResponse => {
  let at = 0
  return {
    status,
    headers,
    body: Effect.suspend((): TransportResponse["body"] => {
      const chunk = chunks[at++]
      if (chunk !== undefined) return Effect.succeed([toBytes(chunk)])
      return fault === undefined ? Cause.done() : Effect.fail(new TransportFault({ kind: fault }))
    }),
    close: Effect.void
  }
}
