// One operation over the families of models a provider serves: the family of the model picks who prepares the call.
// It must not know URLs or dialects.
import * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { AttemptContext, Operations, Prepare } from "./Provider.ts"
import { familyLacks, targetModel, type TargetModel } from "./Route.ts"

/** Prepares an operation for a model whose family is known. */
export type PrepareModel<Op extends keyof Operations> = (
  request: Operations[Op]["request"],
  context: AttemptContext,
  model: TargetModel
) => Result.Result<Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>, GatewayError>

/** `words` names the operation in a refusal; a missing family is a missing key. */
export const byFamily =
  <Op extends keyof Operations>(
    words: string,
    families: { readonly [Family in TargetModel["family"]]?: PrepareModel<Op> }
  ): Prepare<Op> =>
  (request, context) =>
    Result.flatMap(targetModel(context.modelId, context.account), (model) => {
      const prepare = families[model.family]
      return prepare === undefined ? familyLacks(context.account, model, words) : prepare(request, context, model)
    })
