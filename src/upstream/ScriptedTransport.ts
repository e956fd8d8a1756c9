// A transport whose responses come from a script: without sockets, with the waits and timeouts of a call on the Clock.
// Must not know providers, dialects or what a body means.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { toBytes } from "./HttpCall.ts"
import {
  type CollectBounds,
  type CollectedResponse,
  type FaultKind,
  TransportFault,
  type TransportRequest,
  type TransportResponse
} from "./HttpExchange.ts"

/** Silence of the upstream in the middle of a body, in milliseconds of the Clock. */
export interface ScriptedPause {
  readonly pauseMillis: number
}

/** The response of a scripted call: a head and chunks, then optionally a fault. */
export interface ScriptedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds of the Clock until a socket is connected; without it none. */
  readonly connectMillis?: number
  /** Milliseconds of the Clock from the connection to the head; without it none. */
  readonly headMillis?: number
  readonly chunks?: ReadonlyArray<string | Uint8Array | ScriptedPause>
  /** The connection is reset after so many bytes of the body. */
  readonly cutAfterBytes?: number
  readonly fault?: FaultKind
}

/** The response to each request. An effect may wait; the timeouts of the call run meanwhile. */
export type TransportScript = (
  request: TransportRequest
) => ScriptedResponse | Effect.Effect<ScriptedResponse, TransportFault>

/** What a transport does. */
export interface TransportService {
  /** Succeeds with the head of the response; closing the scope closes the socket. */
  readonly open: (request: TransportRequest) => Effect.Effect<TransportResponse, TransportFault, Scope.Scope>
  /** Returns the complete response. */
  readonly collect: (
    request: TransportRequest,
    bounds: CollectBounds
  ) => Effect.Effect<CollectedResponse, TransportFault>
}

const now: Effect.Effect<number> = Effect.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))

/** The timer of one call, as a call over a socket has it. */
class CallTimer {
  private readonly totalAt: number
  private phase: "connect" | "first_byte" | "idle" = "connect"
  private phaseAt: number
  private phaseMillis: number
  private readonly totalMillis: number

  constructor(request: TransportRequest, startMillis: number) {
    this.totalMillis = request.totalMillis
    this.totalAt = startMillis + request.totalMillis
    this.phaseMillis = request.connectMillis
    this.phaseAt = startMillis + request.connectMillis
  }

  readonly enter = (phase: "first_byte" | "idle", millis: number): Effect.Effect<void> =>
    Effect.map(now, (at) => {
      this.phase = phase
      this.phaseMillis = millis
      this.phaseAt = at + millis
    })

  /** Fails when the wait is longer than the phase or the whole call may last. */
  readonly within = <A>(wait: Effect.Effect<A, TransportFault>): Effect.Effect<A, TransportFault> =>
    Effect.flatMap(now, (at) =>
      Effect.timeoutOrElse(wait, {
        duration: Math.max(0, Math.min(this.phaseAt, this.totalAt) - at),
        orElse: () =>
          Effect.fail(
            this.totalAt <= this.phaseAt
              ? new TransportFault({ kind: "total_timeout", millis: this.totalMillis })
              : new TransportFault({ kind: `${this.phase}_timeout`, millis: this.phaseMillis })
          )
      })
    )

  readonly wait = (millis = 0): Effect.Effect<void, TransportFault> =>
    millis === 0 ? Effect.void : this.within(Effect.sleep(millis))
}

/** The chunks up to a byte, and a reset where there are more. */
const cut = ({ chunks = [], cutAfterBytes, ...rest }: ScriptedResponse): ScriptedResponse => {
  if (cutAfterBytes === undefined) return { ...rest, chunks }
  const pieces: Array<string | Uint8Array | ScriptedPause> = []
  let left = cutAfterBytes
  for (const chunk of chunks) {
    if (typeof chunk === "object" && "pauseMillis" in chunk) pieces.push(chunk)
    else {
      const bytes = toBytes(chunk)
      if (left > 0) pieces.push(bytes.subarray(0, left))
      left -= bytes.length
    }
  }
  return { ...rest, chunks: pieces, ...(left < 0 ? { fault: "reset" } : {}) }
}

/** The head of a scripted response and its body, which is pulled. */
const opening =
  (script: TransportScript) =>
  (request: TransportRequest): Effect.Effect<TransportResponse, TransportFault> =>
    Effect.gen(function* () {
      const timer = new CallTimer(request, yield* now)
      const scripted = script(request)
      const response = cut(Effect.isEffect(scripted) ? yield* awaited(timer, request, scripted) : scripted)
      yield* timer.wait(response.connectMillis)
      yield* timer.enter("first_byte", request.firstByteMillis)
      yield* timer.wait(response.headMillis)
      return {
        status: response.status,
        headers: response.headers ?? {},
        body: bodyOf(response, request, timer),
        close: Effect.void
      }
    })

/** A script that waits has a connection from the beginning. */
const awaited = (
  timer: CallTimer,
  request: TransportRequest,
  scripted: Effect.Effect<ScriptedResponse, TransportFault>
): Effect.Effect<ScriptedResponse, TransportFault> =>
  Effect.andThen(timer.enter("first_byte", request.firstByteMillis), timer.within(scripted))

const bodyOf = (
  { chunks = [], fault }: ScriptedResponse,
  { idleMillis }: TransportRequest,
  timer: CallTimer
): TransportResponse["body"] => {
  let at = 0
  const next: TransportResponse["body"] = Effect.suspend(() => {
    const chunk = chunks[at++]
    if (chunk === undefined)
      return fault === undefined ? Cause.done() : Effect.fail(new TransportFault({ kind: fault }))
    return typeof chunk === "object" && "pauseMillis" in chunk
      ? Effect.andThen(timer.wait(chunk.pauseMillis), next)
      : Effect.succeed([toBytes(chunk)] as const)
  })
  // Without pulls the socket is paused, and so is the timer.
  return Effect.suspend(() => (at === 0 ? next : Effect.andThen(timer.enter("idle", idleMillis), next)))
}

/** All chunks of a body. */
const collected = (body: TransportResponse["body"]): Effect.Effect<Uint8Array, TransportFault> => {
  const reads: Array<Uint8Array> = []
  const more: Effect.Effect<Uint8Array, TransportFault> = Effect.matchEffect(body, {
    onSuccess: (pulled) => {
      reads.push(...pulled)
      return more
    },
    onFailure: (error) => (Cause.isDone(error) ? Effect.succeed(Buffer.concat(reads)) : Effect.fail(error))
  })
  return more
}

export const scriptedTransport = (script: TransportScript): TransportService => {
  const open = opening(script)
  return {
    open,
    collect: (request) =>
      Effect.flatMap(open(request), ({ body, headers, status }) =>
        Effect.map(collected(body), (bytes) => ({ status, headers, bytes }))
      )
  }
}
