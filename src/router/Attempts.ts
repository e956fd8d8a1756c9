// One attempt at one target: the request as the target gets it, prepared, authorised and called.
// It must not know which attempt comes next.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { requireCredentials, withCarried } from "../auth/carried.ts"
import type { TargetTimes } from "../domain/config/GatewayConfig.ts"
import { type GatewayError, UnsupportedOperation, UnsupportedParameter } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ObservedAttempt } from "../domain/Observed.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { SignatureMemory } from "../state/SignatureMemory.ts"
import type { Providers } from "../provider/Providers.ts"
import type { AttemptContext, Operations, Provider } from "../provider/Provider.ts"
import type { KnownSignature } from "../translate/Translator.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { AttemptTimes, AuthHeaders } from "../upstream/Upstream.ts"
import { callIds } from "./callIds.ts"
import type { Fetched, Fetching } from "./Fetching.ts"
import { lessons } from "./learned.ts"
import { overridden } from "./overrides.ts"
import type { Planned } from "./plan.ts"
import { beyondReach } from "./reach.ts"

/** One target made ready, with the provider that will authorise it. */
export interface Attempt<Op extends keyof Operations> {
  /** As the target gets it. */
  readonly request: Operations[Op]["request"]
  readonly account: ProviderAccount
  readonly provider: Provider
  readonly prepared: Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>
  /** What of the request is without effect. */
  readonly ignored: ReadonlyArray<string>
}

export interface AttemptServices {
  readonly providers: Providers["Service"]
  readonly memory: SignatureMemory["Service"]
  readonly limits: LimitValues
}

/** A request of a client, as it came. */
export interface Asking<Op extends keyof Operations> {
  readonly operation: Op
  readonly request: Operations[Op]["request"]
  readonly context: RequestContext
  readonly stream: boolean
}

/** Lays edits and credentials, recalls signatures, has media fetched where that is wanted, and prepares; sends nothing. */
export const preparing =
  ({ limits, memory, providers }: AttemptServices, fetch: Fetching | undefined) =>
  <Op extends keyof Operations>(
    asking: Asking<Op>,
    { account: stored, carried, ignored, modelId, origin, target }: Planned
  ): Effect.Effect<Attempt<Op>, GatewayError> => {
    const { context, operation, request: asked, stream } = asking
    const account = withCarried(stored, carried, origin, context.key.id)
    if (Result.isFailure(account)) return Effect.fail(account.failure)
    const [place] = ignored
    if (place !== undefined && context.unsupported === "reject") return Effect.fail(placeRefused(place, stored))
    const { kind } = account.success
    const laid = target === undefined ? Result.succeed(asked) : overridden(operation, asked, target, kind, limits)
    if (Result.isFailure(laid)) return Effect.fail(laid.failure)
    const request = laid.success
    const provider = providers[kind]
    const ready = (known: ReadonlyMap<string, KnownSignature> | undefined, fetched: Fetched | undefined) =>
      Effect.fromResult(
        prepareAttempt(
          operation,
          request,
          {
            request: context,
            account: account.success,
            model: request.model,
            modelId,
            stream,
            optionIndex: target?.index ?? 0,
            callId: callIds(context.idSeed),
            signature: (callId) => known?.get(callId),
            media: (url) => fetched?.get(url)
          },
          provider,
          ignored
        )
      )
    const calls = lessons[operation]?.history(request) ?? []
    const withMedia = (fetched: Fetched | undefined) =>
      calls.length === 0
        ? ready(undefined, fetched)
        : Effect.flatMap(memory.recall(context.key.id, calls), (known) => ready(known, fetched))
    if (fetch === undefined) return withMedia(undefined)
    const urls = provider?.media?.[operation]?.(request, { account: account.success, modelId }) ?? []
    return urls.length === 0
      ? withMedia(undefined)
      : Effect.flatMap(fetch(asking, urls), (fetched) =>
          Effect.andThen(leftOf(account.success, context), withMedia(fetched))
        )
  }

const placeRefused = (param: string, { slug }: ProviderAccount): UnsupportedParameter =>
  new UnsupportedParameter({
    param,
    message: `"${param}" has no effect: "${slug}" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.`
  })

