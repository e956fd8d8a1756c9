// Keeps a silent stream alive with frames that carry nothing, and ends it with a last word when the server must cut it.
// It must not know what the stream carries.
import type { ServerResponse } from "node:http"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { pingFrame } from "../../wire/frames.ts"

/** What a stream tells its pulse. */
export interface Pulse {
  /** Something was just sent. */
  readonly beat: () => void
  /** Writes a last frame and ends, where the connection still stands; nothing else may follow. */
  readonly lastWord: (frame: string) => void
  /** What comes among the frames of a stream that is a value. */
  readonly between: Stream.Stream<string>
}

/**
 * One timer per stream, looked at lazily: a chunk costs one clock read, and only a silence of `pingMillis` writes.
 * It writes beside the stream, which is safe because every write of the stream holds whole frames.
 * Without a Node response of ours the stream is a value, and the frames are a part of it.
 */
export const pulse = (
  response: ServerResponse | undefined,
  pingMillis: number,
  ping = pingFrame
): Effect.Effect<Pulse, never, Scope.Scope> =>
  response === undefined
    ? Effect.clockWith((clock) => Effect.succeed(within(clock, pingMillis, ping)))
    : Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => start(response, pingMillis, ping)),
          (running) => Effect.sync(running.stop)
        ),
        (running) => running.pulse
      )

const within = (clock: Clock.Clock, pingMillis: number, ping: string): Pulse => {
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
): { readonly pulse: Pulse; readonly stop: () => void } => {
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
    pulse: {
      beat: () => {
        last = performance.now()
      },
      lastWord: (frame) => {
        if (response.headersSent && !response.writableEnded && !response.destroyed) response.end(frame)
      },
      between: Stream.empty
    },
    stop: () => clearTimeout(timer)
  }
}
