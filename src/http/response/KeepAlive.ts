// Keeps a silent stream alive with empty frames, and ends it with a last frame when the server must cut it.
// It must not depend on the contents of the stream.
import type { ServerResponse } from "node:http"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { monotonicMillis } from "../../domain/usage/monotonicMillis.ts"

/** How a stream reports its writes, and its end, to the timer that keeps it alive. */
export interface KeepAlive {
  /** Something was just sent. */
  readonly beat: () => void
  /** Writes a last frame and ends the response, if the connection is still open. */
  readonly lastWord: (frame: string) => void
  /** The frames to merge into a stream that is a value. */
  readonly between: Stream.Stream<string>
}

/**
 * One timer per stream, and none without a ping. A chunk costs one clock read, and only a silence of `pingMillis` writes a frame.
 * Writing next to the stream is safe, because every write of the stream contains whole frames.
 * Without a Node response of our own server the stream is a value, and the frames are merged into it.
 */
export const startKeepAlive = (
  response: ServerResponse | undefined,
  pingMillis: number,
  ping: string | undefined
): Effect.Effect<KeepAlive, never, Scope.Scope> =>
  ping === undefined
    ? Effect.succeed({ beat: () => {}, lastWord: (frame) => endWith(response, frame), between: Stream.empty })
    : response === undefined
      ? Effect.clockWith((clock) => Effect.succeed(within(clock, pingMillis, ping)))
      : Effect.acquireRelease(
          Effect.sync(() => new PingTimer(response, pingMillis, ping)),
          (timer) => Effect.sync(() => timer.stop())
        )

/**
 * Node writes a chunk as four parts, one tick later. This is one write: of a quiet process with thousands of silent
 * streams the pings are most of its work. A response that waits for the one before it has no socket yet.
 */
const writeFrame = (response: ServerResponse, frame: string): void => {
  const { chunkedEncoding, socket } = response
  if (socket === null || !chunkedEncoding) response.write(frame)
  // The response does not know what was written past it.
  else if (!socket.writableNeedDrain) socket.write(`${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`)
}

const endWith = (response: ServerResponse | undefined, frame: string): void => {
  if (response?.headersSent === true && !response.writableEnded && !response.destroyed) response.end(frame)
}

const within = (clock: Clock.Clock, pingMillis: number, ping: string): KeepAlive => {
  let last = monotonicMillis(clock)
  const beat = () => {
    last = monotonicMillis(clock)
  }
  const due: Effect.Effect<string> = Effect.suspend(() => {
    const silence = monotonicMillis(clock) - last
    if (silence < pingMillis) return Effect.flatMap(Effect.sleep(pingMillis - silence), () => due)
    beat()
    return Effect.succeed(ping)
  })
  return { beat, lastWord: () => {}, between: Stream.fromEffectRepeat(due) }
}

/** The timer of one stream. A class: each open stream has one. */
class PingTimer implements KeepAlive {
  readonly between: Stream.Stream<string> = Stream.empty
  private readonly response: ServerResponse
  private readonly pingMillis: number
  private readonly ping: string
  private last = performance.now()
  private timer: NodeJS.Timeout
  private delay: number

  constructor(response: ServerResponse, pingMillis: number, ping: string) {
    this.response = response
    this.pingMillis = pingMillis
    this.ping = ping
    this.delay = pingMillis
    this.timer = setTimeout(onTimer, pingMillis, this)
  }

  beat(): void {
    this.last = performance.now()
  }

  lastWord(frame: string): void {
    endWith(this.response, frame)
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  /** Called by the timer. */
  look(): void {
    const { pingMillis, response } = this
    // A timer counts whole milliseconds.
    const rest = Math.floor(pingMillis - (performance.now() - this.last))
    if (rest > 0) return this.lookIn(rest)
    if (response.headersSent && !response.writableEnded && !response.writableNeedDrain) writeFrame(response, this.ping)
    this.beat()
    this.lookIn(pingMillis)
  }

  /** A silent stream keeps its timer. */
  private lookIn(millis: number): void {
    if (millis === this.delay) this.timer.refresh()
    else {
      this.delay = millis
      this.timer = setTimeout(onTimer, millis, this)
    }
  }
}

const onTimer = (timer: PingTimer): void => timer.look()
