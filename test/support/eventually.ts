// Waits for what another process or socket will do: asks again until it has, however long that takes.
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"

const pauseMillis = 5

export const eventually = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(holds, (done) => done ? Effect.void : Effect.andThen(TestClock.withLive(Effect.sleep(pauseMillis)), eventually(holds)))
