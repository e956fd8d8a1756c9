// The router: one request in, one answer or one stream out, from the account the plan chose.
// It must not depend on HTTP, or on the bodies of any dialect.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Catalog } from "../catalog/Catalog.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { Circuits } from "../state/Circuits.ts"
import { ResponseCache } from "../state/ResponseCache.ts"
import { LearnedRemedies } from "../state/LearnedRemedies.ts"
import { SignatureMemory } from "../state/SignatureMemory.ts"
import { Providers } from "../provider/Providers.ts"
import type { Operations } from "../provider/Provider.ts"
import { withoutSignatures } from "../translate/shared/chat-request/signatures.ts"
import type { Progress } from "../translate/Translator.ts"
import { MediaFetch } from "../upstream/MediaFetch.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import { type Opened, Upstream } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { bodies, type Body, withOverrides } from "./bodies/bodies.ts"
import type { AdmitMore } from "./Attempts.ts"
import { type CallStrategy, streamCall, unaryCall } from "./SendCall.ts"
import { hasInsertedTurn } from "./heal.ts"
import { learningFrom, learnsMove } from "./MovingNames.ts"
import { signatureExtractors } from "./bodies/answers.ts"
import type { Planned } from "./plan.ts"
import { Serving } from "./Serving.ts"
import { explainAttempt, type Explained, type ServedBy, servedBy } from "./shownAttempt.ts"

export type { AdmitMore } from "./Attempts.ts"
export type { Explained, ServedBy } from "./shownAttempt.ts"

/** A target before it is called. */
export interface TargetName {
  readonly slug: string
  readonly modelId: string
  /** The location that would be called; undefined where the product has none. */
  readonly place?: string | undefined
  /** The body with the edits of this target, before it is translated. */
  readonly params: JsonObject
}

/** A stream that has begun, and the account that serves it. */
export interface OpenedStream<Chunk> {
  readonly chunks: Stream.Stream<Chunk, ProviderError>
  readonly served: ServedBy
  /** The counts of the upstream so far; read when the stream is over. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
  /** False: nothing of the stream refers to the request any more. */
  readonly keepsRequest: boolean
}

/** One complete answer, and the account that served it. */
interface Answer<Out> {
  readonly value: Out
  readonly served: ServedBy
}

type Out<Op extends Operation> = Operations[Op]["out"]
type Chunk<Op extends Operation> = Operations[Op]["chunk"]

export class ProviderRouter extends Context.Service<
  ProviderRouter,
  {
    /** One complete answer. `admitMore` reserves for the further calls of a long answer. */
    readonly run: <Op extends Operation>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext,
      admitMore?: AdmitMore
    ) => Effect.Effect<Answer<Out<Op>>, GatewayError>
    /** A stream, once its first chunk exists; until then every failure is an ordinary error. */
    readonly open: <Op extends Operation>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext,
      admitMore?: AdmitMore
    ) => Effect.Effect<OpenedStream<Chunk<Op>>, GatewayError, Scope.Scope>
    /** All targets that `run` could call, with the body of each. Fails where `run` would because there is no target or its model is invalid. */
    readonly targets: <Op extends Operation>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext
    ) => Effect.Effect<ReadonlyArray<TargetName>, GatewayError>
    /** What would be sent; needs no credential and sends nothing. */
    readonly explain: <Op extends Operation>(
      operation: Op,
      request: Operations[Op]["request"],
      context: RequestContext
    ) => Effect.Effect<Explained, GatewayError>
  }
