// Checks a well-formed request against the semantic rules of both services; each refusal has Google's wording.
// It must not depend on HTTP or replies.
// Source: recorded and publicly quoted refusals, Google's thinking and signature pages.

import { googleError, type GoogleError } from "../shared/answers.ts"
import {
  type Backend,
  type Content,
  declarationsOf,
  type GenerateRequest,
  type Part,
  partsOf,
  toolKinds
} from "../shared/generateRequest.ts"
import { modelFacts, type ModelFacts } from "../shared/models.ts"
import { signatureOwner, skipSignature } from "../shared/signatures.ts"

export interface RuleContext {
  readonly backend: Backend
  readonly model: string
  /** Accepts signatures of other issuers, so that recorded conversations can be replayed. */
  readonly acceptForeignSignatures: boolean
}

type Rule = (request: GenerateRequest, context: RuleContext, facts: ModelFacts) => string | undefined

const isCall = (part: Part): boolean => part.functionCall !== undefined
const isResponse = (part: Part): boolean => part.functionResponse !== undefined
const count = (content: Content | undefined, test: (part: Part) => boolean): number =>
  partsOf(content).filter(test).length

const contentsPresent: Rule = ({ contents }, { backend }) => {
  if (contents.length === 0) {
    return backend === "google"
      ? "* GenerateContentRequest.contents: contents is not specified\n"
      : "Unable to submit request because at least one contents field is required."
  }
  const empty = contents.findIndex((content) => partsOf(content).length === 0)
  if (empty < 0) return undefined
  return backend === "google"
    ? `* GenerateContentRequest.contents[${empty}].parts: contents.parts must not be empty.\n`
    : "Unable to submit request because it must include at least one parts field, which describes the prompt input."
}

const roles: Rule = ({ contents }, { backend }) => {
  const known = (role: string | undefined) => role === "user" || role === "model" || role === "function"
  const silent = backend === "google" || contents.length === 1
  if (contents.every((content) => known(content.role) || (silent && content.role === undefined))) return undefined
  return "Please use a valid role: user, model."
}

const firstTurn: Rule = ({ contents }) => {
  const first = contents[0]
  if (first?.role !== "model") return undefined
  return count(first, isCall) > 0
    ? "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    : "Please ensure that multiturn requests start with a user turn."
}

const unequal =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."

interface Turn {
  readonly role: string | undefined
  readonly calls: number
  readonly responses: number
}

/** Contents of one role in a row count as one turn. */
const turnsOf = (contents: ReadonlyArray<Content>): ReadonlyArray<Turn> =>
  contents.reduce<ReadonlyArray<Turn>>((turns, content) => {
    const role = content.role === "model" ? "model" : "user"
    const before = turns.at(-1)
    const joined = before?.role === role
    const turn = {
      role,
      calls: count(content, isCall) + (joined ? before.calls : 0),
      responses: count(content, isResponse) + (joined ? before.responses : 0)
    }
    return [...(joined ? turns.slice(0, -1) : turns), turn]
  }, [])

const callsAnswered: Rule = ({ contents }, { backend }) => {
  const turns = turnsOf(contents)
  for (const [index, { calls, responses, role }] of turns.entries()) {
    if (role === "user" && responses > 0 && (turns[index - 1]?.calls ?? 0) === 0)
      return "Please ensure that function response turn comes immediately after a function call turn."
    const next = turns[index + 1]
    if (role !== "model" || calls === 0 || next === undefined) continue
    // Vertex AI accepts calls without any response (recorded); the Gemini API does not.
    if (next.responses !== calls && (backend === "google" || next.responses > 0)) return unequal
  }
  return undefined
}

/** Index of the user content that opened the current turn: the last one without function responses. */
const currentTurn = (contents: ReadonlyArray<Content>): number =>
  contents.findLastIndex((content) => content.role !== "model" && count(content, isResponse) === 0)

