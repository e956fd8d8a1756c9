// The transport: one HTTP call to an upstream over undici, with the response as a whole body or as a pull of bytes.
// Must not know providers, dialects or what a body means.
import type { LookupFunction } from "node:net"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { Agent, Client, type Dispatcher } from "undici"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { type HiddenValue, redacted } from "../domain/text/redaction.ts"
import { version } from "../domain/version.ts"
import { type Call, CollectCall, StreamCall, type Wire } from "./HttpCall.ts"
import type { AuthHeaders, TransportRequest } from "./HttpExchange.ts"
import type { CassetteUnusable } from "./Cassette.ts"
import { recordingTransport, replayingTransport } from "./RecordedTransport.ts"
import { scriptedTransport, type TransportScript, type TransportService } from "./ScriptedTransport.ts"

export type { ScriptedPause, ScriptedResponse, TransportScript, TransportService } from "./ScriptedTransport.ts"

export class Transport extends Context.Service<Transport, TransportService>()("gateway/upstream/Transport") {
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

const makeWire = (limits: LimitValues): Wire & { readonly destroy: () => Promise<unknown> } => {
  const options = {
    allowH2: false,
    connectTimeout: limits.connectMillis,
    keepAliveTimeout: limits.keepAliveMillis,
    maxHeaderSize: limits.headerBytes,
    // The timers of `Call` replace these: they separate the phases and stop while the socket is paused.
    headersTimeout: 0,
    bodyTimeout: 0
  }
  const kept = new Agent({ ...options, pipelining: 1 })
  // Keeps no connection alive, so that every call gets its own socket.
  const fresh = new Agent({ ...options, pipelining: 0 })
  /** A connection to one of these addresses; the name is not resolved again. */
  const pinned = (origin: string, addresses: ReadonlyArray<string>) =>
    new Client(origin, { ...options, pipelining: 0, connect: { lookup: lookupOf(addresses) } })
  const wire = {
    windowBytes: limits.streamWindowBytes,
    opened: false,
    dispatch: (request: TransportRequest, body: Buffer | null, handler: Call, isFresh: boolean) => {
      const { url, method, addresses } = request
      const slash = url.indexOf("/", url.indexOf("//") + 2)
      const origin = slash < 0 ? url : url.slice(0, slash)
      const dispatcher: Dispatcher = addresses !== undefined ? pinned(origin, addresses) : isFresh ? fresh : kept
      dispatcher.dispatch(
        {
          origin,
          path: slash < 0 ? "/" : url.slice(slash),
          method,
          headers: sentHeaders(request),
          body
        },
        handler
      )
    },
    destroy: () => Promise.all([kept.destroy(), fresh.destroy()])
  }
  // undici emits the event synchronously before it writes the first request to the new socket.
  kept.on("connect", () => {
    wire.opened = true
    queueMicrotask(() => {
      wire.opened = false
    })
  })
  return wire
}

/** A DNS look-up for Node that returns these addresses. */
const lookupOf = (addresses: ReadonlyArray<string>): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, options, done) => {
    if (options.all === true) return done(null, all)
    const [first] = all
    if (first !== undefined) done(null, first.address, first.family)
  }
}

/** The credentials of a call without their scheme. */
const secretsIn = (auth: AuthHeaders): ReadonlyArray<string> =>
  Object.values(auth).map((value) => Redacted.value(value).replace(/^(Bearer|Basic)\s+/i, ""))

/** The same, for redaction. */
export const credentialsIn = (auth: AuthHeaders): ReadonlyArray<HiddenValue> =>
  secretsIn(auth).map((value) => ({ value, put: redacted }))

const userAgent = `model-gateway/${version}`

const sentHeaders = ({ headers, auth }: TransportRequest): Record<string, string> => {
  const sent: Record<string, string> = { "user-agent": userAgent, "accept-encoding": "identity", ...headers }
  for (const name in auth) {
    const value = auth[name]
    if (value !== undefined) sent[name] = Redacted.value(value)
  }
  return sent
}
