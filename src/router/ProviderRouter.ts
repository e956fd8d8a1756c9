// The router: one request in, one answer or one stream out, from the account the plan chose.
// It must not know HTTP or any dialect's bodies.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { requireCredentials, withCarried } from "../auth/carried.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { type GatewayError, UnsupportedOperation, UnsupportedParameter } from "../domain/GatewayError.ts"
import type { Json } from "../domain/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount, ProviderKind } from "../domain/ProviderAccount.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { SignatureMemory } from "../memory/SignatureMemory.ts"
import { Providers } from "../provider/Providers.ts"
import type { AttemptContext, Operations, Provider } from "../provider/Provider.ts"
import type { KnownSignature } from "../translate/Translator.ts"
import type { Prepared, Target } from "../upstream/Prepared.ts"
import { faultReason } from "../upstream/TransportFault.ts"
import { type AttemptTimes, type AuthHeaders, Upstream } from "../upstream/Upstream.ts"
import { callIds } from "./callIds.ts"
import { lessons, type SignedCall } from "./learned.ts"
import { plan } from "./plan.ts"

/** Who served a request; becomes response headers. */
export interface Served {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly optionIndex: number
  readonly retryCount: number
  readonly cache: "DISABLED" | "MISS" | "HIT" | "REFRESH"
  readonly ignored: ReadonlyArray<string>
}

/** The upstream request that would have been sent; headers are redacted. */
export interface Explained {
  readonly object: "dry_run"
  readonly provider: string
  readonly target_index: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly ignored_params: ReadonlyArray<string>
}

type Out<Op extends keyof Operations> = Operations[Op]["out"]
type Chunk<Op extends keyof Operations> = Operations[Op]["chunk"]

/** One target made ready, with the provider that will authorise it. */
interface Attempt<Op extends keyof Operations> {
  readonly account: ProviderAccount
  readonly provider: Provider
  readonly prepared: Prepared<Out<Op>, Chunk<Op>>
}

interface Needs {
  readonly catalog: Catalog["Service"]
  readonly providers: Providers["Service"]
  readonly memory: SignatureMemory["Service"]
}

export class ProviderRouter extends Context.Service<ProviderRouter, {
  /** One complete answer. */
  readonly run: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<{ readonly value: Out<Op>; readonly served: Served }, GatewayError>
  /** A stream, once its first chunk exists; until then every failure is an ordinary error. */
  readonly open: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<
    { readonly chunks: Stream.Stream<Chunk<Op>, ProviderError>; readonly served: Served },
    GatewayError,
    Scope.Scope
  >
  /** What would be sent; needs no credential and sends nothing. */
  readonly explain: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<Explained, GatewayError>
}>()("gateway/router/ProviderRouter") {
  static readonly layer: Layer.Layer<ProviderRouter, never, Catalog | Providers | Upstream | SignatureMemory> = Layer.effect(
    ProviderRouter,
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const providers = yield* Providers
      const upstream = yield* Upstream
      const memory = yield* SignatureMemory
      const limits = yield* Limits
      const prepare = preparing({ catalog, providers, memory })

      const learn = (context: RequestContext, { issuer }: Target, calls: ReadonlyArray<SignedCall>) =>
        memory.remember(context.key.id, issuer, calls)

      return {
        run: Effect.fnUntraced(function*(operation, request, context) {
          const attempt = yield* prepare(operation, request, context, false)
          const times = yield* timesOf(attempt.account, context, limits, false)
          const value = yield* call(attempt, (auth) => whole(attempt.prepared, times, (part) => upstream.once(part, auth, times)))
          const calls = lessons[operation]?.reply?.(value) ?? []
          if (calls.length > 0) yield* learn(context, attempt.prepared.target, calls)
          return { value, served: servedBy(attempt.prepared) }
        }),
        open: Effect.fnUntraced(function*(operation, request, context) {
          const attempt = yield* prepare(operation, request, context, true)
          const times = yield* timesOf(attempt.account, context, limits, true)
          const chunks = yield* call(attempt, (auth) => upstream.open(attempt.prepared, auth, times))
          const served = servedBy(attempt.prepared)
          const signatures = lessons[operation]?.chunks
          if (signatures === undefined) return { chunks, served }
          const learned = Stream.mapArrayEffect(chunks, (some) => {
            const calls = signatures(some)
            return calls.length === 0 ? Effect.succeed(some) : Effect.as(learn(context, attempt.prepared.target, calls), some)
          })
          return { chunks: learned, served }
        }),
        explain: Effect.fnUntraced(function*(operation, request, context) {
          const attempt = yield* prepare(operation, request, context, "stream" in request && request.stream === true)
          return explained(attempt.account, attempt.prepared)
        })
      }
    })
  )
}

/**
 * One answer of all calls that a request was cut into. The first that fails fails it and stops the others,
 * and the time allowed is that of all calls, however many wait for their turn.
 */