>()("gateway/router/ProviderRouter") {
  static readonly layer: Layer.Layer<
    ProviderRouter,
    never,
    Catalog | Providers | Upstream | SignatureMemory | LearnedRemedies | Circuits | ResponseCache
  > = Layer.effect(
    ProviderRouter,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const providers = yield* Providers
      const upstream = yield* Upstream
      const memory = yield* SignatureMemory
      const learned = yield* LearnedRemedies
      const circuits = yield* Circuits
      const cache = yield* ResponseCache
      const limits = yield* Limits
      const media = yield* MediaFetch
      const random = yield* Random.Random
      const draw = () => random.nextDoubleUnsafe()
      const serving = new Serving({ catalog, providers, memory, learned, circuits, cache, limits, media, draw })
      const unary = unaryCall(upstream)
      const stream = streamCall(upstream, cache.longest)
      return {
        run: (operation, request, context, admitMore) => {
          const asking = { operation, request, context, stream: false, admitMore }
          const strategy: CallStrategy<typeof operation, Out<typeof operation>, never> = unary
          return Effect.flatMap(serving.serve(asking, strategy), (answered) => {
            const { attempt, cache, retryCount, value } = answered
            const shown = givesUnsigned(attempt.prepared) ? withoutSignatures(value) : value
            const answer = { value: shown, served: servedBy(attempt, retryCount, cache) }
            const calls = signatureExtractors[operation]?.reply?.(shown) ?? []
            const { target } = attempt.prepared
            const learn =
              cache === "HIT" ? undefined : learnsMove(learned, attempt.learns, target, context.startedMillis)
            const learnt = learn === undefined ? Effect.succeed(answer) : Effect.as(learn(value), answer)
            return calls.length === 0
              ? learnt
              : Effect.andThen(memory.remember(context.key.id, target.issuer, calls), learnt)
          })
        },
        open: (operation, request, context, admitMore) => {
          const asking = { operation, request, context, stream: true, admitMore }
          const strategy: CallStrategy<typeof operation, Opened<Chunk<typeof operation>>, Scope.Scope> = stream
          return Effect.map(serving.serve(asking, strategy), (answered) => {
            const { attempt, cache, retryCount, value } = answered
            const { chunks, keepsRequest, progress, usage } = value
            const { target } = attempt.prepared
            const learn =
              cache === "HIT" ? undefined : learnsMove(learned, attempt.learns, target, context.startedMillis)
            const learning = learningFrom(chunks, learn)
            const remembered = givesUnsigned(attempt.prepared)
              ? Stream.map(learning, withoutSignatures)
              : rememberSignatures(operation, learning, memory, context.key.id, target.issuer)
            const served = servedBy(attempt, retryCount, cache)
            return { chunks: remembered, served, usage, progress, keepsRequest }
          })
        },
        targets: (operation, request, context) =>
          Effect.suspend(() => {
            const possible = serving.possible({ operation, request, context, stream: false })
            const paramsOf = targetParams(operation, request, limits)
            return Effect.fromResult(
              Result.flatMap(possible, (targets) => Result.all(targets.map((target) => nameTarget(target, paramsOf))))
            )
          }),
        explain: (operation, request, context) =>
          Effect.map(
            serving.prepare({ operation, request, context, stream: "stream" in request && request.stream === true }),
            (attempt) => explainAttempt(attempt, context.key)
          )
      }
    })
  )
}

/** An answer in another dialect is made without signatures. */
const givesUnsigned = (prepared: Prepared<unknown, unknown>): boolean =>
  prepared.translated === undefined && hasInsertedTurn(prepared)

/** The same chunks; their call signatures are kept for later requests of the key. */
const rememberSignatures = <Op extends Operation>(
  operation: Op,
  chunks: Stream.Stream<Chunk<Op>, ProviderError>,
  memory: SignatureMemory["Service"],
  keyId: string,
  issuer: string
): Stream.Stream<Chunk<Op>, ProviderError> => {
  const signatures = signatureExtractors[operation]?.chunks
  if (signatures === undefined) return chunks
  return Stream.mapArrayEffect(chunks, (some) => {
    const calls = signatures(some)
    return calls.length === 0 ? Effect.succeed(some) : Effect.as(memory.remember(keyId, issuer, calls), some)
  })
}

const nameTarget = (
  planned: Planned,
  paramsOf: (planned: Planned) => JsonObject
): Result.Result<TargetName, GatewayError> =>
  Result.map(parseFamily(planned.modelId), ({ modelId }) => ({
    slug: planned.account.slug,
    modelId,
    place: planned.account.region,
    params: paramsOf(planned)
  }))

/** The bodies of targets. A target whose edits make the body invalid fails when it is called; its body is the unedited one. */
const targetParams = <Op extends Operation>(
  operation: Op,
  request: Operations[Op]["request"],
  limits: LimitValues
): ((planned: Planned) => JsonObject) => {
  const body: Body<Operations[Op]["request"]> = bodies[operation]
  const unedited = body.params(request)
  return ({ account, target }) => {
    const edited =
      target === undefined
        ? request
        : Result.getOrElse(withOverrides(operation, request, target, account.kind, limits), () => request)
    return edited === request ? unedited : body.params(edited)
  }
}
