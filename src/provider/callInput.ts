// The input of every prepared call: what follows from account and model, the translation's context, the target and the route.
// It must not depend on dialects.
import * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type ModelEnding, modelEnding } from "../domain/models/modelLife.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { type ModelTable, recordOn } from "../domain/models/modelTable.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { dayMillis, dayOf } from "../domain/time.ts"
import { type ModelFacts, modelFacts } from "../translate/shared/gemini.ts"
import type { TranslateContext } from "../translate/Translator.ts"
import type { Target } from "../upstream/Prepared.ts"
import type { AttemptContext, Operations, Prepare, PreparedCall } from "./Provider.ts"
import { familyLacks, KnownModel, type Route, type TargetModel, targetModel } from "./route.ts"

/** All of a `PrepareInput` but the translator and the request. */
export interface CallInput {
  readonly context: TranslateContext
  readonly target: Target
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly origin: "caller" | "stored"
  readonly limits: LimitValues
}

/** What follows from account and model on a day. */
export interface TargetFacts {
  /** The record of the id itself. */
  readonly idRecord: ModelRecord
  /** The record of the model that answers. */
  readonly record: ModelRecord
  readonly facts: ModelFacts
  /** The announced or past end of the model; self-deployed ones have none. */
  readonly ending: ModelEnding | undefined
  /** The model as translators read it. */
  readonly translated: TranslateContext["target"]
}

/** The facts of a known model, and what they were read from. */
interface DatedFacts {
  readonly models: ModelTable
  readonly day: number
  readonly facts: TargetFacts
}

const factsOfModels = new WeakMap<KnownModel, DatedFacts>()

/** The facts in force on the day of the request: a model may be answered by its successor (M-722). */
export const targetFacts = (
  { account, models, request }: Pick<AttemptContext, "account" | "models" | "request">,
  model: TargetModel
): TargetFacts => {
  const day = Math.floor((request.createdSeconds * 1_000) / dayMillis)
  const read = () => readFacts(account, models, model, dayOf(day * dayMillis))
  if (!(model instanceof KnownModel) || model.account !== account) return read()
  const last = factsOfModels.get(model)
  if (last !== undefined && last.models === models && last.day === day) return last.facts
  const facts = read()
  factsOfModels.set(model, { models, day, facts })
  return facts
}

const readFacts = (
  account: ProviderAccount,
  models: ModelTable,
  { endpoint, family, modelId }: TargetModel,
  today: string
): TargetFacts => {
  const { kind } = account
  const { record: idRecord } = models.find(modelId)
  const record = idRecord.routed === undefined ? idRecord : recordOn(models, modelId, kind, today)
  const facts = modelFacts(record, { tuned: endpoint })
  // Servers of an endpoint may check the name under which they serve their model.
  const served = (endpoint ? account.endpoints[modelId]?.model : undefined) ?? modelId
  return {
    idRecord,
    record,
    facts,
    ending: endpoint ? undefined : modelEnding(idRecord, kind, today),
    translated: { kind, family, modelId: served, record, facts, issuer: `${family}/${kind}` }
  }
}

/** `factsNow`: the facts of the target, where they have been looked up before. */
export const callInput = (
  operation: Operation,
  attempt: AttemptContext,
  model: TargetModel,
  { url, headers }: Route,
  limits: LimitValues,
  factsNow: TargetFacts = targetFacts(attempt, model)
): CallInput => {
  const { account, callId, media, optionIndex, request, signature } = attempt
  const { ending, translated } = factsNow
  return {
    context: {
      id: `chatcmpl-${request.idSeed}`,
      createdSeconds: request.createdSeconds,
      model: attempt.model,
      target: translated,
      strict: request.strict,
      ordered: request.ordered,
      betas: request.betas,
      schemaCopyBytes: limits.schemaCopyBytes,
      callId,
      signature,
      media
    },
    target: {
      slug: account.slug,
      kind: account.kind,
      place: account.region,
      modelId: model.modelId,
      issuer: translated.issuer,
      operation,
      optionIndex,
      ending,
      labels: attempt.labels
    },
    url,
    headers,
    origin: account.origin,
    limits
  }
}

/** Prepares an operation for a model whose family is known. */
export type PrepareModel<Op extends Operation> = (
  request: Operations[Op]["request"],
  context: AttemptContext,
  model: TargetModel
) => Result.Result<PreparedCall<Op>, GatewayError>

/** A missing family is a missing key; its refusal names the operation. */
export const byFamily =
  <Op extends Operation>(
    operation: Op,
    families: { readonly [Family in TargetModel["family"]]?: PrepareModel<Op> }
  ): Prepare<Op> =>
  (request, context) =>
    Result.flatMap(targetModel(context.modelId, context.account), (model) => {
      const prepare = families[model.family]
      return prepare === undefined ? familyLacks(context.account, model, operation) : prepare(request, context, model)
    })