const prepareAttempt = <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  context: AttemptContext,
  provider: Provider | undefined,
  places: ReadonlyArray<string>
): Result.Result<Attempt<Op>, GatewayError> => {
  const { account } = context
  if (provider === undefined) {
    return Result.fail(
      new UnsupportedOperation({
        message: `"${account.slug}" is an account of "${account.kind}", and this gateway has no provider of that name.`
      })
    )
  }
  const prepare = provider.prepare[operation]
  if (prepare === undefined) {
    return Result.fail(
      new UnsupportedOperation({ message: `The provider "${account.slug}" has no operation "${operation}".` })
    )
  }
  const prepared = prepare(request, context)
  if (Result.isFailure(prepared)) return Result.fail(prepared.failure)
  const refused = context.request.unsupported === "reject" ? unsupportedBy(prepared.success) : undefined
  if (refused !== undefined) return Result.fail(refused)
  const beyond = beyondReach(account, prepared.success)
  const ignored = places.length === 0 ? prepared.success.ignored : [...places, ...prepared.success.ignored]
  return beyond === undefined
    ? Result.succeed({ request, account, provider, prepared: prepared.success, ignored })
    : Result.fail(beyond)
}

/** The refusal of a request that wants its parameters sent as they are, or not at all. */
const unsupportedBy = ({ adjusted, ignored }: Prepared<unknown, unknown>): UnsupportedParameter | undefined => {
  const [param] = ignored
  if (param !== undefined)
    return new UnsupportedParameter({
      param,
      message: `"${param}" has no equivalent at this model, and the request asked for refusal of such parameters.`
    })
  const change = adjusted?.[0]
  return change === undefined
    ? undefined
    : new UnsupportedParameter({
        param: change.param,
        message: `"${change.param}" is one of ${change.takes.join(", ")} at this model, and the request asked for refusal of other values.`
      })
}

/** Authorises and calls; a token of ours that the upstream refuses is renewed once. Whoever observes the request is told. */
export const call = <Op extends keyof Operations, A, R>(
  { account, prepared, provider }: Attempt<Op>,
  asking: Asking<Op>,
  send: (auth: AuthHeaders) => Effect.Effect<A, ProviderError, R>
): Effect.Effect<A, GatewayError, R> => {
  const sendable = requireCredentials(account)
  if (Result.isFailure(sendable)) return Effect.fail(sendable.failure)
  const { observed } = asking.context
  const sent = (headers: ObservedAttempt["headers"]) => {
    const authorized = () =>
      Effect.flatMapEager(
        provider.authorize(account),
        headers === undefined ? send : (auth) => send({ ...auth, ...headers })
      )
    return Effect.catch(authorized(), (error) =>
      error.reason._tag !== "CredentialsRejected" || error.upstreamStatus !== 401
        ? Effect.fail(error)
        : Effect.flatMap(provider.refresh(account), (renewed) => (renewed ? authorized() : Effect.fail(error)))
    )
  }
  return observed === undefined
    ? sent(undefined)
    : Effect.suspend(() => {
        const attempt = observed.attempt(prepared, asking)
        return told(attempt, sent(attempt.headers))
      })
}

const told = <A, R>(
  observed: ObservedAttempt,
  outcome: Effect.Effect<A, ProviderError, R>
): Effect.Effect<A, ProviderError, R> =>
  Effect.matchEffect(outcome, {
    onFailure: (error) => {
      observed.failed(error)
      return Effect.fail(error)
    },
    onSuccess: (answer) => {
      observed.answered(answer)
      return Effect.succeed(answer)
    }
  })

/** Without a config the operator's limits stand. */
const unset: TargetTimes = {
  request: undefined,
  connect: undefined,
  firstByte: undefined,
  idle: undefined,
  total: undefined
}

const least = (limit: number, ...asked: ReadonlyArray<number | undefined>): number =>
  asked.reduce<number>((shortest, one) => (one === undefined || one > shortest ? shortest : one), limit)

/** What is left of the time the client allows, if it says any; without any left nothing is called. */
const leftOf = (
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
export const timesOf = (
  account: ProviderAccount,
  asked: TargetTimes | undefined,
  context: RequestContext,
  limits: LimitValues,
  stream: boolean
): Effect.Effect<AttemptTimes, ProviderError> => {
  const { deadlineMillis } = context
  const { connect, firstByte, idle, request, total } = asked ?? unset
  const within = (left: number | undefined): AttemptTimes => ({
    connectMillis: least(limits.connectMillis, connect),
    // A stream that has begun is an answer in time.
    firstByteMillis: stream
      ? least(limits.firstByteMillis, firstByte, request)
      : least(limits.unaryFirstByteMillis, firstByte),
    idleMillis: least(limits.idleMillis, idle),
    totalMillis: stream ? least(limits.totalMillis, total, left) : least(limits.totalMillis, total, request, left)
  })
  return deadlineMillis === undefined ? Effect.succeed(within(undefined)) : Effect.map(leftOf(account, context), within)
}
