// One attempt at one target: the request as the target gets it, prepared, authorised and called.
// It must not depend on which attempt comes next.
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { inTurn } from "../batching/OwnTurn.ts"
import { requireCredentials, withCarriedCredentials } from "../auth/carried.ts"
import { BodyInvalid, type GatewayError, UnsupportedOperation, UnsupportedParameter } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ObservedAttempt, RequestContext } from "../domain/RequestContext.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import { type CatalogView, type ProviderAccount, requestTypeHeader, withServing } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Operation } from "../domain/operations.ts"
import { type LearnedRemedies, type LessonScope, lessonScope } from "../state/LearnedRemedies.ts"
import type { SignatureMemory } from "../state/SignatureMemory.ts"
import type { Providers } from "../provider/Providers.ts"
import type { Operations, Provider } from "../provider/Provider.ts"
import type { Lesson } from "../translate/healing/lessons.ts"
import type { KnownSignature } from "../translate/Translator.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { Json } from "../domain/text/json.ts"
import type { AttemptTimes, AuthHeaders, SendLater } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { callIds } from "./callIds.ts"
import type { CallStrategy } from "./SendCall.ts"
import { authorizeInTime, inTime, least, remainingMillis } from "./Deadline.ts"
import { type Fetched, fetchedAt, type Fetching, nothingFetched } from "./Fetching.ts"
import { signatureExtractors } from "./bodies/answers.ts"
import { withOverrides } from "./bodies/bodies.ts"
import { faultOfPlace, type Planned } from "./plan.ts"
import { healPrepared, type HealScope, healScope, joinNames, knownLessons } from "./heal.ts"
import { modelsNow } from "./MovingNames.ts"
import { beyondReach, otherModel } from "./allowedNames.ts"

/** One target made ready, with the provider that will authorise it. */
export interface Attempt<Op extends Operation> {
  /** As the target gets it. */
  readonly request: Operations[Op]["request"]
  readonly account: ProviderAccount
  readonly provider: Provider
  readonly prepared: Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>
  /** What of the request is without effect. */
  readonly ignored: ReadonlyArray<string>
  /** How a refusal is read; undefined where none is known. */
  readonly scope: HealScope | undefined
  /** Where the call teaches and is taught; undefined with a credential of the request. */
  readonly learns: LessonScope | undefined
}

export interface AttemptServices {
  readonly catalog: CatalogView
  readonly providers: Providers["Service"]
  readonly memory: SignatureMemory["Service"]
  readonly learned: LearnedRemedies["Service"]
  readonly limits: LimitValues
}

/** A request of a client, as it came. */
export interface Asking<Op extends Operation> {
  readonly operation: Op
  readonly request: Operations[Op]["request"]
  readonly context: RequestContext
  readonly stream: boolean
  /** Undefined for a key without limits. */
  readonly admitMore?: AdmitMore | undefined
}

/** Reserves what a further call of a long answer costs: its prompt is billed again. */
export type AdmitMore = (
  target: { readonly slug: string; readonly modelId: string },
  promptTokens: number
) => Effect.Effect<void, GatewayError>

/** What an attempt knows before media and signatures. */
interface Draft<Op extends Operation> {
  readonly asking: Asking<Op>
  readonly planned: Planned
  readonly account: ProviderAccount
  /** As the target gets it. */
  readonly request: Operations[Op]["request"]
  readonly provider: Provider | undefined
  /** Facts about models for the request. */
  readonly models: ModelTable
  /** Where a call to the model teaches and is taught. */
  readonly scopeOf: (modelId: string) => LessonScope | undefined
  /** The lessons of a scope; none where nothing is healed. */
  readonly lessonsOf: (scope: LessonScope) => ReadonlyArray<Lesson>
}

/**
 * Makes one target ready and sends nothing: credentials, edits, media, signatures, then the call itself.
 * Without `fetch` no media are looked for.
 */
