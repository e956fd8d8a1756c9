// Translates a chat request into Gemini's generateContent body: joins messages, tools, config and Google fields.
// Must not depend on URLs or credentials; the context names the product.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { hasKeys } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { repairing } from "../shared/chat-request/repairHistory.ts"
import { argumentsAdjusted, readMessages, type Turn } from "../shared/chat-request/readMessages.ts"
import { textPart } from "../shared/chat-request/readParts.ts"
import { readToolChoice, readTools } from "../shared/chat-request/readTools.ts"
import { geminiNames, type ToolNames, toolNamesOf } from "../shared/chat-request/toolNames.ts"
import type { Adjustment, Translated, TranslateContext } from "../Translator.ts"
import { type GenerationConfig, generationConfig } from "./generationConfig.ts"
import { type GoogleFields, googleFields } from "./googleFields.ts"
import { type GeminiMessages, messagesToGemini } from "./messages.ts"
import { ignoredGeminiParams } from "./params.ts"
import type { SchemaBounds } from "./schema/schema.ts"
import { SchemaCopies } from "./schema/schemaCopies.ts"
import { type GeminiTools, geminiTools } from "./tools.ts"

const translate = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<GenerateContentRequest>, RequestFault> => {
  const { target } = context
  const names = toolNamesOf(request, geminiNames)
  const fields = googleFields(request, target)
  if (Result.isFailure(fields)) return Result.fail(fields.failure)
  const google = fields.success
  const limits = { schemaDepth: defaultLimits.schemaDepth, copies: new SchemaCopies(context.schemaCopyBytes, request) }
  const config = generationConfig(request, target, google.thinking, limits)
  if (Result.isFailure(config)) return Result.fail(config.failure)
  const generation = config.success
  const tools = toolsOf(request, names, target, limits)
  if (Result.isFailure(tools)) return Result.fail(tools.failure)
  const turns = readMessages(request.messages, defaultLimits)
  if (Result.isFailure(turns)) return Result.fail(turns.failure)
  const messages = messagesToGemini(withSystemText(turns.success, generation.systemText), context, names)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const adjusted = [
    ...(generation.adjusted ?? []),
    ...argumentsAdjusted(turns.success),
    ...(messages.success.insertsTurn === true ? [prefillAdjustment(request, target.modelId)] : [])
  ]
  return Result.succeed({
    body: bodyOf(messages.success, tools.success, generation, google),
    headers: google.headers,
    ignored: ignoredGeminiParams(request, unusedOf(request, messages.success, tools.success, generation, google)),
    ...(adjusted.length === 0 ? {} : { adjusted })
  })
}

/** Translates a request or refuses it; parameters without an upstream equivalent are listed in `ignored`. */
export const chatToGeminiRequest = repairing(translate)

const prefillAdjustment = ({ messages }: ChatRequest, modelId: string): Adjustment => ({
  param: "messages",
  asked: "prefill",
  sent: "continue",
  takes: [],
  refusal: {
    code: "unsupported_value",
    param: `messages[${messages.findLastIndex(({ role }) => role === "assistant")}]`,
    message: `${modelId} takes no assistant prefill.`
  }
})

const toolsOf = (
  request: ChatRequest,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): Result.Result<GeminiTools, RequestFault> => {
  const asked = readTools(request, defaultLimits)
  if (Result.isFailure(asked)) return Result.fail(asked.failure)
  const choice = readToolChoice(request)
  if (Result.isFailure(choice)) return Result.fail(choice.failure)
  return geminiTools(asked.success, choice.success, names, target, bounds)
}

/** System instruction and tools must not be sent together with a cached content, which already has them. */
const isCached = (google: GoogleFields): boolean => google.body.cachedContent !== undefined

const bodyOf = (
  { contents, systemInstruction }: GeminiMessages,
  { tools, toolConfig }: GeminiTools,
  { config }: GenerationConfig,
  google: GoogleFields
): GenerateContentRequest => {
  const cached = isCached(google)
  return {
    contents,
    ...(cached || systemInstruction === undefined ? {} : { systemInstruction }),
    ...(cached || tools === undefined ? {} : { tools }),
    ...(cached || toolConfig === undefined ? {} : { toolConfig }),
    ...(hasKeys(config) ? { generationConfig: config } : {}),
    ...google.body
  }
}

const unusedOf = (
  request: ChatRequest,
  { systemInstruction }: GeminiMessages,
  { choiceUnused, left = [] }: GeminiTools,
  generation: GenerationConfig,
  google: GoogleFields
): ReadonlyArray<string> => {
  const unused = [...google.unused, ...generation.unused, ...left]
  // The newer parameters take precedence over the older ones, and Gemini cannot disable parallel calls.
  if ((request.tools ?? undefined) !== undefined) unused.push("functions")
  if ((request.tool_choice ?? undefined) !== undefined) unused.push("function_call")
  if (request.parallel_tool_calls === false) unused.push("parallel_tool_calls")
  // Google's search takes no options.
  const options = request.web_search_options ?? undefined
  if (options !== undefined) unused.push(...Object.keys(options).map((name) => `web_search_options.${name}`))
  if (choiceUnused || isCached(google)) unused.push(...choiceParams)
  if (isCached(google)) {
    unused.push(...toolParams)
    if (systemInstruction !== undefined) unused.push("messages.system")
  }
  return unused
}

const toolParams = ["tools", "functions", "web_search_options"]
const choiceParams = ["tool_choice", "function_call"]

/** Adds the text as the last system turn, unless that turn is about to become the user turn. */
const withSystemText = (turns: ReadonlyArray<Turn>, text: string | undefined): ReadonlyArray<Turn> => {
  if (text === undefined) return turns
  const at = turns.every((turn) => turn._tag === "System") ? turns.length - 1 : turns.length
  return turns.toSpliced(at, 0, { _tag: "System", parts: [textPart(text)] })
}
