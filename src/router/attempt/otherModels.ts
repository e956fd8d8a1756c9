// Refuses a body that names another model than the one which is called: limits, prices and budgets count for that one.
// Must not know where a body names models.
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { operations } from "../../domain/operations.ts"
import { namedModels, namingMembers } from "../../translate/namedModels.ts"
import type { Prepared } from "../../upstream/Prepared.ts"

/** The id of a model, alone or with the prefixes of a resource. */
const bareId = (written: string): string => written.replace(/^.*\bmodels\//, "")

/** Why a body may not be sent; undefined where it names no other model. Only native dialects have such members. */
export const otherModel = ({
  body,
  bytes,
  target: { modelId, operation },
  translated
}: Pick<Prepared<unknown, unknown>, "body" | "bytes" | "target" | "translated">): BodyInvalid | undefined => {
  const { dialect } = operations[operation]
  if (dialect === "openai" || translated !== undefined) return undefined
  const named = namedModels(dialect, bytes === undefined ? body : namingMembers(dialect, bytes))
  const other = named.find(({ model }) => typeof model !== "string" || bareId(model) !== bareId(modelId))
  return other === undefined
    ? undefined
    : new BodyInvalid({
        code: "invalid_value",
        param: other.param,
        message: `${other.param} is another model than the one that is called, "${modelId}"; leave it out, and name other models in a config.`
      })
}
