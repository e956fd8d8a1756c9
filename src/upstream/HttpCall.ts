// One HTTP call to an upstream: its phases, its timer, and the collecting or streaming of bytes.
// Must not know the HTTP client library, providers or dialects.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { schedulePhase } from "../batching/Phases.ts"
import { pushBytes } from "../wire/grownList.ts"
import {
  type CollectBounds,
  type CollectedResponse,
  type FaultKind,
  faultKind,
  noRoom,
  TransportFault,
  type TransportRequest,
  type TransportResponse
} from "./HttpExchange.ts"

/** The connections of one layer, as calls use them. */
export interface Wire {
  /** A stream's socket is paused when more bytes than this come for one pull. */
  readonly windowBytes: number
  /** A kept socket that closes within this time of the request was closed before the upstream had it. */
  readonly staleMillis: number
  /** True while the request that starts is the first one on its socket. */
  opened: boolean
  readonly dispatch: (request: TransportRequest, handler: Call) => void
}

/** What the HTTP client lets a handler do to its request. */
export interface Controller {
  readonly abort: (reason: Error) => void
  readonly pause: () => void
  readonly resume: () => void
  /** Parts of the first network read, kept until the request ends. */
  rawHeaders?: unknown
}

const aborted = new Error("The call was given up.")

type Phase = "connect" | "first_byte" | "idle"

/** One call: its phases and its only timer. Subclasses handle the bytes. */
export abstract class Call {
  protected readonly wire: Wire
  protected readonly room: TransportRequest["room"]
  protected readonly idleMillis: number
  protected controller: Controller | undefined
  protected over = false
  protected status = 0
  /** Dropped when it is sent: an answer may take minutes, and the body may be large. */
  private unsent: TransportRequest | undefined
  private readonly isFresh: boolean
  private readonly observed: TransportRequest["observed"]
  private readonly firstByteMillis: number
  private answered = false
  private reused = false
  private sentAt = 0
  private phase: Phase = "connect"
  private phaseAt = 0
  private totalAt = 0
  private phaseMillis = 0
  private readonly totalMillis: number
  private armedFor = 0
  private timer: NodeJS.Timeout | undefined

  constructor(wire: Wire, request: TransportRequest) {
    this.wire = wire
    this.unsent = request
    this.room = request.room
    this.isFresh = request.isFresh === true
    this.observed = request.observed
    this.firstByteMillis = request.firstByteMillis
    this.idleMillis = request.idleMillis
    this.totalMillis = request.totalMillis
  }

  protected abstract onHead(status: number, headers: Record<string, string>): void
  protected abstract onBytes(bytes: Buffer): void
  protected abstract onEnd(): void
  protected abstract onFault(fault: TransportFault): void

  start(): void {
    const { unsent } = this
    if (unsent === undefined) return
    this.totalAt = performance.now() + unsent.totalMillis
    this.enter("connect", unsent.connectMillis)
    schedulePhase("call", () => {
      if (!this.over) this.dispatch()
    })
  }

  /** Ends the call; after that nothing is reported. */
  abort(): void {
    if (!this.over) this.settle(true)
  }

  protected settle(abort: boolean): void {
    this.over = true
    clearTimeout(this.timer)
    if (abort) this.controller?.abort(aborted)
  }

  /** `millis`: the limit that a timer has reached. */
  protected fail(kind: FaultKind, millis?: number): void {
    if (this.over) return
    this.settle(true)
    this.onFault(new TransportFault({ kind, ...(millis === undefined ? {} : { millis }) }))
  }

  private dispatch(): void {
    const { unsent } = this
    if (unsent === undefined) return
    this.unsent = undefined
    try {
      this.wire.dispatch(unsent, this)
    } catch (error) {
      this.fail(faultKind(error))
    }
  }

  /** Returns the time at which the phase begins. */
  protected enter(phase: Phase, millis: number): number {
    const now = performance.now()
    this.phase = phase
    this.phaseMillis = millis
    this.phaseAt = now + millis
    this.arm(now)
    return now
  }

  /** While the socket is paused only the total timeout runs. */
  protected rest(): void {
    this.phaseAt = this.totalAt
  }

  /** A timer that fires too early is armed again; only an earlier deadline needs a new timer. */
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
    if (now >= this.totalAt) this.fail("total_timeout", this.totalMillis)
    else if (now >= this.phaseAt) this.fail(`${this.phase}_timeout`, this.phaseMillis)
    else this.arm(now)
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.over) return controller.abort(aborted)
    this.reused = !this.isFresh && !this.wire.opened
    this.wire.opened = false
    this.sentAt = this.enter("first_byte", this.firstByteMillis)
    this.observed?.sent()
  }

  onResponseStarted(): void {
    this.answered = true
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ): void {
    // They would keep the whole read, up to 64 KiB with the beginning of the body.
    controller.rawHeaders = null
    if (this.over || status < 200) return
    this.status = status
    this.onHead(status, joined(headers))
  }

  onResponseData(_: Controller, bytes: Buffer): void {
    if (this.over) return
    this.enter("idle", this.idleMillis)
    this.onBytes(bytes)
  }

  onResponseEnd(): void {
    if (this.over) return
    this.settle(false)
    this.onEnd()
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.over) return
    const kind = faultKind(error)
    if (kind === "reset" && this.isStale()) return this.fail("stale")
    this.fail(kind === "garbled" && this.status > 0 ? "reset" : kind)
  }

  /** The upstream closed an idle socket as the call took it, too early to have worked on the call. */
  private isStale(): boolean {
    return this.reused && !this.answered && performance.now() - this.sentAt < this.wire.staleMillis
  }
}

