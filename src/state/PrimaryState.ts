// The shared state of the workers of one machine: each call is asked of the first process.
// Must not know how that process keeps it. Where it does not answer, callers use the state of their own process.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import type { Link, LinkLost } from "../workers/Link.ts"
import { SharedState, StateAway } from "./SharedState.ts"
import type { StateCalls } from "./StateCalls.ts"

type Asked = Pick<Link<StateCalls>, "ask">

const away = <A>(asked: Effect.Effect<A, LinkLost>): Effect.Effect<A, StateAway> =>
  Effect.mapError(asked, ({ cause }) => new StateAway({ cause }))

const breakerFault = (reason: CircuitBreaker.CircuitBreakerErrorReason) =>
  new CircuitBreaker.CircuitBreakerError({ reason })

const breakersOf = ({ ask }: Asked): SharedState["Service"]["breakers"] => {
  const asked = <A>(answer: Effect.Effect<A, LinkLost>) =>
    Effect.mapError(answer, ({ cause }) =>
      breakerFault(new CircuitBreaker.CircuitBreakerStoreError({ message: "the first process does not answer", cause }))
    )
  return {
    admit: (key) =>
      Effect.flatMap(asked(ask("admit", key)), (answer) => {
        if ("generation" in answer) return Effect.succeed({ ...answer, transition: undefined })
        return Effect.fail(
          breakerFault(
            "openMillis" in answer
              ? new CircuitBreaker.CircuitOpen({ key, retryAfter: Duration.millis(answer.openMillis) })
              : new CircuitBreaker.CircuitHalfOpen({ key })
          )
        )
      }),
    record: ({ generation, key, openFor, outcome, tripPolicy }) =>
      Effect.map(
        asked(ask("record", { key, generation, outcome, tripPolicy, openMillis: Duration.toMillis(openFor) })),
        (state) => state ?? undefined
      )
  }
}

/** The state that the first process keeps, over this link. */
export const layerPrimaryState = (link: Asked): Layer.Layer<SharedState> =>
  Layer.succeed(SharedState, {
    takeRates: (asks, isForced) => away(link.ask("takeRates", { asks, isForced })),
    breakers: breakersOf(link),
    texts: (room, keys) => away(link.ask("texts", { room, keys })),
    setText: (text) => away(link.ask("setText", text)),
    addName: (name) => away(link.ask("addName", name)),
    names: (list, most, idleMillis) => away(link.ask("names", { list, most, idleMillis })),
    removeName: (list, name) => away(link.ask("removeName", { list, name })),
    clearNames: (list) => away(link.ask("clearNames", list))
  })
