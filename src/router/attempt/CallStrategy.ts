// The two ways to make a prepared call: as one complete answer, or as a stream that opens with its first chunk.
// It must not depend on plans, credentials, or which attempt comes next.
import type * as Effect from "effect/Effect"
import type { Operation } from "../../domain/operations.ts"
import type { ProviderError } from "../../domain/ProviderError.ts"
import type { Room } from "../../domain/Room.ts"
import type { Operations } from "../../provider/Provider.ts"
import type { Prepared } from "../../upstream/Prepared.ts"
import type { AttemptTimes, AuthHeaders, Opened, SendLater, Upstream } from "../../upstream/Upstream.ts"
import { keptAnswers, type Keeping, keptStreams } from "./Cached.ts"
import { recorded } from "../bodies/recorded.ts"
import { sendHops } from "./HopCalls.ts"
import { sendSplit } from "./SplitCall.ts"

/** How an attempt is sent once it is authorised, and how its answer is kept in the cache. */
export interface CallStrategy<Op extends Operation, A, R> {
  readonly send: (
    prepared: Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>,
    auth: AuthHeaders,
    times: AttemptTimes,
    room: Room | undefined,
    later: SendLater | undefined
  ) => Effect.Effect<A, ProviderError, R>
  /** Made only where the cache is asked. */
  readonly keeping: (operation: Op) => Keeping<A>
}

/** One complete answer, of one upstream call or of several. Serves every operation. */
export const unaryCall = (upstream: Upstream["Service"]) => ({
  send: <Out, Chunk>(
    prepared: Prepared<Out, Chunk>,
    auth: AuthHeaders,
    times: AttemptTimes,
    room: Room | undefined,
    later: SendLater | undefined
  ): Effect.Effect<Out, ProviderError> => {
    const { hops, split } = prepared
    if (hops !== undefined && later !== undefined) return sendHops(upstream, hops, { auth, times, room, later })
    return split === undefined
      ? upstream.once(prepared, auth, times, room)
      : sendSplit(prepared, split, times, (part) => upstream.once(part, auth, times, room))
  },
  keeping: <Op extends Operation>(operation: Op): Keeping<Operations[Op]["out"]> => keptAnswers(recorded[operation])
})

/** A stream. Serves every operation; `longest` is the most text of a stream that the cache takes. */
export const streamCall = (upstream: Upstream["Service"], longest: number) => ({
  send: upstream.open,
  keeping: <Op extends Operation>(operation: Op): Keeping<Opened<Operations[Op]["chunk"]>> =>
    keptStreams(recorded[operation], longest)
})
