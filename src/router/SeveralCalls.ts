// One complete answer of several upstream calls: each goes on where the one before stopped, or each answers a part of the request.
// It must not depend on how a request is split, on how a call names its successor, or on what an answer contains.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ProviderError } from "../domain/ProviderError.ts"
import { faultReason, upstreamSubject } from "../upstream/HttpExchange.ts"
import type { Hop, Hops, Prepared, Split } from "../upstream/Prepared.ts"
import type { AttemptTimes, SendLater, Upstream } from "../upstream/Upstream.ts"
import type { Sending } from "./Run.ts"

/** What the calls of a long answer are sent with; a later call has its own credential and times. */
type SendingHops = Sending & { readonly later: SendLater }

/** A failure of a later call ends the answer with what there is (M-604). */
export const sendHops = <Out>(
  upstream: Upstream["Service"],
  { first, most }: Hops<Out>,
  { auth, later, room, times }: SendingHops
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

/**
 * The first call that fails for good fails the request and stops the other calls. The total time bounds all calls
 * together, including those that wait for their turn.
 */
export const sendSplit = <Out, Chunk>(
  prepared: Prepared<Out, Chunk>,
  { calls, concurrency, isSpared = () => false, join }: Split<Out>,
  { totalMillis }: AttemptTimes,
  once: (part: Prepared<Out, unknown>) => Effect.Effect<Out, ProviderError>
): Effect.Effect<Out, ProviderError> => {
  let isAnswered = false
  /** A spared failure counts only if every call fails. */
  const spared = (part: Prepared<Out, unknown>): Effect.Effect<Result.Result<Out, ProviderError>, ProviderError> =>
    Effect.matchEffect(once(part), {
      onFailure: (error) =>
        isSpared(error.reason) ? Effect.succeed(Result.fail(error)) : Effect.fail(isAnswered ? partial(error) : error),
      onSuccess: (out) => {
        isAnswered = true
        return Effect.succeed(Result.succeed(out))
      }
    })
  const joined = Effect.flatMap(Effect.forEach([prepared, ...calls], spared, { concurrency }), (results) => {
    const outs = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
    const failure = results.find(Result.isFailure)
    return outs.length === 0 && failure !== undefined ? Effect.fail(failure.failure) : Effect.succeed(join(outs))
  })
  const late = () =>
    new ProviderError({
      slug: prepared.target.slug,
      reason: faultReason({ kind: "total_timeout", millis: totalMillis }, upstreamSubject(false))
    })
  return Effect.timeoutOrElse(joined, { duration: totalMillis, orElse: () => Effect.fail(late()) })
}

const partial = ({ reason, slug, upstreamStatus }: ProviderError): ProviderError =>
  new ProviderError({ slug, reason, isPartial: true, ...(upstreamStatus === undefined ? {} : { upstreamStatus }) })
