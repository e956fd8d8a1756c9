// The door to the network: one HTTP call, answered as a whole body or as a pull of bytes.
// It must not know providers, dialects or what a body means.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Pull from "effect/Pull"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { Agent, type Dispatcher } from "undici"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { type FaultKind, faultKind } from "./transportFault.ts"

/** Header name -> secret value, written to the wire here and nowhere else. */
export type AuthHeaders = Readonly<Record<string, Redacted.Redacted<string>>>

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: AuthHeaders
  readonly body: string | Uint8Array | undefined
  /** Until a socket is there. */
  readonly connectMillis: number
  /** From the request on the socket to the head of the answer; for a stream, to its first byte of body. */
  readonly firstByteMillis: number
  /** Between two reads, while we are reading. */
  readonly idleMillis: number
  /** The whole call, connecting included. */
  readonly totalMillis: number
}

export interface TransportResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** All bytes that came since the last pull; not pulling pauses the socket. */
  readonly body: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], TransportFault>
  /** Gives the connection up; harmless when the answer is complete. */
  readonly close: Effect.Effect<void>
}

export interface CollectedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** Bounds in bytes: a 2xx body beyond `replyBytes` is a fault, another one is cut at `errorBytes`. */
export interface CollectBounds {
  readonly replyBytes: number
  readonly errorBytes: number
}

/** A call that got no usable answer; `kind` says why, without hosts or texts of the network. */
export class TransportFault extends Data.TaggedError("TransportFault")<{ readonly kind: FaultKind }> {}

/** What a scripted call answers: a head and chunks, then optionally a fault. */
export interface ScriptedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly chunks?: ReadonlyArray<string | Uint8Array>
  readonly fault?: FaultKind
}
export type TransportScript = (
  request: TransportRequest
) => ScriptedResponse | Effect.Effect<ScriptedResponse, TransportFault>

export class Transport extends Context.Service<Transport, {
  /** Succeeds with the head of the answer; closing the scope closes the socket. */
  readonly open: (request: TransportRequest) => Effect.Effect<TransportResponse, TransportFault, Scope.Scope>
  /** The whole answer at once. */
  readonly collect: (request: TransportRequest, bounds: CollectBounds) => Effect.Effect<CollectedResponse, TransportFault>
}>()("gateway/upstream/Transport") {
  /** Over undici; redirects are not followed, nothing is decompressed. */
  static readonly layer: Layer.Layer<Transport> = Layer.effect(
    Transport,
    Effect.gen(function*() {
      const limits = yield* Limits
      const wire = yield* Effect.acquireRelease(Effect.sync(() => makeWire(limits)), (made) => Effect.promise(made.destroy))
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

  /** Answers from a function, without sockets and timers. */
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
            : Effect.fail(new TransportFault({ kind: fault })))
    })
  }
}

const toBytes = (data: string | Uint8Array): Buffer =>
  typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength)

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

/** The connections of one layer. */
interface Wire {
  readonly agent: Agent
  /** Keeps no connection alive, so that every call gets a socket of its own. */
  readonly fresh: Agent
  readonly windowBytes: number
  /** True while the request that starts is the first one on its socket. */
  opened: boolean
  readonly destroy: () => Promise<unknown>
}

const makeWire = (limits: LimitValues): Wire => {
  const options = {
    allowH2: false,
    connectTimeout: limits.connectMillis,
    keepAliveTimeout: limits.keepAliveMillis,
    maxHeaderSize: limits.headerBytes,
    // Our timers rule: they tell the phases apart and stand still while we do not read.
    headersTimeout: 0,
    bodyTimeout: 0
  }
  const agent = new Agent({ ...options, pipelining: 1 })
  const fresh = new Agent({ ...options, pipelining: 0 })
  const wire: Wire = {
    agent,
    fresh,
    windowBytes: limits.streamWindowBytes,
    opened: false,
    destroy: () => Promise.all([agent.destroy(), fresh.destroy()])
  }
  // The event comes synchronously before the first request of the new socket is written.
  agent.on("connect", () => {
    wire.opened = true
    queueMicrotask(() => {
      wire.opened = false
    })
  })
  return wire
}

const aborted = new Error("The call was given up.")

type Phase = "connect" | "first_byte" | "idle"

