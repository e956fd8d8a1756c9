// The transport: one HTTP call to an upstream, with the response as a whole body or as a pull of bytes.
// Must not know providers, dialects or what a body means.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import { type CassetteUnusable, recordingTransport, replayingTransport } from "./Cassette.ts"
import { makeWire, secretsIn } from "./ConnectionPool.ts"
import { CollectCall, StreamCall } from "./HttpCall.ts"
import { Network } from "./Network.ts"
import { scriptedTransport, type TransportScript, type TransportService } from "./ScriptedTransport.ts"

export type { ScriptedPause, ScriptedResponse, TransportScript, TransportService } from "./ScriptedTransport.ts"

export class Transport extends Context.Service<Transport, TransportService>()("gateway/upstream/Transport") {
  /** Over undici. Redirects are not followed, and bodies are not decompressed. */
  static readonly layer: Layer.Layer<Transport> = Layer.effect(
    Transport,
    Effect.gen(function* () {
      const limits = yield* Limits
      const network = yield* Network
      const wire = yield* Effect.acquireRelease(
        Effect.sync(() => makeWire(limits, network)),
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

  /** Responses come from a script, without sockets; waits and timeouts run on the Clock. */
  static readonly layerTest = (script: TransportScript): Layer.Layer<Transport> =>
    Layer.sync(Transport, () => scriptedTransport(script))

  /**
   * Records the exchanges of a network into a folder, one file each, without credentials. Recordings of a folder add up.
   */
  static readonly layerRecord = (
    folder: string,
    network: Layer.Layer<Transport> = Transport.layer
  ): Layer.Layer<Transport, CassetteUnusable> =>
    Layer.effect(
      Transport,
      Effect.gen(function* () {
        const { replyBytes } = yield* Limits
        return yield* recordingTransport(folder, yield* Transport, secretsIn, replyBytes)
      })
    ).pipe(Layer.provide(network))

  /** Answers from the recordings of a folder, without a network. A request that was not recorded fails. */
  static readonly layerReplay = (folder: string): Layer.Layer<Transport, CassetteUnusable> =>
    Layer.effect(
      Transport,
      Effect.suspend(() => replayingTransport(folder, secretsIn))
    )
}
