// From a prompt and the body of its request to a chat body.
// It must not depend on paths, or on how a chat is answered.
import * as Result from "effect/Result"
import type { ReadyPrompt } from "../../catalog/readyPrompts.ts"
import { readVariables, renderTemplate } from "../../catalog/renderTemplate.ts"
import type { BodyInvalid, BodyTooLarge } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { LimitValues } from "../../domain/Limits.ts"

/** Variables fill the template. Every other field of the body replaces the template's own, unrendered. */
export const promptBody = (
  { model, template }: ReadyPrompt,
  body: JsonObject,
  { bodyBytes }: LimitValues
): Result.Result<JsonObject, BodyInvalid | BodyTooLarge> => {
  // Portkey's client sends the id of the path in the body as well, as prompt_id.
  const { prompt_id: _id, variables: sent, ...overrides } = body
  const variables = readVariables(sent)
  if (Result.isFailure(variables)) return Result.fail(variables.failure)
  return Result.map(renderTemplate(template, variables.success, bodyBytes), (rendered) => ({
    model,
    ...rendered,
    ...overrides
  }))
}
