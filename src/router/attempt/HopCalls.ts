// One complete answer of several upstream calls, each of which goes on where the one before stopped.
// It must not depend on how a call names its successor, or on what its answer contains.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ProviderError } from "../../domain/ProviderError.ts"
import type { Room } from "../../domain/Room.ts"
import type { Hop, Hops } from "../../upstream/Prepared.ts"
import type { AttemptTimes, AuthHeaders, SendLater, Upstream } from "../../upstream/Upstream.ts"

interface Sending {
  /** Of the first call; a later call has its own. */
  readonly auth: AuthHeaders
  readonly times: AttemptTimes
  readonly room: Room | undefined
  readonly later: SendLater
}

/** A failure of a later call ends the answer with what there is (M-604). */
export const sendHops = <Out>(
  upstream: Upstream["Service"],
  { first, most }: Hops<Out>,
  { auth, later, room, times }: Sending
): Effect.Effect<Out, ProviderError> => {
  const follow = (hop: Hop<Out>, left: number): Effect.Effect<Out, ProviderError> => {
    const { next } = hop
    if (next === undefined || left === 0) return Effect.fromResult(hop.answer(false))
    return Effect.matchEffect(
      later(hop.usage, (laterAuth, laterTimes) => upstream.once(next, laterAuth, laterTimes, room)),
      {
        onFailure: () => Effect.fromResult(hop.answer(true)),
        onSuccess: (after) =>
          after.next === undefined && Result.isFailure(after.answer(false))
            ? Effect.fromResult(hop.answer(true))
            : follow(after, left - 1)
      }
    )
  }
  return Effect.flatMap(upstream.once(first, auth, times, room), (hop) => follow(hop, most - 1))
}