export const prepareAttempt = <Op extends Operation>(
  { catalog, learned, limits, memory, providers }: AttemptServices,
  fetch: Fetching | undefined,
  asking: Asking<Op>,
  planned: Planned
): Effect.Effect<Attempt<Op>, GatewayError> => {
  const { context, operation } = asking
  const { account: stored, carried, ignored, modelId, origin, target } = planned
  const withCredentials = withCarriedCredentials(stored, carried, origin, context.key.id)
  if (Result.isFailure(withCredentials)) return Effect.fail(withCredentials.failure)
  const account = withServing(withServing(withCredentials.success, typeOf(target)), context.servingHeaders)
  const [place] = ignored
  if (place !== undefined && context.unsupported === "reject") return Effect.fail(placeRefused(place, stored))
  const edited =
    target === undefined ? undefined : withOverrides(operation, asking.request, target, account.kind, limits)
  if (edited !== undefined && Result.isFailure(edited)) return Effect.fail(edited.failure)
  const request = edited === undefined ? asking.request : edited.success
  const provider = providers[account.kind]
  const config = account.credentials === stored.credentials ? undefined : context.configId
  const scopeOf = (model: string) => lessonScope(context.key.id, account, config, model)
  const { models } = context.catalog ?? catalog
  const draft: Draft<Op> = {
    asking,
    planned,
    account,
    request,
    provider,
    models: modelsNow(learned, models, scopeOf, modelId, context.startedMillis),
    scopeOf,
    lessonsOf: (scope) => (limits.heals === 0 ? [] : learned.recall(scope, context.startedMillis))
  }
  const urls = fetch === undefined ? undefined : provider?.media?.[operation]?.(request, { account, modelId })
  if (fetch === undefined) return withSignatures(draft, memory, undefined)
  if (urls === undefined || urls.length === 0) return withSignatures(draft, memory, nothingFetched)
  return Effect.flatMap(fetch(asking, urls), (media) =>
    // Fetching takes time, and a request past its deadline is not prepared.
    Effect.andThen(remainingMillis(account, context), withSignatures(draft, memory, media))
  )
}

/** The throughput that a target of a config asks for. */
const typeOf = (target: Planned["target"]): Readonly<Record<string, string>> | undefined =>
  target?.requestType === undefined ? undefined : { [requestTypeHeader]: target.requestType }

/** Recalls the signatures of the calls in the history of a request, if it has any. */
const withSignatures = <Op extends Operation>(
  draft: Draft<Op>,
  memory: SignatureMemory["Service"],
  media: Fetched | undefined
): Effect.Effect<Attempt<Op>, GatewayError> => {
  const { account, planned } = draft
  const { context, operation } = draft.asking
  const target = { account, modelId: planned.modelId, request: context }
  const calls = signatureExtractors[operation]?.history(draft.request, target) ?? []
  const prepare = (signatures: ReadonlyMap<string, KnownSignature> | undefined) =>
    inTurn(context.room?.size, () => Effect.fromResult(prepareCall(draft, signatures, media)))
  return calls.length === 0 ? prepare(undefined) : Effect.flatMap(memory.recall(context.key.id, calls), prepare)
}

const placeRefused = (param: string, { slug }: ProviderAccount): UnsupportedParameter =>
  new UnsupportedParameter({
    param,
    message: `"${param}" has no effect: "${slug}" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.`
  })