const signaturesPresent: Rule = ({ contents }, { backend }, facts) => {
  if (!facts.needsSignature) return undefined
  const start = currentTurn(contents)
  for (const [index, content] of contents.entries()) {
    if (index <= start || content.role !== "model") continue
    const first = partsOf(content).find(isCall)
    if (first === undefined || first.thoughtSignature) continue
    const name = `default_api:${first.functionCall?.name ?? ""}`
    return backend === "google"
      ? "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing " +
          `thought_signature may lead to degraded model performance. Additional data, function call \`${name}\` , position ${index + 1}. ` +
          "Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
      : `Unable to submit request because function call \`${name}\` in the ${index + 1}. content block is missing a \`thought_signature\`. ` +
          "Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
  }
  return undefined
}

const signaturesIntact: Rule = ({ contents }, { backend, acceptForeignSignatures }) => {
  for (const part of contents.flatMap(partsOf)) {
    const signature = part.thoughtSignature
    if (!signature || signature === skipSignature) continue
    const owner = signatureOwner(signature)
    if (owner === backend || (owner === "foreign" && acceptForeignSignatures)) continue
    return "Corrupted thought signature."
  }
  return undefined
}

const geminiPage = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"

const levelRefusal = (level: string, backend: Backend, facts: ModelFacts): string | undefined => {
  const taken = facts.thinking === "level" || facts.thinking === "both"
  if (taken && facts.levels.includes(level)) return undefined
  if (!taken)
    return backend === "google"
      ? "Thinking level is not supported for this model."
      : `Unable to submit request because thinking_level is not supported by this model. ${geminiPage}`
  return backend === "google"
    ? `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`
    : `Unable to submit request because thinking_level ${level} is not supported by this model. ${geminiPage}`
}

const budgetRefusal = (budget: number, backend: Backend, facts: ModelFacts): string | undefined => {
  if (facts.thinking === "none")
    return budget === 0 ? undefined : "Thinking is not enabled for this model. Please remove thinking_config."
  if (facts.thinking === "level") return "Thinking budget is not supported for this model."
  const { least, most, stoppable } = facts.budget
  if (budget === 0 && stoppable) return undefined
  if (budget === 0 && facts.thinking === "budget")
    return backend === "google"
      ? "Budget 0 is invalid. This model only works in thinking mode."
      : "Unable to submit request because The model does not support setting thinking_budget to 0"
  if (budget >= least && budget <= most) return undefined
  const shown = backend === "google" ? `(${budget})` : budget
  return `The thinking budget ${shown} is invalid. Please choose a value between ${least} and ${most}.`
}

const thinking: Rule = ({ generationConfig }, { backend }, facts) => {
  const config = generationConfig?.thinkingConfig
  if (config === undefined) return undefined
  const { thinkingBudget: budget, thinkingLevel: level } = config
  if (budget !== undefined && level !== undefined)
    return "You can only set only one of thinking budget and thinking level."
  const refusal =
    level === undefined || level === "THINKING_LEVEL_UNSPECIFIED" ? undefined : levelRefusal(level, backend, facts)
  if (refusal !== undefined || budget === undefined || budget === -1) return refusal
  return budgetRefusal(budget, backend, facts)
}

const refuses = ({ refused }: ModelFacts, name: string, backend: Backend): boolean =>
  refused.has(name) || refused.has(`${name}@${backend === "google" ? "google" : "vertex-ai"}`)

/** The Gemini API names a model of the second generation, and no later one. */
const named = (model: string, backend: Backend, { generation }: ModelFacts): string =>
  backend === "google" && generation < 3 ? `models/${model}` : "this model"

