// The router: one request in, one answer or one stream out, from the account the plan chose.
// It must not know HTTP or any dialect's bodies.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Catalog } from "../catalog/Catalog.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { Json, JsonObject } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import { isBuiltIn, type ProviderAccount, type ProviderKind } from "../domain/ProviderAccount.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { Circuits } from "../state/Circuits.ts"
import { ResponseCache } from "../state/ResponseCache.ts"
import { SignatureMemory } from "../state/SignatureMemory.ts"
import { Providers } from "../provider/Providers.ts"
import type { Operations } from "../provider/Provider.ts"
import { type Adjustment, adjustmentText, type Progress } from "../translate/Translator.ts"
import { MediaFetch } from "../upstream/MediaFetch.ts"
import type { Prepared, Target } from "../upstream/Prepared.ts"
import { faultReason } from "../upstream/TransportFault.ts"
import { type AttemptTimes, type Opened, Upstream } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { call } from "./Attempts.ts"
import { bodies, type Body } from "./bodies.ts"
import { type CacheStatus, keptStreams } from "./Cached.ts"
import { lessons, type SignedCall } from "./learned.ts"
import { overridden } from "./overrides.ts"
import type { Planned } from "./plan.ts"
import { recorded } from "./recorded.ts"
import { type Sending, serving } from "./Serving.ts"

/** Who served a request; becomes response headers. */
export interface Served {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly optionIndex: number
  readonly retryCount: number
  readonly cache: CacheStatus
  readonly ignored: ReadonlyArray<string>
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
}

/** A target before it is called. */
export interface TargetName {
  readonly slug: string
  readonly modelId: string
  /** The body as this target gets it, before it is translated. */
  readonly params: JsonObject
}

/** A stream that has begun, with who serves it. */
export interface OpenedStream<Chunk> {
  readonly chunks: Stream.Stream<Chunk, ProviderError>
  readonly served: Served
  /** What the upstream has counted so far, and whether those are its last counts; read when the stream is over. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
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
  /** Each as `name=asked>sent`. */
  readonly adjusted_params: ReadonlyArray<string>
}

type Out<Op extends keyof Operations> = Operations[Op]["out"]
type Chunk<Op extends keyof Operations> = Operations[Op]["chunk"]

export class ProviderRouter extends Context.Service<
  ProviderRouter,
  {
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
    ) => Effect.Effect<OpenedStream<Chunk<Op>>, GatewayError, Scope.Scope>
    /** All targets that `run` could call, with the body of each. Fails where `run` would because there is no target or its model is invalid. */
    readonly targets: <Op extends keyof Operations>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext
    ) => Effect.Effect<ReadonlyArray<TargetName>, GatewayError>
    /** What would be sent; needs no credential and sends nothing. */
    readonly explain: <Op extends keyof Operations>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext
    ) => Effect.Effect<Explained, GatewayError>
  }
>()("gateway/router/ProviderRouter") {
  static readonly layer: Layer.Layer<
    ProviderRouter,
    never,
    Catalog | Providers | Upstream | SignatureMemory | Circuits | ResponseCache
  > = Layer.effect(
    ProviderRouter,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const providers = yield* Providers
      const upstream = yield* Upstream
      const memory = yield* SignatureMemory
      const circuits = yield* Circuits
      const cache = yield* ResponseCache
      const limits = yield* Limits
      const media = yield* MediaFetch
      const random = yield* Random.Random
      const { possible, prepared, serve } = serving({
        catalog,
        providers,
        memory,
        circuits,
        cache,
        limits,
        media,
        draw: () => random.nextDoubleUnsafe()
      })

      const learn = (context: RequestContext, { issuer }: Target, calls: ReadonlyArray<SignedCall>) =>
        memory.remember(context.key.id, issuer, calls)

      return {
        run: (operation, request, context) => {
          const asking = { operation, request, context, stream: false }
          const { read, write } = recorded[operation]
          const sending: Sending<typeof operation, Out<typeof operation>, never> = {
            call: (attempt, times) =>
              call(attempt, asking, (auth) =>
                whole(attempt.prepared, times, (part) => upstream.once(part, auth, times, context.room))
              ),
            recall: read,
            keep: (value, save) => Effect.as(save(write(value)), value)
          }
          return Effect.flatMap(serve(asking, sending), ({ attempt, cache, retryCount, value }) => {
            const answer = { value, served: servedBy(attempt, retryCount, cache) }
            const calls = lessons[operation]?.reply?.(value) ?? []
            return calls.length === 0
              ? Effect.succeed(answer)
              : Effect.as(learn(context, attempt.prepared.target, calls), answer)
          })
        },
        open: (operation, request, context) => {
          const asking = { operation, request, context, stream: true }
          const sending: Sending<typeof operation, Opened<Chunk<typeof operation>>, Scope.Scope> = {
            call: (attempt, times) =>
              call(attempt, asking, (auth) => upstream.open(attempt.prepared, auth, times, context.room)),
            ...keptStreams(recorded[operation], cache.longest)
          }
          return Effect.map(
            serve(asking, sending),
            ({ attempt, cache, retryCount, value: { chunks, progress, usage } }) => {
              const served = servedBy(attempt, retryCount, cache)
              const signatures = lessons[operation]?.chunks
              if (signatures === undefined) return { chunks, served, usage, progress }
              const learned = Stream.mapArrayEffect(chunks, (some) => {
                const calls = signatures(some)
                return calls.length === 0
                  ? Effect.succeed(some)
                  : Effect.as(learn(context, attempt.prepared.target, calls), some)
              })
              return { chunks: learned, served, usage, progress }
            }
          )
        },
        targets: (operation, request, context) =>
          Effect.suspend(() => {
            const paramsOf = laidParams(operation, request, limits)
            return Effect.fromResult(
              Result.flatMap(possible({ operation, request, context, stream: false }), (all) =>
                Result.all(
                  all.map((planned) =>
                    Result.map(parseFamily(planned.modelId), ({ modelId }) => ({
                      slug: planned.account.slug,
                      modelId,
                      params: paramsOf(planned)
                    }))
                  )
                )
              )
            )
          }),
        explain: (operation, request, context) =>
          Effect.map(
            prepared({ operation, request, context, stream: "stream" in request && request.stream === true }),
            (shown) => explained(shown, context.key)
          )
      }
    })
  )
}