/** The upstream call of a draft, checked against what the account may reach. */
const prepareCall = <Op extends Operation>(
  { account, asking, lessonsOf, models, planned, provider, request, scopeOf }: Draft<Op>,
  signatures: ReadonlyMap<string, KnownSignature> | undefined,
  media: Fetched | undefined
): Result.Result<Attempt<Op>, GatewayError> => {
  const { context, operation, stream } = asking
  if (provider === undefined) return Result.fail(providerMissing(account))
  const prepare = provider.prepare[operation]
  if (prepare === undefined) return Result.fail(operationMissing(account, operation))
  const { betas } = planned
  const result = prepare(request, {
    request: betas.length === 0 ? context : { ...context, betas: [...context.betas, ...betas] },
    account,
    model: request.model,
    modelId: planned.modelId,
    models,
    stream,
    optionIndex: planned.target?.index ?? 0,
    mixesKinds: planned.mixesKinds === true,
    callId: callIds(context.idSeed),
    signature: (callId) => signatures?.get(callId),
    media: (url) => fetchedAt(media, url)
  })
  if (Result.isFailure(result)) return Result.fail(faultOfPlace(result.failure, context.carried, account))
  const { target } = result.success
  const scope = healScope(operation, result.success, models.find(target.modelId).record)
  const learns = scope === undefined && operation !== "chat" ? undefined : scopeOf(target.modelId)
  const { ignored } = planned
  const attempt: Attempt<Op> = {
    request,
    account,
    provider,
    prepared: result.success,
    ignored: ignored.length === 0 ? result.success.ignored : [...ignored, ...result.success.ignored],
    scope,
    learns
  }
  const facts = scope === undefined ? [] : knownLessons(scope, result.success)
  const taught = withLessons(attempt, [
    ...facts,
    ...(scope === undefined || learns === undefined ? [] : lessonsOf(learns))
  ])
  if (Result.isFailure(taught)) return Result.fail(taught.failure)
  const { prepared } = taught.success.attempt
  const fault =
    (context.unsupported === "reject" ? unsupportedBy(prepared) : undefined) ??
    beyondReach(account, prepared) ??
    otherModel(prepared)
  return fault === undefined ? Result.succeed(taught.success.attempt) : Result.fail(fault)
}

/** An attempt whose call was changed; `applied` are the lessons that did. */
interface TaughtAttempt<Op extends Operation> {
  readonly attempt: Attempt<Op>
  readonly applied: ReadonlyArray<Lesson>
}

/** The attempt with its call changed by lessons. */
export const withLessons = <Op extends Operation>(
  attempt: Attempt<Op>,
  lessons: ReadonlyArray<Lesson>
): Result.Result<TaughtAttempt<Op>, GatewayError> =>
  attempt.scope === undefined || lessons.length === 0
    ? Result.succeed({ attempt, applied: [] })
    : Result.map(healPrepared(attempt.prepared, attempt.scope, attempt.request, lessons), ({ applied, prepared }) => ({
        attempt: { ...attempt, prepared, ignored: joinNames(attempt.ignored, prepared.ignored) },
        applied
      }))

const providerMissing = ({ kind, slug }: ProviderAccount): UnsupportedOperation =>
  new UnsupportedOperation({
    message: `"${slug}" is an account of "${kind}", and this gateway has no provider of that name.`
  })

const operationMissing = ({ slug }: ProviderAccount, operation: Operation): UnsupportedOperation =>
  new UnsupportedOperation({ message: `The provider "${slug}" has no operation "${operation}".` })

/** The refusal of a request that wants its parameters sent as they are, or not at all. */
const unsupportedBy = ({
  adjusted,
  ignored
}: Prepared<unknown, unknown>): BodyInvalid | UnsupportedParameter | undefined => {
  const [param] = ignored
  if (param !== undefined)
    return new UnsupportedParameter({
      param,
      message: `"${param}" has no equivalent at this model, and the request asked for refusal of such parameters.`
    })
  const change = adjusted?.[0]
  if (change?.refusal !== undefined) return new BodyInvalid(change.refusal)
  return change === undefined
    ? undefined
    : new UnsupportedParameter({
        param: change.param,
        message: `"${change.param}" is one of ${change.takes.join(", ")} at this model, and the request asked for refusal of other values.`
      })
}

/** Authorises an attempt and sends it by its strategy. The recorder of the request takes notes of the call. */
export const callAttempt = <Op extends Operation, A, R>(
  attempt: Attempt<Op>,
  asking: Asking<Op>,
  times: AttemptTimes,
  strategy: CallStrategy<Op, A, R>,
  repeating: Repeating | undefined
): Effect.Effect<A, GatewayError, R> => {
  const sendable = requireCredentials(attempt.account)
  if (Result.isFailure(sendable)) return Effect.fail(sendable.failure)
  const { recorder, room } = asking.context
  const { prepared } = attempt
  const send = (observed: ObservedAttempt | undefined) => {
    const later = repeating === undefined ? undefined : laterCalls(attempt, asking, repeating, observed)
    const once = (call: typeof prepared) =>
      sendRenewing(attempt, asking.context, times, observed, (auth, now) => strategy.send(call, auth, now, room, later))
    const { unsigned } = prepared
    // Signatures of the other product's model are left out where they are refused (N506).
    return unsigned === undefined
      ? once(prepared)
      : Effect.catch(once(prepared), (error) =>
          error.reason._tag === "SignatureRejected" ? once(withBody(prepared, unsigned())) : Effect.fail(error)
        )
  }
  if (recorder === undefined) return send(undefined)
  return Effect.suspend(() => {
    const recorded = recorder.attempt(prepared, asking)
    return recordOutcome(recorded, send(recorded))
  })
}