const parameters: Rule = ({ generationConfig: config, cachedContent }, { backend, model }, facts) => {
  const penalised =
    (config?.presencePenalty !== undefined && refuses(facts, "presence_penalty", backend)) ||
    (config?.frequencyPenalty !== undefined && refuses(facts, "frequency_penalty", backend))
  if (penalised) return `Penalty is not enabled for ${named(model, backend, facts)}`
  const counted = config?.responseLogprobs === true || config?.logprobs !== undefined
  if (counted && refuses(facts, "logprobs", backend))
    return backend === "google"
      ? `Logprobs is not enabled for models/${model}`
      : "Unable to submit request because Logprobs is not supported for this model."
  return cachedContent !== undefined && !facts.explicitCaching
    ? "CachedContent is not supported for this model."
    : undefined
}

const candidates: Rule = ({ generationConfig }, { backend }, facts) => {
  const asked = generationConfig?.candidateCount ?? 1
  if (asked <= facts.candidates) return undefined
  return backend === "google"
    ? "Multiple candidates is not enabled for this model"
    : `Unable to submit request because candidateCount must be ${facts.candidates} but the entered value was ${asked}. ` +
        "Update the candidateCount value and try again."
}

const lastTurn: Rule = ({ contents }, _context, facts) =>
  contents.at(-1)?.role === "model" && !facts.prefill
    ? "Requests ending with a model turn are not supported."
    : undefined

const searchKinds = new Set([
  "googleSearch",
  "googleSearchRetrieval",
  "enterpriseWebSearch",
  "urlContext",
  "googleMaps",
  "retrieval"
])

const toolMix: Rule = (request, { backend }, facts) => {
  const kinds = toolKinds(request)
  const functions = kinds.includes("functionDeclarations")
  const builtIn = kinds.filter((kind) => kind !== "functionDeclarations")
  if (!functions || builtIn.length === 0) return undefined
  if (!facts.mixesTools) {
    return "Multiple tools are supported only when they are all search tools."
  }
  if (
    backend === "google" &&
    builtIn.some((kind) => searchKinds.has(kind)) &&
    !request.toolConfig?.includeServerSideToolInvocations
  ) {
    return "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
  }
  return undefined
}

const callingConfig: Rule = (request) => {
  const config = request.toolConfig?.functionCallingConfig
  if (config === undefined) return undefined
  const declared = new Set(declarationsOf(request).map((declaration) => declaration.name))
  const forced = config.mode === "ANY" || config.mode === "VALIDATED"
  if (declared.size === 0) return forced ? "Function calling config is set without function_declarations." : undefined
  const allowed = config.allowedFunctionNames ?? []
  if (allowed.length > 0 && !forced) return "Allowed function names can only be set when function calling mode is ANY."
  const unknown = allowed.find((name) => !declared.has(name))
  return unknown === undefined
    ? undefined
    : `allowed_function_names: function name ${unknown} is not in the list of function declarations.`
}

const declarations: Rule = (request) => {
  const seen = new Set<string>()
  for (const [toolIndex, tool] of (request.tools ?? []).entries()) {
    for (const [index, declaration] of (tool.functionDeclarations ?? []).entries()) {
      const path = `GenerateContentRequest.tools[${toolIndex}].function_declarations[${index}]`
      if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(declaration.name)) {
        return (
          `* ${path}.name: [Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), ` +
          "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.]\n"
        )
      }
      if (seen.has(declaration.name)) return `Duplicate function declaration found: ${declaration.name}`
      seen.add(declaration.name)
      if (declaration.parameters !== undefined && declaration.parametersJsonSchema !== undefined) {
        return `* ${path}: parameters and parameters_json_schema are mutually exclusive.\n`
      }
    }
  }
  return undefined
}

const outputFormat: Rule = (request, _context, facts) => {
  const config = request.generationConfig ?? {}
  const schemas = [config.responseSchema, config.responseJsonSchema].filter((schema) => schema !== undefined)
  if (schemas.length > 1) return "response_schema and response_json_schema can not be set at the same time."
  const json = config.responseMimeType === "application/json"
  if (schemas.length > 0 && !json && config.responseMimeType !== "text/x.enum") {
    return "* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is application/json.\n"
  }
  if (json && !facts.toolsWithJson && toolKinds(request).includes("functionDeclarations")) {
    return "Function calling with a response mime type: 'application/json' is unsupported"
  }
  if (config.responseModalities?.includes("IMAGE") && !facts.drawsImages) {
    return "Model does not support the requested response modalities: image"
  }
  return undefined
}

