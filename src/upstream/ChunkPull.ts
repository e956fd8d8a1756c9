// Pulls the chunks of an upstream's stream: all bytes of a network read go through its reader in a single stage.
// Must not know how a stream is opened, or what its chunks contain.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type { GatewayError } from "../domain/GatewayError.ts"
import { ProviderError, withTexts } from "../domain/ProviderError.ts"
import type { Room, Shortage } from "../domain/RequestContext.ts"
import type { Redaction } from "../domain/text/redaction.ts"
import type { StreamReader } from "../translate/StreamReader.ts"
import { isStreamFailed, type Progress, type StreamFailed } from "../translate/Translator.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { faultReason, noRoom, TransportFault, type TransportResponse, upstreamSubject } from "./HttpExchange.ts"
import type { Prepared } from "./Prepared.ts"

type Chunks<Chunk> = readonly [Chunk, ...Array<Chunk>]

const isSome = <Chunk>(chunks: ReadonlyArray<Chunk>): chunks is Chunks<Chunk> => chunks.length > 0

/** The further responses of a long answer. */
export interface NextHops {
  /** Most responses of one answer. */
  readonly most: number
  readonly next: (token: string, usage: Usage | undefined) => Effect.Effect<TransportResponse, GatewayError>
}

const lineFeed = 0x0a
/** Shorter lines are part of the fixed cost of a stream. */
const leastCounted = 64 * 1024

/** Counts the bytes of an unfinished long line. Generated images come as one line, which waits in memory. */
class OpenLine {
  private readonly room: Room | undefined
  private bytes = 0
  private counted = 0

  constructor(room: Room | undefined) {
    this.room = room
  }

  read(reads: ReadonlyArray<Uint8Array>): Shortage | undefined {
    for (const read of reads) {
      const end = read.lastIndexOf(lineFeed)
      this.bytes = end < 0 ? this.bytes + read.length : read.length - end - 1
    }
    const wanted = this.bytes < leastCounted ? 0 : this.bytes
    const more = wanted - this.counted
    if (more === 0) return undefined
    if (more < 0) this.room?.give(-more)
    const shortage = more < 0 ? undefined : this.room?.take(more)
    if (shortage === undefined) this.counted = wanted
    return shortage
  }
}

type Pulled<Chunk> = Pull.Pull<Chunks<Chunk>, ProviderError>

/**
 * A stream of one response, or of the responses of one long answer after each other. It keeps nothing of the request,
 * whose prompt would otherwise stay in memory for as long as the answer takes.
 */
export class ChunkPull<Chunk> {
  readonly pull: Pulled<Chunk>
  private readonly slug: string
  private readonly status: number
  private readonly redaction: Redaction
  private readonly hops: NextHops | undefined
  private readonly openLine: OpenLine
  private current: StreamReader<Chunk>
  private read: Pulled<Chunk>
  private hopsLeft: number
  private pending: Chunks<Chunk> | undefined
  private begun = false
  private isWhole = false
  private end: Pull.Pull<never, ProviderError> | undefined
  /** How the answer ends when a later hop fails before its first chunk. */
  private before: StreamReader<Chunk> | undefined

  constructor(
    prepared: Prepared<unknown, Chunk>,
    response: TransportResponse,
    redaction: Redaction,
    room: Room | undefined,
    hops: NextHops | undefined
  ) {
    this.slug = prepared.target.slug
    this.status = response.status
    this.redaction = redaction
    this.hops = hops
    this.hopsLeft = hops === undefined ? 0 : hops.most - 1
    this.openLine = new OpenLine(room)
    this.current = prepared.chunks(response.headers, redaction)
    this.read = this.readFrom(response.body)
    this.pull = Effect.suspend(() => {
      const { pending } = this
      if (pending === undefined) return this.end ?? this.read
      this.pending = undefined
      return Effect.succeed(pending)
    })
  }

  /** Makes the next pull return these chunks again. */
  putBack(chunks: Chunks<Chunk>): void {
    this.pending = chunks
  }

