// Makes one target ready and sends nothing: credentials, edits, media, signatures, then the prepared call.
// It must not depend on how a call is sent, or on which attempt comes next.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { withCarriedCredentials } from "../auth/carried.ts"
import { inTurn } from "../batching/OwnTurn.ts"
import { memoizeBounded } from "../domain/collections.ts"
import { BodyInvalid, type GatewayError, UnsupportedOperation, UnsupportedParameter } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import type { Operation } from "../domain/operations.ts"
import { type CatalogView, type ProviderAccount, requestTypeHeader, withServing } from "../domain/ProviderAccount.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { attributionLabels, type LabelSources, labelValue } from "../domain/settings/attribution.ts"
import { operationRules, withOverrides } from "../operations/operationRules.ts"
import type { Operations, PreparedCall, Provider } from "../provider/Provider.ts"
import type { Providers } from "../provider/Providers.ts"
import { type LearnedRemedies, type LessonScope, lessonScope } from "../state/LearnedRemedies.ts"
import type { SignatureMemory } from "../state/SignatureMemory.ts"
import { digestOfText } from "../store/Carriers.ts"
import type { Lesson } from "../translate/healing/lessons.ts"
import type { FetchedMedia, KnownSignature } from "../translate/Translator.ts"
import type { MediaFetch } from "../upstream/MediaFetch.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import { beyondReach, otherModel } from "./allowedNames.ts"
import { remainingMillis } from "./Deadline.ts"
import { type HealScope, healScope, knownLessons, withLessons } from "./heal.ts"
import { modelsNow } from "./MovingNames.ts"
import { faultOfPlace, type Planned } from "./plan.ts"
import type { ClientRequest } from "./RequestPlan.ts"