const onTimer = (call: Call): void => call.tick()

const isJoined = (headers: Record<string, string | Array<string> | undefined>): headers is Record<string, string> => {
  for (const name in headers) if (typeof headers[name] !== "string") return false
  return true
}

const joined = (headers: Record<string, string | Array<string> | undefined>): Record<string, string> => {
  if (isJoined(headers)) return headers
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

export const toBytes = (data: string | Uint8Array): Buffer =>
  typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength)

/** Collects the body and resumes once. A failure while reading an error body keeps the error status. */
export class CollectCall extends Call {
  private readonly bounds: CollectBounds
  private readonly resume: (effect: Effect.Effect<CollectedResponse, TransportFault>) => void
  private headers: Readonly<Record<string, string>> = {}
  private readonly chunks: Array<Uint8Array> = []
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
    this.enter("idle", this.idleMillis)
  }

  protected onBytes(bytes: Buffer): void {
    const room = (isSuccess(this.status) ? this.bounds.replyBytes : this.bounds.errorBytes) - this.size
    pushBytes(this.chunks, bytes.length > room ? bytes.subarray(0, room) : bytes)
    this.size += Math.min(bytes.length, room)
    if (bytes.length > room) return this.fail("too_large")
    const shortage = this.room?.take(bytes.length)
    if (shortage !== undefined) this.fail(noRoom[shortage])
  }

  protected onEnd(): void {
    const only = this.chunks.length === 1 ? this.chunks[0] : undefined
    const bytes = only ?? Buffer.concat(this.chunks, this.size)
    schedulePhase("reply", () => this.resume(Effect.succeed({ status: this.status, headers: this.headers, bytes })))
  }

  protected onFault(fault: TransportFault): void {
    if (this.status > 0 && !isSuccess(this.status)) this.onEnd()
    else this.resume(Effect.fail(fault))
  }
}

/** What waits for a slow reader, and what it is given at a time. */
const pieceBytes = 16 * 1024

/** Queues the bytes until they are pulled. */
export class StreamCall extends Call {
  private onHeadReady: ((effect: Effect.Effect<TransportResponse, TransportFault>) => void) | undefined
  private onReady: ((effect: TransportResponse["body"]) => void) | undefined
  private queue: Array<Uint8Array> = []
  private queued = 0
  private paused = false
  /** True from the first bytes that were pulled. */
  private begun = false
  private flushing = false
  private fault: TransportFault | undefined

  readonly close = Effect.sync(() => this.abort())

  readonly head: Effect.Effect<TransportResponse, TransportFault> = Effect.callback((resume) => {
    this.onHeadReady = resume
    this.start()
    return this.close
  })

  private readonly pull: TransportResponse["body"] = Effect.suspend(
    () =>
      this.ready() ??
      Effect.callback((resume) => {
        // A fiber may yield between `ready` and this callback; bytes that arrived meanwhile woke no reader.
        const ready = this.ready()
        if (ready !== undefined) return resume(ready)
        this.onReady = resume
        return Effect.sync(() => {
          this.onReady = undefined
        })
      })
  )

  protected onHead(status: number, headers: Record<string, string>): void {
    if (isEncoded(headers) && isSuccess(status)) return this.fail("encoded")
    // The body of an encoded error is not readable; its status is enough.
    if (isEncoded(headers)) this.settle(true)
    this.onHeadReady?.(Effect.succeed({ status, headers, body: this.pull, close: this.close }))
  }

  protected onBytes(bytes: Buffer): void {
    pushBytes(this.queue, bytes)
    this.queued += bytes.length
    // A reader that has begun and does not pull is slow.
    const most = this.begun && this.onReady === undefined ? pieceBytes : this.wire.windowBytes
    if (this.queued > most && !this.paused) {
      this.paused = true
      this.rest()
      this.controller?.pause()
    }
    this.flushSoon()
  }

  protected onEnd(): void {
    this.flushSoon()
  }

  protected onFault(fault: TransportFault): void {
    this.fault = fault
    if (this.status > 0) this.flushSoon()
    this.onHeadReady?.(Effect.fail(fault))
  }

  /** One network read may have many pieces: the reader wakes once, after all of them. */
  private flushSoon(): void {
    if (this.onReady === undefined || this.flushing) return
    this.flushing = true
    schedulePhase("reply", () => {
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
      this.begun = true
      if (this.paused && this.queued > 2 * pieceBytes) return this.takePiece(first)
      this.queue = []
      this.queued = 0
      this.unpause()
      return Effect.succeed([first, ...rest])
    }
    if (this.fault !== undefined) return Effect.fail(this.fault)
    return this.over ? Cause.done() : undefined
  }

  /** A slow reader gets little at a time, because what it is given is larger than these bytes. */
  private takePiece(first: Uint8Array): TransportResponse["body"] {
    if (first.length > pieceBytes) {
      this.queue[0] = first.subarray(pieceBytes)
      this.queued -= pieceBytes
      return Effect.succeed([first.subarray(0, pieceBytes)])
    }
    let bytes = 0
    const end = this.queue.findIndex((chunk) => (bytes += chunk.length) > pieceBytes)
    const rest = this.queue.slice(1, end)
    this.queue = this.queue.slice(end)
    this.queued -= rest.reduce((sum, { length }) => sum + length, first.length)
    return Effect.succeed([first, ...rest])
  }

  private unpause(): void {
    if (!this.paused) return
    this.paused = false
    if (this.over) return
    this.enter("idle", this.idleMillis)
    this.controller?.resume()
  }
}