const ratios = ["1:1", "1:4", "1:8", "2:3", "3:2", "3:4", "4:1", "4:3", "4:5", "5:4", "8:1", "9:16", "16:9", "21:9"]
/** Accepted by the Gemini API only. */
const extremeRatios = new Set(["1:4", "1:8", "4:1", "8:1"])

/** Source: publicly quoted messages. */
const imageSettings: Rule = ({ generationConfig }, { backend }) => {
  const { aspectRatio, imageSize, imageOutputOptions } = generationConfig?.imageConfig ?? {}
  const notOneOf = (name: string, words: ReadonlyArray<string>) => {
    const first = words.slice(0, -1).map((word) => `'${word}'`)
    return `* GenerateContentRequest.generation_config.image_config.${name}: ${name} must be one of ${first.join(", ")}, or '${words.at(-1)}'.\n`
  }
  const known = backend === "google" ? ratios : ratios.filter((ratio) => !extremeRatios.has(ratio))
  if (aspectRatio !== undefined && !known.includes(aspectRatio)) return notOneOf("aspect_ratio", known)
  const sizes = backend === "google" ? ["512", "1K", "2K", "4K"] : ["1K", "2K", "4K"]
  if (imageSize !== undefined && !sizes.includes(imageSize)) return notOneOf("image_size", sizes)
  const { mimeType, compressionQuality: quality } = imageOutputOptions ?? {}
  if (mimeType !== undefined && mimeType !== "image/png" && mimeType !== "image/jpeg") {
    return notOneOf("image_output_options.mime_type", ["image/png", "image/jpeg"])
  }
  return quality === undefined || (quality >= 0 && quality <= 100)
    ? undefined
    : `Unable to submit request because it has a compressionQuality value of ${quality} but the supported range is from 0 (inclusive) to 100 (inclusive).`
}

const ranges: Rule = ({ generationConfig: config }) => {
  const outside = (name: string, value: number | undefined, least: number, most: number) =>
    value === undefined || (value >= least && value <= most)
      ? undefined
      : `Unable to submit request because it has a ${name} value of ${value} but the supported range is from ${least} (inclusive) to ${most} (inclusive).`
  return (
    outside("temperature", config?.temperature, 0, 2) ??
    outside("topP", config?.topP, 0, 1) ??
    outside("candidateCount", config?.candidateCount, 1, 8) ??
    outside("maxOutputTokens", config?.maxOutputTokens, 1, 1_000_000) ??
    outside("logprobs", config?.logprobs, 0, 20)
  )
}

const tokenLimit = 1_048_576

const promptSize: Rule = ({ contents }) => {
  const characters = contents.flatMap(partsOf).reduce((sum, part) => sum + (part.text?.length ?? 0), 0)
  const tokens = Math.ceil(characters / 4)
  return tokens <= tokenLimit
    ? undefined
    : `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${tokenLimit}).`
}

const rules: ReadonlyArray<Rule> = [
  contentsPresent,
  roles,
  firstTurn,
  callsAnswered,
  declarations,
  toolMix,
  callingConfig,
  thinking,
  parameters,
  outputFormat,
  imageSettings,
  ranges,
  candidates,
  lastTurn,
  signaturesPresent,
  signaturesIntact,
  promptSize
]

/** The first refusal of a request as a 400 body; `undefined` if the service accepts it. */
export const checkGeminiRules = (request: GenerateRequest, context: RuleContext): GoogleError | undefined => {
  const facts = modelFacts(context.model)
  for (const rule of rules) {
    const message = rule(request, context, facts)
    if (message !== undefined) return googleError("INVALID_ARGUMENT", message)
  }
  return undefined
}