/** One call: its phases, its only timer, and the silent retry. What becomes of the bytes is the subclass's business. */
abstract class Call implements Dispatcher.DispatchHandler {
  protected readonly wire: Wire
  protected readonly request: TransportRequest
  protected controller: Dispatcher.DispatchController | undefined
  protected over = false
  protected status = 0
  private readonly body: Buffer | null
  private answered = false
  private reused = false
  private retried = false
  private phase: Phase = "connect"
  private phaseAt = 0
  private totalAt = 0
  private armedFor = 0
  private timer: NodeJS.Timeout | undefined

  constructor(wire: Wire, request: TransportRequest) {
    this.wire = wire
    this.request = request
    this.body = request.body === undefined ? null : toBytes(request.body)
  }

  protected abstract onHead(status: number, headers: Record<string, string>): void
  protected abstract onBytes(bytes: Buffer): void
  protected abstract onEnd(): void
  protected abstract onFault(kind: FaultKind): void

  start(): void {
    this.totalAt = performance.now() + this.request.totalMillis
    this.enter("connect", this.request.connectMillis)
    this.dispatch(this.wire.agent)
  }

  /** Ends the call from our side; nothing is reported any more. */
  abort(): void {
    if (!this.over) this.settle(true)
  }

  protected settle(abort: boolean): void {
    this.over = true
    clearTimeout(this.timer)
    if (abort) this.controller?.abort(aborted)
  }

  protected fail(kind: FaultKind): void {
    if (this.over) return
    this.settle(true)
    this.onFault(kind)
  }

  private dispatch(agent: Agent): void {
    const { url, method, headers, auth } = this.request
    const slash = url.indexOf("/", url.indexOf("//") + 2)
    const sent: Record<string, string> = {
      "user-agent": "model-gateway/0.1.0",
      "accept-encoding": "identity",
      ...headers
    }
    for (const name in auth) {
      const value = auth[name]
      if (value !== undefined) sent[name] = Redacted.value(value)
    }
    try {
      agent.dispatch({
        origin: slash < 0 ? url : url.slice(0, slash),
        path: slash < 0 ? "/" : url.slice(slash),
        method,
        headers: sent,
        body: this.body
      }, this)
    } catch (error) {
      this.fail(faultKind(error))
    }
  }

  protected enter(phase: Phase, millis: number): void {
    const now = performance.now()
    this.phase = phase
    this.phaseAt = now + millis
    this.arm(now)
  }

  /** While the socket is paused only the total time runs. */
  protected rest(): void {
    this.phaseAt = this.totalAt
  }

  /** A timer that fires too early looks again; only an earlier deadline needs a new one. */
  private arm(now: number): void {
    const due = Math.min(this.phaseAt, this.totalAt)
    if (this.timer !== undefined && this.armedFor <= due) return
    clearTimeout(this.timer)
    this.armedFor = due
    this.timer = setTimeout(onTimer, Math.max(1, Math.ceil(due - now)), this)
  }

  /** Called by the timer. */
  tick(): void {
    this.timer = undefined
    if (this.over) return
    const now = performance.now()
    if (now >= this.totalAt) this.fail("total_timeout")
    else if (now >= this.phaseAt) this.fail(`${this.phase}_timeout`)
    else this.arm(now)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.over) return controller.abort(aborted)
    this.reused = !this.retried && !this.wire.opened
    this.wire.opened = false
    this.enter("first_byte", this.request.firstByteMillis)
  }

  onResponseStarted(): void {
    this.answered = true
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | Array<string> | undefined>): void {
    if (this.over || status < 200) return
    this.status = status
    this.onHead(status, joined(headers))
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.over) return
    this.enter("idle", this.request.idleMillis)
    this.onBytes(bytes)
  }

  onResponseEnd(): void {
    if (this.over) return
    this.settle(false)
    this.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.over) return
    const kind = faultKind(error)
    if (kind === "reset" && this.reused && !this.answered && !this.retried) {
      // The upstream closed an idle socket just as we took it: not one byte was answered, so the call may go again.
      this.retried = true
      this.enter("connect", this.request.connectMillis)
      return this.dispatch(this.wire.fresh)
    }
    this.fail(kind === "garbled" && this.status > 0 ? "reset" : kind)
  }
}

const onTimer = (call: Call): void => call.tick()

const joined = (headers: Record<string, string | Array<string> | undefined>): Record<string, string> => {
  const out: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) out[name] = typeof value === "string" ? value : value.join(", ")
  }
  return out
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const isEncoded = (headers: Readonly<Record<string, string>>): boolean => {
  const coding = headers["content-encoding"]
  return coding !== undefined && coding !== "" && coding.toLowerCase() !== "identity"
}

