// Waits for what another process or socket will do: asks again until it has, however long that takes and whatever the clock of the test says.
import * as Effect from "effect/Effect"

const pause = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

export const eventually = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(holds, (done) => done ? Effect.void : Effect.andThen(pause, eventually(holds)))
