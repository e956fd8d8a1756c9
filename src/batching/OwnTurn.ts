// Splits the work of a large request: each stage waits for a turn of the event loop, so that others are served between.
// It must not know what a stage does.
import * as Effect from "effect/Effect"
import { schedulePhase } from "./Phases.ts"

/** A stage of a request that holds this much takes milliseconds. */
const largeBytes = 256 * 1024

const turnFor = (bytes: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    schedulePhase("body", () => resume(Effect.void), bytes)
  })

/** A stage of a request that holds so many bytes. A small one runs on without a wait. */
export const inTurn = <A, E, R>(
  bytes: number | undefined,
  stage: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  bytes === undefined || bytes < largeBytes ? stage() : Effect.flatMap(turnFor(bytes), stage)