/** One target made ready, with the provider that will authorise it. */
export interface Attempt<Op extends Operation> {
  /** As the target gets it. */
  readonly request: Operations[Op]["request"]
  readonly account: ProviderAccount
  readonly provider: Provider
  readonly prepared: PreparedCall<Op>
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

/** What is known of the addresses of media that a call needs as bytes. */
type MediaByUrl = ReadonlyMap<string, FetchedMedia>

const noMedia: MediaByUrl = new Map()

export type LoadMedia = (urls: ReadonlyArray<string>) => Effect.Effect<MediaByUrl, GatewayError>

/** Fetches each address once for all attempts of a request, within the deadline of the client. */
export const fetchMedia = (
  fetch: MediaFetch,
  { mediaMillis }: LimitValues,
  { deadlineMillis, key, room }: RequestContext
): LoadMedia => {
  let loaded = noMedia
  return (urls) =>
    Effect.clockWith((clock) => {
      const wanted = urls.filter((url) => !loaded.has(url))
      if (wanted.length === 0) return Effect.succeed(loaded)
      const left =
        deadlineMillis === undefined ? mediaMillis : Math.max(0, deadlineMillis - clock.currentTimeMillisUnsafe())
      return Effect.map(fetch(wanted, left, room, key.id), (fetched) => (loaded = new Map([...loaded, ...fetched])))
    })
}

/** For dry runs, which show a request and send none. */
export const showMedia: LoadMedia = (urls) => Effect.succeed(new Map(urls.map((url) => [url, { _tag: "Shown" }])))

/** What an attempt knows before media and signatures. */
interface Draft<Op extends Operation> {
  readonly client: ClientRequest<Op>
  readonly planned: Planned
  readonly account: ProviderAccount
  /** As the target gets it. */
  readonly request: Operations[Op]["request"]
  readonly provider: Provider | undefined
  /** Facts about models for the request. */
  readonly models: ModelTable
  /** Of the labels that the operator puts on calls; undefined for none. */
  readonly sources: LabelSources | undefined
  /** Where a call to the model teaches and is taught. */
  readonly scopeOf: (modelId: string) => LessonScope | undefined
  /** The lessons of a scope; none where nothing is healed. */
  readonly lessonsOf: (scope: LessonScope) => ReadonlyArray<Lesson>
}

/** Makes one target ready and sends nothing. Without `loadMedia` no media are looked for. */
export const prepareAttempt = <Op extends Operation>(
  { catalog, learned, limits, memory, providers }: AttemptServices,
  client: ClientRequest<Op>,
  planned: Planned,
  loadMedia: LoadMedia | undefined
): Effect.Effect<Attempt<Op>, GatewayError> => {
  const { context, operation } = client
  const { account: stored, carried, ignored, modelId, origin, target } = planned
  const withCredentials = withCarriedCredentials(stored, carried, origin, context.key.id)
  if (Result.isFailure(withCredentials)) return Effect.fail(withCredentials.failure)
  const account = withServing(withServing(withCredentials.success, typeOf(target)), context.servingHeaders)
  const [place] = ignored
  if (place !== undefined && context.unsupported === "reject") return Effect.fail(placeRefused(place, stored))
  const edited =
    target === undefined ? undefined : withOverrides(operation, client.request, target, account.kind, limits)
  if (edited !== undefined && Result.isFailure(edited)) return Effect.fail(edited.failure)
  const request = edited === undefined ? client.request : edited.success
  const provider = providers[account.kind]
  const config = account.credentials === stored.credentials ? undefined : context.configId
  const scopeOf = (model: string) => lessonScope(context.key.id, account, config, model)
  const { models, serving } = context.catalog ?? catalog
  const draft: Draft<Op> = {
    client,
    planned,
    account,
    request,
    provider,
    sources: serving?.labels,
    models: modelsNow(learned, models, scopeOf, modelId, context.startedMillis),
    scopeOf,
    lessonsOf: (scope) => (limits.heals === 0 ? [] : learned.recall(scope, context.startedMillis))
  }
  if (loadMedia === undefined) return withSignatures(draft, memory, undefined)
  const urls = provider?.media?.[operation]?.(request, { account, modelId }) ?? []
  if (urls.length === 0) return withSignatures(draft, memory, noMedia)
  return Effect.flatMap(loadMedia(urls), (media) =>
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
  media: MediaByUrl | undefined
): Effect.Effect<Attempt<Op>, GatewayError> => {
  const { account, planned } = draft
  const { context, operation } = draft.client
  const target = { account, modelId: planned.modelId, request: context }
  const calls = operationRules[operation].signatures?.history(draft.request, target) ?? []
  const prepare = (signatures: ReadonlyMap<string, KnownSignature> | undefined) =>
    inTurn(context.room?.size, () => Effect.fromResult(prepareCall(draft, signatures, media)))
  return calls.length === 0 ? prepare(undefined) : Effect.flatMap(memory.recall(context.key.id, calls), prepare)
}

const placeRefused = (param: string, { slug }: ProviderAccount): UnsupportedParameter =>
  new UnsupportedParameter({
    param,
    message: `"${param}" has no effect: "${slug}" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.`
  })

/** Clients choose metadata, so that a bounded number of values is kept. */
const labelOf = memoizeBounded((text: string) => labelValue(text, digestOfText))

/** The upstream call of a draft, checked against what the account may reach. */
const prepareCall = <Op extends Operation>(
  { account, client, lessonsOf, models, planned, provider, request, scopeOf, sources }: Draft<Op>,
  signatures: ReadonlyMap<string, KnownSignature> | undefined,
  media: MediaByUrl | undefined
): Result.Result<Attempt<Op>, GatewayError> => {
  const { context, operation, stream } = client
  if (provider === undefined) return Result.fail(providerMissing(account))
  const prepare = provider.prepare[operation]
  if (prepare === undefined) return Result.fail(operationMissing(account, operation))
  const { betas } = planned
  const labels =
    sources === undefined || account.kind !== "vertex-ai" ? undefined : attributionLabels(sources, context, labelOf)
  const result = prepare(request, {
    request: betas.length === 0 ? context : { ...context, betas: [...context.betas, ...betas] },
    account,
    model: request.model,
    modelId: planned.modelId,
    models,
    stream,
    optionIndex: planned.target?.index ?? 0,
    mixesKinds: planned.mixesKinds === true,
    labels,
    callId: callIds(context.idSeed),
    signature: (callId) => signatures?.get(callId),
    // Undefined where no media are looked for at all.
    media: (url) => (media === undefined ? undefined : (media.get(url) ?? { _tag: "Unfetchable" }))
  })
  if (Result.isFailure(result)) return Result.fail(faultOfPlace(result.failure, context.carried, account))
  const { target } = result.success
  const scope = healScope(operation, result.success, models.find(target.modelId).record)
  const learns =
    scope === undefined && operationRules[operation].namesModel !== true ? undefined : scopeOf(target.modelId)
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
  const taught = withLessons(attempt, [
    ...(scope === undefined ? [] : knownLessons(scope, result.success)),
    ...(scope === undefined || learns === undefined ? [] : lessonsOf(learns))
  ])
  if (Result.isFailure(taught)) return Result.fail(taught.failure)
  const { change } = taught.success
  const fault =
    (context.unsupported === "reject" ? unsupportedBy(change.prepared) : undefined) ??
    beyondReach(account, change.prepared) ??
    otherModel(change.prepared)
  return fault === undefined ? Result.succeed({ ...attempt, ...change }) : Result.fail(fault)
}

const idTailDigits = 12
const idTailSize = 16 ** idTailDigits

/** `call-<uuid>` of the n-th call: the seed's last twelve hex digits count on, so that a replayed request gives the same bytes. */
export const callIds =
  (seed: string) =>
  (n: number): string => {
    const head = seed.slice(0, -idTailDigits)
    const tail = (Number.parseInt(seed.slice(-idTailDigits), 16) + n + 1) % idTailSize
    return `call-${head}${tail.toString(16).padStart(idTailDigits, "0")}`
  }

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
