// Declares the types of a normalised request body (camelCase, no nulls) and reads them.
// Must not depend on HTTP or on how a reply is made.

export interface Blob {
  readonly mimeType?: string
  readonly data?: string
}

export interface FunctionCall {
  readonly id?: string
  readonly name?: string
  readonly args?: Record<string, unknown>
}

export interface FunctionResponse {
  readonly id?: string
  readonly name?: string
  readonly response?: Record<string, unknown>
}

export interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: Blob
  readonly fileData?: { readonly mimeType?: string; readonly fileUri?: string }
  readonly functionCall?: FunctionCall
  readonly functionResponse?: FunctionResponse
  readonly executableCode?: { readonly language: string; readonly code: string }
  readonly codeExecutionResult?: { readonly outcome: string; readonly output?: string }
}

export interface Content {
  readonly role?: string
  readonly parts?: ReadonlyArray<Part>
}

/** A JSON Schema or the OpenAPI subset; of the members used here, only `type` differs, in case. */
export interface JsonSchema {
  readonly type?: string | ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly prefixItems?: ReadonlyArray<JsonSchema>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly minItems?: number | string
  readonly minLength?: number | string
  readonly maxLength?: number | string
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly propertyOrdering?: ReadonlyArray<string>
  readonly $ref?: string
  readonly ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly definitions?: Readonly<Record<string, JsonSchema>>
  readonly defs?: Readonly<Record<string, JsonSchema>>
}

export interface FunctionDeclaration {
  readonly name: string
  readonly description?: string
  readonly parameters?: JsonSchema
  readonly parametersJsonSchema?: JsonSchema
}

export interface Tool {
  readonly functionDeclarations?: ReadonlyArray<FunctionDeclaration>
  readonly [kind: string]: unknown
}

export interface ImageConfig {
  readonly aspectRatio?: string
  readonly imageSize?: string
  readonly imageOutputOptions?: { readonly mimeType?: string; readonly compressionQuality?: number }
}

export interface GenerationConfig {
  readonly candidateCount?: number
  readonly maxOutputTokens?: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly temperature?: number
  readonly topP?: number
  readonly responseMimeType?: string
  readonly responseSchema?: JsonSchema
  readonly responseJsonSchema?: JsonSchema
  readonly responseModalities?: ReadonlyArray<string>
  readonly responseLogprobs?: boolean
  readonly logprobs?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly thinkingConfig?: {
    readonly includeThoughts?: boolean
    readonly thinkingBudget?: number
    readonly thinkingLevel?: string
  }
  readonly imageConfig?: ImageConfig
}

export interface GenerateRequest {
  readonly contents: ReadonlyArray<Content>
  readonly systemInstruction?: Content
  readonly tools?: ReadonlyArray<Tool>
  readonly toolConfig?: {
    readonly functionCallingConfig?: { readonly mode?: string; readonly allowedFunctionNames?: ReadonlyArray<string> }
    readonly includeServerSideToolInvocations?: boolean
  }
  readonly safetySettings?: ReadonlyArray<{ readonly category: string; readonly threshold: string }>
  readonly generationConfig?: GenerationConfig
  readonly cachedContent?: string
}

export interface CountRequest extends Partial<GenerateRequest> {
  readonly generateContentRequest?: GenerateRequest & { readonly model?: string }
  /** Only for embedding models on Vertex AI. */
  readonly instances?: ReadonlyArray<{ readonly content?: unknown }>
}

/** The simulated service; express mode is `vertex`. */
export type Backend = "google" | "vertex"

export const partsOf = (content: Content | undefined): ReadonlyArray<Part> => content?.parts ?? []

export const declarationsOf = (request: GenerateRequest): ReadonlyArray<FunctionDeclaration> =>
  (request.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [])

/** The distinct kinds of tool in the request (`functionDeclarations`, `googleSearch`, ...). */
export const toolKinds = (request: GenerateRequest): ReadonlyArray<string> => [
  ...new Set((request.tools ?? []).flatMap((tool) => Object.keys(tool).filter((kind) => tool[kind] !== undefined)))
]

/** The last content that does not come from the model; the reply answers it. */
export const lastUserContent = (request: GenerateRequest): Content | undefined =>
  request.contents.findLast((content) => content.role !== "model")

/** All text of the last user content. */
export const lastUserText = (request: GenerateRequest): string => {
  const asked = request.contents.findLast(
    (content) => content.role !== "model" && partsOf(content).some((part) => part.text)
  )
  return partsOf(asked)
    .filter((part) => !part.thought)
    .map((part) => part.text ?? "")
    .filter((text) => text !== "")
    .join(" ")
}

/** The function responses after the last model content; the reply reports them. */
export const pendingResponses = (request: GenerateRequest): ReadonlyArray<FunctionResponse> => {
  const lastModel = request.contents.findLastIndex((content) => content.role === "model")
  return request.contents
    .slice(lastModel + 1)
    .flatMap(partsOf)
    .flatMap((part) => part.functionResponse ?? [])
}
