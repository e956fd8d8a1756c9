// The input of every prepared call: the translation's context, the target and the route.
// It must not depend on dialects.
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { recordOn } from "../domain/models/modelTable.ts"
import { dayOf } from "../domain/text/days.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { Operation } from "../domain/operations.ts"
import { type ModelFacts, modelFacts } from "../translate/shared/google/modelFacts.ts"
import { type ModelEnding, modelEnding } from "../domain/models/modelLife.ts"
import type { TranslateContext } from "../translate/Translator.ts"
import type { Target } from "../upstream/Prepared.ts"
import type { AttemptContext } from "./Provider.ts"
import type { Route, TargetModel } from "./callRoute.ts"

/** All of a `PrepareInput` but the translator and the request. */
export interface CallInput {
  readonly context: TranslateContext
  readonly target: Target
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly origin: "caller" | "stored"
  readonly limits: LimitValues
}

/** What is known of the model of a target. */
export interface TargetFacts {
  /** The record of the id itself. */
  readonly own: ModelRecord
  /** The record of the model that answers. */
  readonly record: ModelRecord
  readonly facts: ModelFacts
}

/** The facts in force on the day of the request: a model may be answered by its successor (M-722). */
export const targetFacts = (
  { account, models, request }: Pick<AttemptContext, "account" | "models" | "request">,
  { endpoint, modelId }: Pick<TargetModel, "modelId" | "endpoint">
): TargetFacts => {
  const { record: own } = models.find(modelId)
  const record =
    own.routed === undefined ? own : recordOn(models, modelId, account.kind, dayOf(request.createdSeconds * 1_000))
  return { own, record, facts: modelFacts(record, { tuned: endpoint }) }
}

/** The announced or past end of a model on the day of the request; self-deployed ones have none. */
export const endingOn = (
  { account, request }: Pick<AttemptContext, "account" | "request">,
  { endpoint }: Pick<TargetModel, "endpoint">,
  { own }: Pick<TargetFacts, "own">
): ModelEnding | undefined =>
  endpoint ? undefined : modelEnding(own, account.kind, dayOf(request.createdSeconds * 1_000))

/** `found`: the facts of the target, where they have been looked up before. */
export const callInput = (
  operation: Operation,
  attempt: AttemptContext,
  target: TargetModel,
  { url, headers }: Route,
  limits: LimitValues,
  found: TargetFacts = targetFacts(attempt, target)
): CallInput => {
  const { facts, record } = found
  const { account, callId, media, model, optionIndex, request, signature } = attempt
  const { endpoint, family, modelId } = target
  const issuer = `${family}/${account.kind}`
  // Servers of an endpoint may check the name under which they serve their model.
  const served = (endpoint ? account.endpoints[modelId]?.model : undefined) ?? modelId
  return {
    context: {
      id: `chatcmpl-${request.idSeed}`,
      createdSeconds: request.createdSeconds,
      model,
      target: {
        kind: account.kind,
        family,
        modelId: served,
        record,
        facts,
        issuer
      },
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
      modelId,
      issuer,
      operation,
      optionIndex,
      ending: endingOn(attempt, target, found)
    },
    url,
    headers,
    origin: account.origin,
    limits
  }
}