const whole = <Out, Chunk>(
  prepared: Prepared<Out, Chunk>,
  { totalMillis }: AttemptTimes,
  once: (part: Prepared<Out, unknown>) => Effect.Effect<Out, ProviderError>
): Effect.Effect<Out, ProviderError> => {
  if (prepared.split === undefined) return once(prepared)
  const { calls, concurrency, join } = prepared.split
  const all = Effect.map(Effect.forEach([prepared, ...calls], once, { concurrency }), join)
  const late = () => new ProviderError({ slug: prepared.target.slug, reason: faultReason("total_timeout", "The upstream") })
  return Effect.timeoutOrElse(all, { duration: totalMillis, orElse: () => Effect.fail(late()) })
}

/** Plans, lays credentials over the account, recalls signatures and prepares; sends nothing. */
const preparing = ({ catalog, providers, memory }: Needs) => <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  context: RequestContext,
  stream: boolean
): Effect.Effect<Attempt<Op>, GatewayError> => {
  const planned = plan(request.model, context.providerHeader, catalog, context.key)
  if (Result.isFailure(planned)) return Effect.fail(planned.failure)
  const account = withCarried(planned.success.account, context.carried)
  if (Result.isFailure(account)) return Effect.fail(account.failure)
  const { modelId } = planned.success
  const provider = providers[account.success.kind]
  const ready = (known: ReadonlyMap<string, KnownSignature> | undefined) =>
    Effect.fromResult(prepareAttempt(operation, request, {
      request: context,
      account: account.success,
      model: request.model,
      modelId,
      stream,
      optionIndex: 0,
      callId: callIds(context.idSeed),
      signature: (callId) => known?.get(callId)
    }, provider))
  const calls = lessons[operation]?.history(request) ?? []
  return calls.length === 0 ? ready(undefined) : Effect.flatMap(memory.recall(context.key.id, calls), ready)
}

const prepareAttempt = <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  context: AttemptContext,
  provider: Provider
): Result.Result<Attempt<Op>, GatewayError> => {
  const { account } = context
  const prepare = provider.prepare[operation]
  if (prepare === undefined) {
    return Result.fail(new UnsupportedOperation({ message: `The provider "${account.slug}" has no operation "${operation}".` }))
  }
  const prepared = prepare(request, context)
  if (Result.isFailure(prepared)) return Result.fail(prepared.failure)
  const refused = prepared.success.ignored[0]
  return refused !== undefined && context.request.unsupported === "reject"
    ? Result.fail(new UnsupportedParameter({ param: refused, message: `"${refused}" has no equivalent at this model, and the request asked for refusal of such parameters.` }))
    : Result.succeed({ account, provider, prepared: prepared.success })
}

/** Authorises and calls; a token of ours that the upstream refuses is renewed once. */
const call = <Op extends keyof Operations, A, R>(
  { account, provider }: Attempt<Op>,
  send: (auth: AuthHeaders) => Effect.Effect<A, ProviderError, R>
): Effect.Effect<A, GatewayError, R> => {
  const sendable = requireCredentials(account)
  if (Result.isFailure(sendable)) return Effect.fail(sendable.failure)
  const authorized = Effect.flatMap(provider.authorize(account), send)
  return Effect.catch(authorized, (error) =>
    error.reason._tag !== "CredentialsRejected" || error.upstreamStatus !== 401
      ? Effect.fail(error)
      : Effect.flatMap(provider.refresh(account), (renewed) => renewed ? authorized : Effect.fail(error)))
}

/** The timers of one attempt: the operator's limits, shortened by the deadline of the client. */
const timesOf = (
  account: ProviderAccount,
  { deadlineMillis }: RequestContext,
  limits: LimitValues,
  stream: boolean
): Effect.Effect<AttemptTimes, ProviderError> => {
  const within = (totalMillis: number): AttemptTimes => ({
    connectMillis: limits.connectMillis,
    firstByteMillis: stream ? limits.firstByteMillis : limits.unaryFirstByteMillis,
    idleMillis: limits.idleMillis,
    totalMillis
  })
  if (deadlineMillis === undefined) return Effect.succeed(within(limits.totalMillis))
  return Effect.clockWith((clock) => {
    const left = deadlineMillis - clock.currentTimeMillisUnsafe()
    return left > 0
      ? Effect.succeed(within(Math.min(limits.totalMillis, left)))
      : Effect.fail(new ProviderError({
        slug: account.slug,
        reason: { _tag: "Timeout", phase: "total", message: "The deadline of the request had passed before the upstream was called." }
      }))
  })
}

const servedBy = (prepared: Prepared<unknown, unknown>): Served => ({
  slug: prepared.target.slug,
  kind: prepared.target.kind,
  modelId: prepared.target.modelId,
  optionIndex: prepared.target.optionIndex,
  retryCount: 0,
  cache: "DISABLED",
  ignored: prepared.ignored
})

const explained = (account: ProviderAccount, prepared: Prepared<unknown, unknown>): Explained => ({
  object: "dry_run",
  provider: account.slug,
  target_index: prepared.target.optionIndex,
  method: prepared.method,
  url: prepared.url,
  headers: { ...prepared.headers, ...redactedAuth(account) },
  body: prepared.body,
  ignored_params: prepared.ignored
})

const redactedAuth = (account: ProviderAccount): Readonly<Record<string, string>> => {
  if (account.credentials === undefined) return {}
  return account.credentials._tag === "ApiKey"
    ? { "x-goog-api-key": "<redacted>" }
    : { authorization: "Bearer <redacted>" }
}