/** The bodies of targets. A target whose edits make the body invalid fails when it is called; its body is the unedited one. */
const laidParams = <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  limits: LimitValues
): ((planned: Planned) => JsonObject) => {
  const body: Body<Operations[Op]["request"]> = bodies[operation]
  const asked = body.params(request)
  return ({ account, target }) => {
    const laid =
      target === undefined
        ? request
        : Result.getOrElse(overridden(operation, request, target, account.kind, limits), () => request)
    return laid === request ? asked : body.params(laid)
  }
}

/**
 * One answer of all calls that a request was cut into. The first that fails for good fails it and stops the others,
 * and the time allowed is that of all calls, however many wait for their turn.
 */
const whole = <Out, Chunk>(
  prepared: Prepared<Out, Chunk>,
  { totalMillis }: AttemptTimes,
  once: (part: Prepared<Out, unknown>) => Effect.Effect<Out, ProviderError>
): Effect.Effect<Out, ProviderError> => {
  if (prepared.split === undefined) return once(prepared)
  const { calls, concurrency, isSpared = () => false, join } = prepared.split
  let isAnswered = false
  /** A spared failure waits for what becomes of the others. */
  const spared = (part: Prepared<Out, unknown>): Effect.Effect<Result.Result<Out, ProviderError>, ProviderError> =>
    Effect.matchEffect(once(part), {
      onFailure: (error) =>
        isSpared(error.reason) ? Effect.succeed(Result.fail(error)) : Effect.fail(isAnswered ? partial(error) : error),
      onSuccess: (out) => {
        isAnswered = true
        return Effect.succeed(Result.succeed(out))
      }
    })
  const all = Effect.flatMap(Effect.forEach([prepared, ...calls], spared, { concurrency }), (results) => {
    const outs = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
    const failure = results.find(Result.isFailure)
    return outs.length === 0 && failure !== undefined ? Effect.fail(failure.failure) : Effect.succeed(join(outs))
  })
  const late = () =>
    new ProviderError({ slug: prepared.target.slug, reason: faultReason("total_timeout", "The upstream") })
  return Effect.timeoutOrElse(all, { duration: totalMillis, orElse: () => Effect.fail(late()) })
}

const partial = ({ reason, slug, upstreamStatus }: ProviderError): ProviderError =>
  new ProviderError({ slug, reason, isPartial: true, ...(upstreamStatus === undefined ? {} : { upstreamStatus }) })

/** What an answer shows of an attempt. */
interface Shown {
  readonly account: ProviderAccount
  readonly prepared: Prepared<unknown, unknown>
  readonly ignored: ReadonlyArray<string>
}

const servedBy = ({ ignored, prepared }: Shown, retryCount: number, cache: CacheStatus): Served => ({
  slug: prepared.target.slug,
  kind: prepared.target.kind,
  modelId: prepared.target.modelId,
  optionIndex: prepared.target.optionIndex,
  retryCount,
  cache,
  ignored,
  adjusted: prepared.adjusted
})

const explained = ({ account, ignored, prepared }: Shown, key: GatewayKey): Explained => ({
  object: "dry_run",
  provider: account.slug,
  target_index: prepared.target.optionIndex,
  method: prepared.method,
  url: key.scopes.includes("admin") ? prepared.url : publicUrl(account, prepared.url),
  headers: { ...prepared.headers, ...redactedAuth(account) },
  body: prepared.body,
  ignored_params: ignored,
  adjusted_params: (prepared.adjusted ?? []).map(adjustmentText)
})

/** A reserved name (RFC 6761) in the place of a host that an operator has set. */
const neutralOrigin = "https://upstream.invalid"

/** The URL without the hosts an operator has set: a key that only calls models is not shown them (TH22). */
const publicUrl = ({ baseUrl, endpoints }: ProviderAccount, url: string): string => {
  const hosts = Object.values(endpoints).flatMap(({ host }) => (host === undefined ? [] : [`https://${host}`]))
  const set = [...(baseUrl === undefined ? [] : [baseUrl.replace(/\/+$/, "")]), ...hosts].find((base) =>
    url.startsWith(`${base}/`)
  )
  return set === undefined ? url : neutralOrigin + url.slice(set.length)
}

const redactedAuth = (account: ProviderAccount): Readonly<Record<string, string>> => {
  if (account.credentials === undefined) return {}
  return account.credentials._tag === "ApiKey" && isBuiltIn(account.kind)
    ? { "x-goog-api-key": "<redacted>" }
    : { authorization: "Bearer <redacted>" }
}
