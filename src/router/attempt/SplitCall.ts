// One answer of the several upstream calls that a request was split into.
// It must not depend on how a request is split, or on what its answers contain.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ProviderError } from "../../domain/ProviderError.ts"
import type { Prepared, Split } from "../../upstream/Prepared.ts"
import { faultReason, upstreamSubject } from "../../upstream/TransportFault.ts"
import type { AttemptTimes } from "../../upstream/Upstream.ts"

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
