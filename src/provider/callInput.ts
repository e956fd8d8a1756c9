// What every prepared call takes from its attempt: the translation's context, the target and the route.
// It must not know dialects.
import type { LimitValues } from "../domain/Limits.ts"
import { modelFacts } from "../translate/shared/google/modelFacts.ts"
import type { TranslateContext } from "../translate/Translator.ts"
import type { OperationName, Target } from "../upstream/Prepared.ts"
import type { AttemptContext } from "./Provider.ts"
import type { Route, TargetModel } from "./Route.ts"

/** All of a `PrepareInput` but the translator and the request. */
export interface CallInput {
  readonly context: TranslateContext
  readonly target: Target
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly origin: "caller" | "stored"
  readonly limits: LimitValues
}

export const callInput = (
  operation: OperationName,
  { account, request, model, optionIndex, callId, signature, media }: AttemptContext,
  { family, modelId, endpoint }: TargetModel,
  { url, headers }: Route,
  limits: LimitValues
): CallInput => {
  const issuer = `${family}/${account.kind}`
  // Servers behind an endpoint may check the name under which they serve their model.
  const served = (endpoint ? account.endpoints[modelId]?.model : undefined) ?? modelId
  return {
    context: {
      id: `chatcmpl-${request.idSeed}`,
      createdSeconds: request.createdSeconds,
      model,
      target: { kind: account.kind, family, modelId: served, facts: modelFacts(modelId, { tuned: endpoint }), issuer },
      strict: request.strict,
      betas: request.betas,
      schemaCopyBytes: limits.schemaCopyBytes,
      callId,
      signature,
      media
    },
    target: { slug: account.slug, kind: account.kind, modelId, issuer, operation, optionIndex },
    url,
    headers,
    origin: account.origin,
    limits
  }
}
