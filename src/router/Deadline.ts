// The timers of one attempt, and the deadline of the client, which also ends the wait for an access token.
// It must not depend on how a call is prepared or sent.
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { TargetTimes } from "../domain/config/GatewayConfig.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { longestTimerMillis } from "../domain/time.ts"
import type { Provider } from "../provider/Provider.ts"
import type { AttemptTimes, AuthHeaders } from "../upstream/Upstream.ts"

/** The times of a request without a config: the limits of the operator count. */
const unset: TargetTimes = {
  request: undefined,
  connect: undefined,
  firstByte: undefined,
  idle: undefined,
  total: undefined
}

export const least = (limit: number, ...asked: ReadonlyArray<number | undefined>): number =>
  asked.reduce<number>((shortest, millis) => (millis === undefined || millis > shortest ? shortest : millis), limit)

/** The milliseconds until the deadline of the client; undefined without one. Fails when the deadline has passed. */
export const remainingMillis = (
  { slug }: ProviderAccount,
  { deadlineMillis }: RequestContext
): Effect.Effect<number | undefined, ProviderError> => {
  if (deadlineMillis === undefined) return Effect.succeed(undefined)
  return Effect.clockWith((clock) => {
    const left = deadlineMillis - clock.currentTimeMillisUnsafe()
    return left > 0
      ? Effect.succeed(left)
      : Effect.fail(
          new ProviderError({
            slug,
            reason: {
              _tag: "Timeout",
              phase: "total",
              message: "The deadline of the request had passed before the upstream was called."
            }
          })
        )
  })
}

/** The timers of one attempt: the operator's limits, shortened by the config and by the deadline of the client. */
export type TimesOf = (
  account: ProviderAccount,
  asked: TargetTimes | undefined,
  context: RequestContext,
  stream: boolean
) => Effect.Effect<AttemptTimes, ProviderError>

/** Most requests shorten nothing, and share the timers of the limits. */
export const attemptTimes = (limits: LimitValues): TimesOf => {
  const usual = Effect.succeed(timesWithin(limits, unset, false, undefined))
  const usualOfStreams = Effect.succeed(timesWithin(limits, unset, true, undefined))
  return (account, asked, context, stream) => {
    if (context.deadlineMillis !== undefined)
      return Effect.map(remainingMillis(account, context), (left) => timesWithin(limits, asked ?? unset, stream, left))
    if (asked !== undefined) return Effect.succeed(timesWithin(limits, asked, stream, undefined))
    return stream ? usualOfStreams : usual
  }
}

const timesWithin = (
  limits: LimitValues,
  { connect, firstByte, idle, request, total }: TargetTimes,
  stream: boolean,
  left: number | undefined
): AttemptTimes => ({
  connectMillis: least(limits.connectMillis, connect),
  // A stream that has begun is an answer in time.
  firstByteMillis: stream
    ? least(limits.firstByteMillis, firstByte, request)
    : least(limits.unaryFirstByteMillis, firstByte),
  idleMillis: least(limits.idleMillis, idle),
  // A stream that flows is bounded by silence: long answers of models that think take most of an hour.
  totalMillis: stream ? least(longestTimerMillis, total, left) : least(limits.totalMillis, total, request, left)
})

/** A cached token needs no timer. */
export const authorizeInTime = (
  account: ProviderAccount,
  provider: Pick<Provider, "authorize">,
  context: RequestContext
): Effect.Effect<AuthHeaders, ProviderError> => {
  const authorized = provider.authorize(account)
  return Exit.isExit(authorized) ? authorized : inTime(account, context, authorized)
}

/** Ends with the deadline of the client. Others that wait for the same token go on waiting. */
export const inTime = <A>(
  account: ProviderAccount,
  context: RequestContext,
  token: Effect.Effect<A, ProviderError>
): Effect.Effect<A, ProviderError> =>
  context.deadlineMillis === undefined
    ? token
    : Effect.flatMap(remainingMillis(account, context), (left = 0) =>
        Effect.timeoutOrElse(token, {
          duration: left,
          orElse: () =>
            Effect.fail(
              new ProviderError({
                slug: account.slug,
                reason: {
                  _tag: "Timeout",
                  phase: "total",
                  message: "The deadline of the request passed while its access token was fetched."
                }
              })
            )
        })
      )