  usage(): Usage | undefined {
    return this.current.usage()
  }

  progress(): Progress {
    const { isCounted = this.isWhole, ...rest } = this.current.progress()
    return { ...rest, isCounted }
  }

  private readFrom(body: TransportResponse["body"]): Pulled<Chunk> {
    return Effect.matchEffect(body, {
      onSuccess: (reads) => this.take(reads),
      onFailure: (error) => {
        if (Cause.isDone(error)) return this.finishHop()
        if (this.before !== undefined) return this.finishAs(this.before)
        return (this.end = Effect.fail(broken(this.slug, error, this.begun)))
      }
    })
  }

  private take(reads: readonly [Uint8Array, ...Array<Uint8Array>]): Pulled<Chunk> {
    const outputs =
      reads.length === 1 ? this.current.read(reads[0]) : reads.flatMap((bytes) => this.current.read(bytes))
    if (this.before !== undefined) {
      if (isStreamFailed(outputs[0])) return this.finishAs(this.before)
      if (outputs.length > 0) this.before = undefined
    }
    const chunks = this.chunksOf(outputs)
    const shortage = this.openLine.read(reads)
    if (shortage !== undefined)
      this.end ??= Effect.fail(unanswered(this.slug, new TransportFault({ kind: noRoom[shortage] }), true))
    return this.emit(chunks)
  }

  /** Goes on with the next hop of a long answer, or ends. */
  private finishHop(): Pulled<Chunk> {
    const { current, hops } = this
    const hop = this.hopsLeft === 0 || this.end !== undefined ? undefined : current.next()
    if (hops === undefined || hop === undefined) return this.finish()
    this.hopsLeft--
    return Effect.matchEffect(hops.next(hop.token, current.usage()), {
      onFailure: () => this.finish(),
      onSuccess: ({ body }) => {
        this.before = current
        this.current = hop.reader
        this.read = this.readFrom(body)
        return this.read
      }
    })
  }

  private finish(): Pulled<Chunk> {
    const outputs = this.current.end()
    if (this.before !== undefined && isStreamFailed(outputs[0])) return this.finishAs(this.before)
    const chunks = this.chunksOf(outputs)
    this.isWhole = this.end === undefined
    this.end ??= Cause.done()
    return this.emit(chunks)
  }

  private finishAs(last: StreamReader<Chunk>): Pulled<Chunk> {
    this.current = last
    this.before = undefined
    return this.finish()
  }

  private emit(chunks: ReadonlyArray<Chunk>): Pulled<Chunk> {
    if (!isSome(chunks)) return this.end ?? this.pull
    this.begun = true
    return Effect.succeed(chunks)
  }

  /** The chunks before a failure; a failure is the end. */
  private chunksOf(outputs: ReadonlyArray<Chunk | StreamFailed>): ReadonlyArray<Chunk> {
    const chunks: Array<Chunk> = []
    for (const output of outputs) {
      if (this.end !== undefined) break
      if (isStreamFailed(output)) {
        const error = new ProviderError({
          slug: this.slug,
          reason: output.reason,
          upstreamStatus: this.status
        })
        this.end = Effect.fail(withTexts(error, (text) => this.redaction.text(text)))
      } else chunks.push(output)
    }
    return chunks
  }
}

/** A connection that breaks after the first chunk is a truncated response; before that the call may be retried. */
const broken = (slug: string, fault: TransportFault, begun: boolean): ProviderError =>
  begun && fault.kind === "reset"
    ? badStream(slug, "truncated", "The upstream closed the connection in the middle of its answer.")
    : unanswered(slug, fault, true)

export const unanswered = (slug: string, fault: TransportFault, isStream: boolean): ProviderError =>
  new ProviderError({ slug, reason: faultReason(fault, upstreamSubject(isStream)) })

export const badStream = (slug: string, kind: "empty" | "truncated", message: string): ProviderError =>
  new ProviderError({ slug, reason: { _tag: "BadReply", kind, message } })
