// Keeps a silent stream alive with empty frames, and ends it with a last frame when the server must cut it.
// It must not depend on the contents of the stream.
import type { ServerResponse } from "node:http"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

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

const endWith = (response: ServerResponse | undefined, frame: string): void => {
  if (response?.headersSent === true && !response.writableEnded && !response.destroyed) response.end(frame)
}

const within = (clock: Clock.Clock, pingMillis: number, ping: string): KeepAlive => {
  let last = clock.currentTimeMillisUnsafe()
  const beat = () => {
    last = clock.currentTimeMillisUnsafe()
  }
  const due: Effect.Effect<string> = Effect.suspend(() => {
    const silence = clock.currentTimeMillisUnsafe() - last
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

  constructor(response: ServerResponse, pingMillis: number, ping: string) {
    this.response = response
    this.pingMillis = pingMillis
    this.ping = ping
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
    const silence = performance.now() - this.last
    if (silence < pingMillis) {
      this.timer = setTimeout(onTimer, pingMillis - silence, this)
      return
    }
    if (response.headersSent && !response.writableEnded && !response.writableNeedDrain) response.write(this.ping)
    this.beat()
    this.timer = setTimeout(onTimer, pingMillis, this)
  }
}

const onTimer = (timer: PingTimer): void => timer.look()
