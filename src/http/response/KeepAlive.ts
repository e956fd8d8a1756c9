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
      : Effect.map(
          Effect.acquireRelease(
            Effect.sync(() => start(response, pingMillis, ping)),
            (running) => Effect.sync(running.stop)
          ),
          (running) => running.keepAlive
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

const start = (
  response: ServerResponse,
  pingMillis: number,
  ping: string
): { readonly keepAlive: KeepAlive; readonly stop: () => void } => {
  let last = performance.now()
  const look = () => {
    const silence = performance.now() - last
    if (silence < pingMillis) {
      timer = setTimeout(look, pingMillis - silence)
      return
    }
    if (response.headersSent && !response.writableEnded && !response.writableNeedDrain) response.write(ping)
    last = performance.now()
    timer = setTimeout(look, pingMillis)
  }
  let timer = setTimeout(look, pingMillis)
  return {
    keepAlive: {
      beat: () => {
        last = performance.now()
      },
      lastWord: (frame) => endWith(response, frame),
      between: Stream.empty
    },
    stop: () => clearTimeout(timer)
  }
}