/** The call with another body, which is printed. */
const withBody = <Out, Chunk>(call: Prepared<Out, Chunk>, body: Json): Prepared<Out, Chunk> => {
  const { bytes: _replaced, ...rest } = call
  return { ...rest, body }
}

/** What the later calls of a long answer take from the plan: their times, and their retries. */
export interface Repeating {
  readonly times: Effect.Effect<AttemptTimes, ProviderError>
  readonly retry: <A, R>(call: Effect.Effect<A, ProviderError, R>) => Effect.Effect<A, ProviderError, R>
}

/** Each later call is admitted under the budget of the key, authorised and retried by itself (M-604, M-606). */
const laterCalls =
  (
    attempt: Pick<Attempt<Operation>, "account" | "provider" | "prepared">,
    { admitMore, context }: Pick<Asking<Operation>, "admitMore" | "context">,
    { retry, times }: Repeating,
    observed: ObservedAttempt | undefined
  ): SendLater =>
  (usage, send) => {
    const call = retry(Effect.flatMap(times, (now) => sendRenewing(attempt, context, now, observed, send)))
    return admitMore === undefined ? call : Effect.andThen(admitMore(attempt.prepared.target, promptOf(usage)), call)
  }

/** Each hop is billed for the prompt that the first hop counted, and for the answer so far. */
const promptOf = (usage: Usage | undefined): number => usage?.total_tokens ?? 0

/** Sends once. A token of ours that the upstream refuses is renewed, and the call sent a second time. */
const sendRenewing = <A, R>(
  { account, provider }: Pick<Attempt<Operation>, "account" | "provider">,
  context: RequestContext,
  times: AttemptTimes,
  observed: ObservedAttempt | undefined,
  call: (auth: AuthHeaders, times: AttemptTimes) => Effect.Effect<A, ProviderError, R>
): Effect.Effect<A, ProviderError, R> => {
  const { tls } = account
  const observedTimes = observed === undefined && tls === undefined ? times : { ...times, observed, tls }
  const send = () =>
    Effect.flatMapEager(authorizeObserved(account, provider, context, observed), (auth) => {
      const all = observed?.headers === undefined ? auth : { ...auth, ...observed.headers }
      return context.deadlineMillis === undefined
        ? call(all, observedTimes)
        : Effect.flatMap(remainingMillis(account, context), (left) =>
            call(all, { ...observedTimes, totalMillis: least(times.totalMillis, left) })
          )
    })
  return Effect.catch(send(), (error) =>
    error.reason._tag !== "CredentialsRejected" || error.upstreamStatus !== 401
      ? Effect.fail(error)
      : Effect.flatMap(inTime(account, context, provider.refresh(account)), (renewed) =>
          renewed ? send() : Effect.fail(error)
        )
  )
}

/** A credential that is a header itself takes no time. */
const authorizeObserved = (
  account: ProviderAccount,
  provider: Provider,
  context: RequestContext,
  observed: ObservedAttempt | undefined
): Effect.Effect<AuthHeaders, ProviderError> => {
  const authorized = authorizeInTime(account, provider, context)
  return observed === undefined || Exit.isExit(authorized)
    ? authorized
    : Effect.tap(authorized, () => Effect.sync(() => observed.authorized()))
}

const recordOutcome = <A, R>(
  recorded: ObservedAttempt,
  outcome: Effect.Effect<A, ProviderError, R>
): Effect.Effect<A, ProviderError, R> =>
  Effect.matchEffect(outcome, {
    onFailure: (error) => {
      recorded.failed(error)
      return Effect.fail(error)
    },
    onSuccess: (answer) => {
      recorded.answered(answer)
      return Effect.succeed(answer)
    }
  })