/** Collects the body and resumes once. An error status survives whatever happens to its body. */
class CollectCall extends Call {
  private readonly bounds: CollectBounds
  private readonly resume: (effect: Effect.Effect<CollectedResponse, TransportFault>) => void
  private headers: Readonly<Record<string, string>> = {}
  private readonly chunks: Array<Buffer> = []
  private size = 0

  constructor(
    wire: Wire,
    request: TransportRequest,
    bounds: CollectBounds,
    resume: (effect: Effect.Effect<CollectedResponse, TransportFault>) => void
  ) {
    super(wire, request)
    this.bounds = bounds
    this.resume = resume
  }

  protected onHead(status: number, headers: Record<string, string>): void {
    this.headers = headers
    if (isEncoded(headers)) return this.fail("encoded")
    if (isSuccess(status) && Number(headers["content-length"]) > this.bounds.replyBytes) return this.fail("too_large")
    this.enter("idle", this.request.idleMillis)
  }

  protected onBytes(bytes: Buffer): void {
    const room = (isSuccess(this.status) ? this.bounds.replyBytes : this.bounds.errorBytes) - this.size
    this.chunks.push(bytes.length > room ? bytes.subarray(0, room) : bytes)
    this.size += Math.min(bytes.length, room)
    if (bytes.length > room) this.fail("too_large")
  }

  protected onEnd(): void {
    const only = this.chunks.length === 1 ? this.chunks[0] : undefined
    this.resume(Effect.succeed({ status: this.status, headers: this.headers, bytes: only ?? Buffer.concat(this.chunks, this.size) }))
  }

  protected onFault(kind: FaultKind): void {
    if (this.status > 0 && !isSuccess(this.status)) this.onEnd()
    else this.resume(Effect.fail(new TransportFault({ kind })))
  }
}

/** Queues what comes until it is pulled; beyond the window the socket is paused. */
class StreamCall extends Call {
  private onHeadReady: ((effect: Effect.Effect<TransportResponse, TransportFault>) => void) | undefined
  private onReady: ((effect: TransportResponse["body"]) => void) | undefined
  private queue: Array<Uint8Array> = []
  private queued = 0
  private paused = false
  private flushing = false
  private fault: FaultKind | undefined

  readonly close = Effect.sync(() => this.abort())

  readonly head: Effect.Effect<TransportResponse, TransportFault> = Effect.callback((resume) => {
    this.onHeadReady = resume
    this.start()
    return this.close
  })

  private readonly pull: TransportResponse["body"] = Effect.suspend(() =>
    this.ready() ?? Effect.callback((resume) => {
      this.onReady = resume
      return Effect.sync(() => {
        this.onReady = undefined
      })
    })
  )

  protected onHead(status: number, headers: Record<string, string>): void {
    if (isEncoded(headers) && isSuccess(status)) return this.fail("encoded")
    // The coded body of an error says nothing; its status does.
    if (isEncoded(headers)) this.settle(true)
    this.onHeadReady?.(Effect.succeed({ status, headers, body: this.pull, close: this.close }))
  }

  protected onBytes(bytes: Buffer): void {
    this.queue.push(bytes)
    this.queued += bytes.length
    if (this.queued > this.wire.windowBytes && !this.paused) {
      this.paused = true
      this.rest()
      this.controller?.pause()
    }
    this.flushSoon()
  }

  protected onEnd(): void {
    this.flushSoon()
  }

  protected onFault(kind: FaultKind): void {
    this.fault = kind
    if (this.status > 0) this.flushSoon()
    this.onHeadReady?.(Effect.fail(new TransportFault({ kind })))
  }

  /** One network read may hold many pieces: the reader wakes once, after all of them. */
  private flushSoon(): void {
    if (this.onReady === undefined || this.flushing) return
    this.flushing = true
    queueMicrotask(() => {
      this.flushing = false
      const resume = this.onReady
      const ready = resume === undefined ? undefined : this.ready()
      if (resume === undefined || ready === undefined) return
      this.onReady = undefined
      resume(ready)
    })
  }

  private ready(): TransportResponse["body"] | undefined {
    const [first, ...rest] = this.queue
    if (first !== undefined) {
      this.queue = []
      this.queued = 0
      this.unpause()
      return Effect.succeed([first, ...rest])
    }
    if (this.fault !== undefined) return Effect.fail(new TransportFault({ kind: this.fault }))
    return this.over ? Cause.done() : undefined
  }

  private unpause(): void {
    if (!this.paused) return
    this.paused = false
    if (this.over) return
    this.enter("idle", this.request.idleMillis)
    this.controller?.resume()
  }
}
