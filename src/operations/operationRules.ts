// The rules of every operation, and what follows from them alone: estimates, and the body for a target of a config.
// It must not depend on plans, keys, or on how a call is made.
import * as Result from "effect/Result"
import { applyEdits, type Edits, mergeDeep } from "../domain/config/edits.ts"
import type { ConfigTarget } from "../domain/config/GatewayConfig.ts"
import { renderPath } from "../domain/faults.ts"
import { BodyInvalid } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { builtInModels, type ModelTable } from "../domain/models/modelTable.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { JsonObject } from "../domain/text/json.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Operations } from "../provider/Provider.ts"
import { chat, countTokens } from "./chat.ts"
import { embeddings, images } from "./embeddingsAndImages.ts"
import { messages, messagesCountTokens } from "./messages.ts"
import { nativeContent, nativeCount, nativeEmbeddings, nativePredictions } from "./native.ts"
import type { BodyRules, ExpectedPrompt, OperationRules } from "./rules.ts"
import { noUsage } from "./usage.ts"

export const operationRules: { readonly [Op in Operation]: OperationRules<Op> } = {
  chat,
  countTokens,
  embeddings,
  images,
  messages,
  messagesCountTokens,
  nativeContent,
  nativeEmbeddings,
  nativePredictions,
  nativeCount
}

const noPrompt: ExpectedPrompt = { input: 0, audioInput: 0, isCached: false }

/** The prompt of an operation's body. */
export const expectedPrompt = (operation: Operation, body: JsonObject): ExpectedPrompt =>
  operationRules[operation].estimate?.prompt(body) ?? noPrompt

/** The whole context of a model, where nothing is known of its size. */
const usualContext = 2 ** 20

/** A cached content may fill the context of its model. */
const cachedOf = ({ isCached }: ExpectedPrompt, modelId: string, models: ModelTable): number =>
  isCached ? (models.find(modelId).record.context ?? usualContext) : 0

/**
 * The usage of a request before it is sent, from the body for one target. `usualOutput` is the output of a request
 * without a bound; `prompt` saves a second estimate of the same body.
 */
export const estimatedUsage = (
  operation: Operation,
  body: JsonObject,
  usualOutput: number,
  modelId = "",
  prompt: ExpectedPrompt = expectedPrompt(operation, body),
  models: ModelTable = builtInModels
): Usage => {
  const { estimate } = operationRules[operation]
  if (estimate === undefined) return noUsage
  const cached = cachedOf(prompt, modelId, models)
  const read = { ...noUsage, input: prompt.input + cached, cached, audioInput: prompt.audioInput }
  return estimate.usage(body, { read, usualOutput, modelId, models })
}

const noEdits: Edits = { defaults: {}, overrides: {}, drops: [] }

/** Labels of a config are defaults for those of the request; only Vertex AI has labels. */
const editsFor = <Request>(
  { edits, labels }: ConfigTarget,
  kind: ProviderKind,
  body: BodyRules<Request>
): Edits | undefined => {
  if (labels === undefined || kind !== "vertex-ai" || !body.labels) return edits
  const { defaults, ...others } = edits ?? noEdits
  return { ...others, defaults: mergeDeep({ labels: { ...labels } }, defaults) }
}

/** The fault as one of the config: the request was valid before its edits. */
const configFault = (target: ConfigTarget, { message }: BodyInvalid): BodyInvalid => {
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
  const { body }: OperationRules<Op> = operationRules[operation]
  const edits = editsFor(target, kind, body)
  if (edits === undefined) return Result.succeed(request)
  return Result.mapError(
    body.revise(request, (json) => applyEdits(json, edits), limits),
    (fault) => configFault(target, fault)
  )
}
