// From a prompt and the body of its request to a chat body.
// It must not know paths, or how a chat is answered.
import * as Result from "effect/Result"
import type { ReadyPrompt } from "../../catalog/readyPrompts.ts"
import { readVariables, renderTemplate } from "../../catalog/renderTemplate.ts"
import type { BodyInvalid, BodyTooLarge } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { LimitValues } from "../../domain/Limits.ts"

/** Variables fill the template; every other field of the body stands in the place of the template's own, and is text as it came. */
export const promptBody = (
  { model, template }: ReadyPrompt,
  body: JsonObject,
  { bodyBytes }: LimitValues
): Result.Result<JsonObject, BodyInvalid | BodyTooLarge> => {
  // The peer's client leaves the id it wrote into the path in the body as well, respelt.
  const { prompt_id: _id, variables: sent, ...overrides } = body
  const variables = readVariables(sent)
  if (Result.isFailure(variables)) return Result.fail(variables.failure)
  return Result.map(renderTemplate(template, variables.success, bodyBytes), (rendered) => ({
    model,
    ...rendered,
    ...overrides
  }))
}
