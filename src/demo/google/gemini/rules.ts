// Checks a well-formed request against the semantic rules of both services; each refusal has Google's wording.
// It must not depend on HTTP or replies.
// Source: recorded and publicly quoted refusals, Google's thinking and signature pages.

import { googleError } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import { declarationsOf, partsOf, toolKinds } from "../shared/generateRequest.ts"
import type { Backend, Content, GenerateRequest, Part } from "../shared/generateRequest.ts"
import { modelFacts } from "../shared/models.ts"
import type { ModelFacts } from "../shared/models.ts"
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

const callsAnswered: Rule = ({ contents }, { backend }) => {
  for (const [index, content] of contents.entries()) {
    const before = contents[index - 1]
    const responses = count(content, isResponse)
    if (content.role !== "model" && responses > 0 && (before?.role !== "model" || count(before, isCall) === 0)) {
      return "Please ensure that function response turn comes immediately after a function call turn."
    }
    const calls = content.role === "model" ? count(content, isCall) : 0
    if (calls > 0 && before?.role === "model") {
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    }
    const next = contents[index + 1]
    const answers = count(next, isResponse)
    // Vertex AI accepts calls without any response (recorded); the Gemini API does not.
    if (calls > 0 && next !== undefined && answers !== calls && (backend === "google" || answers > 0)) return unequal
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

const thinking: Rule = ({ generationConfig }, _context, facts) => {
  const config = generationConfig?.thinkingConfig
  if (config === undefined) return undefined
  const { thinkingBudget: budget, thinkingLevel: level } = config
  if (budget !== undefined && level !== undefined)
    return "You can only set only one of thinking budget and thinking level."
  if (level !== undefined && level !== "THINKING_LEVEL_UNSPECIFIED") {
    if (facts.thinking !== "level" && facts.thinking !== "both") return "thinking_level is not supported by this model."
    if (!facts.levels.includes(level))
      return `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`
  }
  if (budget === undefined || budget === -1) return undefined
  if (facts.thinking === "none")
    return budget === 0 ? undefined : "Thinking is not enabled for this model. Please remove thinking_config."
  if (budget === 0 && facts.budget.stoppable) return undefined
  if (budget === 0 && facts.generation === "2.5") return "Budget 0 is invalid. This model only works in thinking mode."
  const { least, most } = facts.budget
  return budget < least || budget > most
    ? `The thinking budget ${budget} is invalid. Please choose a value between ${least} and ${most}.`
    : undefined
}

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
  if (facts.generation !== "3") {
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
  if (json && facts.generation !== "3" && toolKinds(request).includes("functionDeclarations")) {
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
  const notOneOf = (name: string, words: ReadonlyArray<string>) =>
    `* GenerateContentRequest.generation_config.image_config.${name}: ${name} must be one of ${words
      .slice(0, -1)
      .map((word) => `'${word}'`)
      .join(", ")}, ` + `or '${words.at(-1)}'.\n`
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
  outputFormat,
  imageSettings,
  ranges,
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
