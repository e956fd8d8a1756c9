// The input of every prepared call: the translation's context, the target and the route.
// It must not depend on dialects.
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { recordOn } from "../domain/models/modelTable.ts"
import { dayOf } from "../domain/text/days.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { Operation } from "../domain/operations.ts"
import { type ModelFacts, modelFacts } from "../translate/shared/google/modelFacts.ts"
import { modelEnding } from "../domain/models/modelLife.ts"
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

/** The facts in force on the day of the request: a model may be answered by its successor (M-722). */
export const targetFacts = (
  { account, models, request }: Pick<AttemptContext, "account" | "models" | "request">,
  { endpoint, modelId }: Pick<TargetModel, "modelId" | "endpoint">
): {
  /** The record of the id itself. */
  readonly own: ModelRecord
  /** The record of the model that answers. */
  readonly record: ModelRecord
  readonly facts: ModelFacts
} => {
  const { record: own } = models.find(modelId)
  const record =
    own.routed === undefined ? own : recordOn(models, modelId, account.kind, dayOf(request.createdSeconds * 1_000))
  return { own, record, facts: modelFacts(record, { tuned: endpoint }) }
}

export const callInput = (
  operation: Operation,
  { account, request, model, models, optionIndex, callId, signature, media }: AttemptContext,
  { family, modelId, endpoint }: TargetModel,
  { url, headers }: Route,
  limits: LimitValues
): CallInput => {
  const { facts, own, record } = targetFacts({ account, models, request }, { modelId, endpoint })
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
      ending: endpoint ? undefined : modelEnding(own, account.kind, dayOf(request.createdSeconds * 1000))
    },
    url,
    headers,
    origin: account.origin,
    limits
  }
}
