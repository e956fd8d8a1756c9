// What is under way in this process: requests, body bytes, and whether we are leaving.
// It must not know any request.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Counters of the process, changed in place because each request touches them. */
export class Traffic extends Context.Service<Traffic, {
  /** Requests whose answer is not complete. */
  inFlight: number
  /** Bytes of request bodies received and not yet parsed. */
  bodyBytes: number
  /** True from the moment we were asked to stop. */
  draining: boolean
}>()("gateway/http/Traffic") {
  static readonly layer: Layer.Layer<Traffic> = Layer.effect(
    Traffic,
    Effect.sync(() => ({ inFlight: 0, bodyBytes: 0, draining: false }))
  )
}
