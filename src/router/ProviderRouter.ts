// The router: one request in, one answer or one stream out, from the account the plan chose.
// It must not depend on HTTP, or on the bodies of any dialect. An open stream keeps nothing of its request.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Catalog } from "../catalog/Catalog.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext, ServedBy } from "../domain/RequestContext.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { operationRules, withOverrides } from "../operations/operationRules.ts"
import { faultOfVerdict, type OperationRules, type Verdict } from "../operations/rules.ts"
import type { Operations, PreparedCall } from "../provider/Provider.ts"
import { Providers } from "../provider/Providers.ts"
import { Circuits } from "../state/Circuits.ts"
import { LearnedRemedies } from "../state/LearnedRemedies.ts"
import { ResponseCache } from "../state/ResponseCache.ts"
import { SignatureMemory } from "../state/SignatureMemory.ts"
import { withoutSignatures } from "../translate/shared/chat-request/signatures.ts"
import { MediaFetch } from "../upstream/MediaFetch.ts"
import { type Opened, Upstream } from "../upstream/Upstream.ts"
import { type Keeping, answerKeeping, streamKeeping } from "./Cached.ts"
import { attemptTimes } from "./Deadline.ts"
import { givesUnsigned } from "./heal.ts"
import { learningFrom, learnsMove } from "./MovingNames.ts"
import type { Planned } from "./plan.ts"
import { prepareAttempt, showMedia } from "./PrepareAttempt.ts"
import { type ClientRequest, planOf, possibleTargetsOf } from "./RequestPlan.ts"
import { retryBudgets } from "./retryBudgets.ts"
import { type AdmitMore, type Answered, type Judged, type RouterServices, Run, type Sending } from "./Run.ts"
import { sendHops, sendSplit } from "./SeveralCalls.ts"
import { explainAttempt, type Explained, servedBy } from "./shownAttempt.ts"

export type { AdmitMore } from "./Run.ts"
export type { Explained } from "./shownAttempt.ts"

/** A target before it is called. */
export interface TargetName {
  readonly slug: string
  readonly modelId: string
  /** The location that would be called; undefined where the product has none. */
  readonly place?: string | undefined
  /** The body with the edits of this target, before it is translated. */
  readonly params: JsonObject
}

/** One complete answer, and the account that served it. */
interface Answer<Out> {
  readonly value: Out
  readonly served: ServedBy
}

/** A stream that has begun, and the account that serves it. */
export interface OpenedStream<Chunk> extends Opened<Chunk> {
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
      const cache = yield* ResponseCache
      const catalog = yield* Catalog
      const circuits = yield* Circuits
      const limits = yield* Limits
      const media = yield* MediaFetch
      const random = yield* Random.Random
      const services: RouterServices = {
        cache,
        longestCached: cache.longest,
        catalog,
        circuits,
        limits,
        media,
        providers: yield* Providers,
        upstream: yield* Upstream,
        memory: yield* SignatureMemory,
        learned: yield* LearnedRemedies,
        draw: () => random.nextDoubleUnsafe(),
        timesOf: attemptTimes(limits),
        budgetOf: retryBudgets()
      }
      return {
        run: (operation, request, context, admitMore) =>
          Effect.suspend(() => {
            const client = { operation, request, context, stream: false }
            return Effect.flatMapEager(planOf(services, client), (plan) =>
              new UnaryRun(services, client, plan, admitMore).run()
            )
          }),
        open: (operation, request, context, admitMore) =>
          Effect.suspend(() => {
            const client = { operation, request, context, stream: true }
            return Effect.flatMapEager(planOf(services, client), (plan) =>
              new StreamRun(services, client, plan, admitMore).open()
            )
          }),
        targets: (operation, request, context) =>
          Effect.suspend(() => {
            const possible = possibleTargetsOf(services, { operation, request, context, stream: false })
            const paramsOf = targetParams(operation, request, limits)
            return Effect.fromResult(
              Result.flatMap(possible, (targets) => Result.all(targets.map((target) => nameTarget(target, paramsOf))))
            )
          }),
        explain: (operation, request, context) =>
          Effect.suspend(() => {
            const client = { operation, request, context, stream: "stream" in request && request.stream === true }
            const loadMedia = media === undefined ? undefined : showMedia
            return Effect.flatMapEager(planOf(services, client), ([first]) =>
              Effect.map(prepareAttempt(services, client, first, loadMedia), (attempt) =>
                explainAttempt(attempt, context.key)
              )
            )
          })
      }
    })
  )
}

/** A request for one complete answer, of one upstream call or of several. */
class UnaryRun<Op extends Operation> extends Run<Op, Out<Op>, never> {
  run(): Effect.Effect<Answer<Out<Op>>, GatewayError> {
    return Effect.flatMap(this.firstAnswer(), (answered) => this.remembered(answered))
  }

  /** The answer as the client gets it. Its signatures, and the model that answered, are kept for later requests. */
  private remembered({ attempt, cache, retryCount, value }: Answered<Op, Out<Op>>): Effect.Effect<Answer<Out<Op>>> {
    const { learned, memory } = this.services
    const { context, operation } = this.client
    const { prepared } = attempt
    const shown = givesUnsigned(prepared) ? withoutSignatures(value) : value
    const answer = { value: shown, served: servedBy(attempt, retryCount, cache) }
    const learn =
      cache === "HIT" ? undefined : learnsMove(learned, attempt.learns, prepared.target, context.startedMillis)
    const learnt = learn === undefined ? Effect.succeed(answer) : Effect.as(learn(value), answer)
    const calls = operationRules[operation].signatures?.reply?.(shown) ?? []
    return calls.length === 0
      ? learnt
      : Effect.andThen(memory.remember(context.key.id, prepared.target.issuer, calls), learnt)
  }

