// Waits for another process or socket, independent of the test's clock; a wait that takes too long fails with its name.
// Must not depend on a test.
import * as Effect from "effect/Effect"

/** A test may stop the time of what it tests. */
const { clearTimeout, setImmediate, setTimeout } = globalThis

/** Half of the time that vitest gives a test: long enough for a busy machine, and over before the test is cut off without a message. */
const patienceMillis = 15_000

/** For what processes do that a test has started; such tests have 120 s. */
export const processPatienceMillis = 60_000

const late = (awaited: string, millis: number): Error =>
  new Error(`Still waiting after ${millis / 1000} s for: ${awaited}`)

/** The promise, or a failure when it takes too long. */
export const within = async <A>(awaited: string, promise: Promise<A>, millis = patienceMillis): Promise<A> => {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late(awaited, millis)), millis)
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))
const turns = 20

/**
 * Resolves once the condition holds: looks again at each of the next turns of the event loop, and from then on every 5 ms,
 * because the process waited for needs the processor too. The text of the condition names it in a failure.
 */
export const until = (holds: () => boolean | Promise<boolean>, millis = patienceMillis): Promise<void> => {
  let isOver = false
  const look = async () => {
    for (let looks = 1; !isOver && !(await holds()); looks++) await (looks < turns ? nextTurn() : pause())
  }
  return within(String(holds), look(), millis).finally(() => {
    isOver = true
  })
}

const again = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(holds, (done) => (done ? Effect.void : Effect.andThen(Effect.promise(pause), again(holds))))

const deadline = (awaited: string, millis: number): Effect.Effect<never> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.die(late(awaited, millis))), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** The same as an effect, with a pause of 5 ms between two looks. */
export const eventually = <E, R>(
  awaited: string,
  holds: Effect.Effect<boolean, E, R>,
  millis = patienceMillis
): Effect.Effect<void, E, R> => Effect.raceFirst(again(holds), deadline(awaited, millis))
