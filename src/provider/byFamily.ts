// One operation over the families of models a provider serves: the family of the model picks the function that prepares the call.
// It must not depend on URLs or dialects.
import * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Operation } from "../domain/operations.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { AttemptContext, Operations, Prepare } from "./Provider.ts"
import { familyLacks, targetModel, type TargetModel } from "./callRoute.ts"

/** Prepares an operation for a model whose family is known. */
export type PrepareModel<Op extends Operation> = (
  request: Operations[Op]["request"],
  context: AttemptContext,
  model: TargetModel
) => Result.Result<Prepared<Operations[Op]["out"], Operations[Op]["chunk"]>, GatewayError>

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
