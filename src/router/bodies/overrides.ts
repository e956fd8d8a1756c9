// A request with the defaults, overrides and drops of one target of a config, applied before the translation.
// It must not depend on dialects; the body's own schema judges the outcome.
import * as Result from "effect/Result"
import { applyEdits, type Edits, mergeDeep } from "../../domain/config/edits.ts"
import { renderPath } from "../../domain/faults.ts"
import type { ConfigTarget } from "../../domain/config/GatewayConfig.ts"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import type { LimitValues } from "../../domain/Limits.ts"
import type { ProviderKind } from "../../domain/ProviderAccount.ts"
import type { Operation } from "../../domain/operations.ts"
import type { Operations } from "../../provider/Provider.ts"
import { type Body, bodies } from "./bodies.ts"

const noEdits: Edits = { defaults: {}, overrides: {}, drops: [] }

/** Labels of a config are defaults for those of the request; only Vertex AI has labels. */
const editsFor = <Request>(
  { edits, labels }: ConfigTarget,
  kind: ProviderKind,
  body: Body<Request>
): Edits | undefined => {
  if (labels === undefined || kind !== "vertex-ai" || !body.labels) return edits
  const { defaults, ...others } = edits ?? noEdits
  return { ...others, defaults: mergeDeep({ labels: { ...labels } }, defaults) }
}

/** The fault as one of the config: the request was valid before its edits. */
const blamed = (target: ConfigTarget, { message }: BodyInvalid): BodyInvalid => {
  const where = renderPath(target.at)
  return new BodyInvalid({
    code: "invalid_config",
    param: "x-gateway-config",
    message: `The request is not valid with the parameters that ${where === "" ? "the config" : `${where} of the config`} sets: ${message}`
  })
}

/** The request for a target; the given one stays as it is, for the next target begins with it again. */
export const withOverrides = <Op extends Operation>(
  operation: Op,
  request: Operations[Op]["request"],
  target: ConfigTarget,
  kind: ProviderKind,
  limits: LimitValues
): Result.Result<Operations[Op]["request"], BodyInvalid> => {
  const body: Body<Operations[Op]["request"]> = bodies[operation]
  const edits = editsFor(target, kind, body)
  if (edits === undefined) return Result.succeed(request)
  return Result.mapError(
    body.revise(request, (json) => applyEdits(json, edits), limits),
    (fault) => blamed(target, fault)
  )
}
