// Sends a prepared call: as one complete answer of one or several upstream calls, or as a stream that opens with its first chunk.
// It must not depend on plans, credentials, or which attempt comes next.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ProviderError } from "../domain/ProviderError.ts"
import type { Hop, Hops, Prepared, Split } from "../upstream/Prepared.ts"
import { faultReason, upstreamSubject } from "../upstream/HttpExchange.ts"
import type { AttemptTimes, AuthHeaders, Opened, SendLater, Upstream } from "../upstream/Upstream.ts"
import type { Room } from "../domain/RequestContext.ts"
import * as Cause from "effect/Cause"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AnswerFault } from "../domain/config/GatewayConfig.ts"
import type { Operation } from "../domain/operations.ts"
import type { Operations } from "../provider/Provider.ts"
import { type Keeping, keptAnswers, keptStreams } from "./Cached.ts"
import { answerVerdicts, recorded, type Verdict } from "./bodies/answers.ts"

/**
 * The first call that fails for good fails the request and stops the other calls. The total time bounds all calls
 * together, including those that wait for their turn.
 */
const sendSplit = <Out, Chunk>(
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

// One complete answer of several upstream calls, each of which goes on where the one before stopped.

interface SendingHops {
  /** Of the first call; a later call has its own. */
  readonly auth: AuthHeaders
  readonly times: AttemptTimes
  readonly room: Room | undefined
  readonly later: SendLater
}

/** A failure of a later call ends the answer with what there is (M-604). */
const sendHops = <Out>(
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

// The two ways to make a prepared call: as one complete answer, or as a stream that opens with its first chunk.

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
  /** What is wrong with an answer, and the answer; asked only where a config gives such answers to another target. */
  readonly judge: (operation: Op, value: A) => Effect.Effect<Judged<A>, ProviderError, R>
}

type Judged<A> = readonly [value: A, fault: AnswerFault | undefined]

const faultOf = (verdict: Verdict): AnswerFault | undefined => (verdict === "content" ? undefined : verdict)

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
  keeping: <Op extends Operation>(operation: Op): Keeping<Operations[Op]["out"]> => keptAnswers(recorded[operation]),
  judge: <Op extends Operation>(
    operation: Op,
    value: Operations[Op]["out"]
  ): Effect.Effect<Judged<Operations[Op]["out"]>> =>
    Effect.sync(() => [value, faultOf(answerVerdicts[operation]?.whole(value))])
})

/** A stream. Serves every operation; `longest` is the most text of a stream that the cache takes. */
export const streamCall = (upstream: Upstream["Service"], longest: number) => ({
  send: upstream.open,
  keeping: <Op extends Operation>(operation: Op): Keeping<Opened<Operations[Op]["chunk"]>> =>
    keptStreams(recorded[operation], longest),
  judge: <Op extends Operation>(
    operation: Op,
    opened: Opened<Operations[Op]["chunk"]>
  ): Effect.Effect<Judged<Opened<Operations[Op]["chunk"]>>, ProviderError, Scope.Scope> => {
    const judges = answerVerdicts[operation]
    return judges === undefined ? Effect.succeed([opened, undefined]) : judgeStream(opened, judges.chunk)
  }
})

/** Holds the chunks back until one of them decides: content, a refusal, or the end. */
const judgeStream = <Chunk>(
  opened: Opened<Chunk>,
  verdictOf: (chunk: Chunk) => Verdict
): Effect.Effect<Judged<Opened<Chunk>>, ProviderError, Scope.Scope> =>
  Effect.flatMap(Stream.toPull(opened.chunks), (pull) => {
    const held: Array<Chunk> = []
    const passed = (): Opened<Chunk> => ({
      ...opened,
      chunks: Stream.concat(Stream.fromIterable(held), Stream.fromPull(Effect.succeed(pull)))
    })
    const judged: Effect.Effect<Judged<Opened<Chunk>>, ProviderError> = Effect.matchEffect(pull, {
      onFailure: (error): Effect.Effect<Judged<Opened<Chunk>>, ProviderError> =>
        Cause.isDone(error) ? Effect.succeed([passed(), undefined]) : Effect.fail(error),
      onSuccess: (chunks) => {
        held.push(...chunks)
        for (const chunk of chunks) {
          const verdict = verdictOf(chunk)
          if (verdict !== undefined) return Effect.succeed([passed(), faultOf(verdict)] as const)
        }
        return judged
      }
    })
    return judged
  })
