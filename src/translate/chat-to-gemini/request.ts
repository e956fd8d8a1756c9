// A chat request as the body of generateContent: every part is translated elsewhere and put together here.
// It must not know URLs or credentials; which of the two products it is for, the context says.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readMessages, type Turn } from "../shared/readMessages.ts"
import { textPart } from "../shared/readParts.ts"
import { readToolChoice, readTools } from "../shared/readTools.ts"
import { toolNamesOf } from "../shared/toolNames.ts"
import type { Translated, TranslateContext } from "../Translator.ts"
import { generationConfig } from "./generationConfig.ts"
import { googleFields } from "./googleFields.ts"
import { messagesToGemini } from "./messages.ts"
import { ignoredParams } from "./params.ts"
import { geminiTools } from "./tools.ts"

/** Translates a request, or says what is wrong with it; parameters without a place upstream are named in `ignored`. */
export const chatToGeminiRequest = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<GenerateContentRequest>, RequestFault> =>
  Result.gen(function* () {
    const { target } = context
    const names = toolNamesOf(request)
    const google = yield* googleFields(request, target)
    const generation = yield* generationConfig(request, target, google.thinking, defaultLimits)
    const asked = yield* readTools(request, defaultLimits)
    const tools = yield* geminiTools(asked, yield* readToolChoice(request), names, target, defaultLimits)
    const turns = withSystemText(yield* readMessages(request.messages, defaultLimits), generation.systemText)
    const { contents, systemInstruction } = yield* messagesToGemini(turns, context, names)
    // What a cached content already holds must not stand beside it.
    const isCached = google.body.cachedContent !== undefined
    const system = systemInstruction === undefined ? {} : { systemInstruction }
    const body: GenerateContentRequest = {
      contents,
      ...(isCached
        ? {}
        : {
            ...system,
            ...(tools.tools === undefined ? {} : { tools: tools.tools }),
            ...(tools.toolConfig === undefined ? {} : { toolConfig: tools.toolConfig })
          }),
      ...(Object.keys(generation.config).length === 0 ? {} : { generationConfig: generation.config }),
      ...google.body
    }
    const unused = [
      ...google.unused,
      ...generation.unused,
      ...unusedOfTools(request),
      ...(tools.choiceUnused ? choiceParams : []),
      ...(isCached ? [...toolParams, ...choiceParams] : []),
      ...(isCached && systemInstruction !== undefined ? ["messages.system"] : [])
    ]
    return { body, headers: google.headers, ignored: ignoredParams(request, unused) }
  })

const toolParams = ["tools", "functions", "web_search_options"]
const choiceParams = ["tool_choice", "function_call"]

/** The newer words win over the older ones, and calls cannot be kept from being parallel. */
const unusedOfTools = (request: ChatRequest): ReadonlyArray<string> => [
  ...((request.tools ?? undefined) === undefined ? [] : ["functions"]),
  ...((request.tool_choice ?? undefined) === undefined ? [] : ["function_call"]),
  ...(request.parallel_tool_calls === false ? ["parallel_tool_calls"] : [])
]

/** With the text as one more system turn: the last, unless the last one is to become the user's. */
const withSystemText = (turns: ReadonlyArray<Turn>, text: string | undefined): ReadonlyArray<Turn> => {
  if (text === undefined) return turns
  const at = turns.every((turn) => turn._tag === "System") ? turns.length - 1 : turns.length
  return turns.toSpliced(at, 0, { _tag: "System", parts: [textPart(text)] })
}