  protected send(call: PreparedCall<Op>, { auth, later, room, times }: Sending): Effect.Effect<Out<Op>, ProviderError> {
    const { upstream } = this.services
    const { hops, split } = call
    if (hops !== undefined && later !== undefined) return sendHops(upstream, hops, { auth, times, room, later })
    return split === undefined
      ? upstream.once(call, auth, times, room)
      : sendSplit(call, split, times, (part) => upstream.once(part, auth, times, room))
  }

  protected keeping(): Keeping<Out<Op>> {
    return answerKeeping(operationRules[this.client.operation].recorded)
  }

  protected judge(answer: Out<Op>): Effect.Effect<Judged<Out<Op>>> {
    return Effect.succeed([answer, faultOfVerdict(operationRules[this.client.operation].judges?.whole(answer))])
  }
}

/** A request for a stream, which opens with its first chunk. */
class StreamRun<Op extends Operation> extends Run<Op, Opened<Chunk<Op>>, Scope.Scope> {
  open(): Effect.Effect<OpenedStream<Chunk<Op>>, GatewayError, Scope.Scope> {
    return Effect.map(this.firstAnswer(), (answered) => rememberedStream(this.services, this.client, answered))
  }

  protected send(
    call: PreparedCall<Op>,
    { auth, later, room, times }: Sending
  ): Effect.Effect<Opened<Chunk<Op>>, ProviderError, Scope.Scope> {
    return this.services.upstream.open(call, auth, times, room, later)
  }

  protected keeping(): Keeping<Opened<Chunk<Op>>> {
    return streamKeeping(operationRules[this.client.operation].recorded, this.services.longestCached)
  }

  protected judge(opened: Opened<Chunk<Op>>): Effect.Effect<Judged<Opened<Chunk<Op>>>, ProviderError, Scope.Scope> {
    const { judges } = operationRules[this.client.operation]
    return judges === undefined ? Effect.succeed([opened, undefined]) : judgeStream(opened, judges.chunk)
  }
}

/**
 * The chunks as the client gets them. Their signatures, and the model that answered, are kept for later requests. A function of its
 * own: closures of a method would keep the request for as long as the stream is open.
 */
const rememberedStream = <Op extends Operation>(
  { learned, memory }: RouterServices,
  { context, operation }: ClientRequest<Op>,
  { attempt, cache, retryCount, value }: Answered<Op, Opened<Chunk<Op>>>
): OpenedStream<Chunk<Op>> => {
  const { learns, prepared } = attempt
  const learn = cache === "HIT" ? undefined : learnsMove(learned, learns, prepared.target, context.startedMillis)
  const { chunks, keepsRequest, progress, usage } = value
  const learning = learningFrom(chunks, learn)
  return {
    chunks: givesUnsigned(prepared)
      ? Stream.map(learning, withoutSignatures)
      : rememberSignatures(operation, learning, memory, context.key.id, prepared.target.issuer),
    usage,
    progress,
    keepsRequest,
    served: servedBy(attempt, retryCount, cache)
  }
}

/** The same chunks; their call signatures are kept for later requests of the key. */
const rememberSignatures = <Op extends Operation>(
  operation: Op,
  chunks: Stream.Stream<Chunk<Op>, ProviderError>,
  memory: SignatureMemory["Service"],
  keyId: string,
  issuer: string
): Stream.Stream<Chunk<Op>, ProviderError> => {
  const signatures = operationRules[operation].signatures?.chunks
  if (signatures === undefined) return chunks
  return Stream.mapArrayEffect(chunks, (read) => {
    const calls = signatures(read)
    return calls.length === 0 ? Effect.succeed(read) : Effect.as(memory.remember(keyId, issuer, calls), read)
  })
}

/** Holds the chunks back until one of them decides: content, a refusal, or the end. */
const judgeStream = <Chunk>(
  opened: Opened<Chunk>,
  verdictOf: (chunk: Chunk) => Verdict
): Effect.Effect<Judged<Opened<Chunk>>, ProviderError, Scope.Scope> =>
  Effect.flatMap(Stream.toPull(opened.chunks), (pull) => {
    const waiting: Array<Chunk> = []
    const passed = (): Opened<Chunk> => ({
      ...opened,
      chunks: Stream.concat(Stream.fromIterable(waiting), Stream.fromPull(Effect.succeed(pull)))
    })
    const judged: Effect.Effect<Judged<Opened<Chunk>>, ProviderError> = Effect.matchEffect(pull, {
      onFailure: (error): Effect.Effect<Judged<Opened<Chunk>>, ProviderError> =>
        Cause.isDone(error) ? Effect.succeed([passed(), undefined]) : Effect.fail(error),
      onSuccess: (chunks) => {
        waiting.push(...chunks)
        for (const chunk of chunks) {
          const verdict = verdictOf(chunk)
          if (verdict !== undefined) return Effect.succeed([passed(), faultOfVerdict(verdict)] as const)
        }
        return judged
      }
    })
    return judged
  })

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
  const { body }: OperationRules<Op> = operationRules[operation]
  const unedited = body.params(request)
  return ({ account, target }) => {
    const edited =
      target === undefined
        ? request
        : Result.getOrElse(withOverrides(operation, request, target, account.kind, limits), () => request)
    return edited === request ? unedited : body.params(edited)
  }
}
