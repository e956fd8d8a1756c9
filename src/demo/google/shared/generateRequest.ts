// Declares the types of a normalised request body (camelCase, no nulls), reads them, and counts their tokens as Google reports them.
// It must not depend on how a reply is made or framed.

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

export interface ModalityCount {
  readonly modality: string
  readonly tokenCount: number
}

/** Tokens of every cached content. */
export const cachedTokens = 1024

export const textTokens = (text: string): number => Math.ceil(text.length / 4)

const mediaPrice: Readonly<Record<string, number>> = { IMAGE: 258, DOCUMENT: 258, AUDIO: 32, VIDEO: 263 }

/** Google's modality word for a MIME type. */
export const modalityOf = (mimeType: string): string => {
  if (mimeType.startsWith("image/")) return "IMAGE"
  if (mimeType.startsWith("audio/")) return "AUDIO"
  if (mimeType.startsWith("video/")) return "VIDEO"
  return mimeType === "application/pdf" ? "DOCUMENT" : "TEXT"
}

const partCount = (part: Part): ModalityCount => {
  const media = part.inlineData ?? part.fileData
  if (media !== undefined) {
    const modality = modalityOf(media.mimeType ?? "")
    return { modality, tokenCount: mediaPrice[modality] ?? textTokens(part.inlineData?.data ?? "") }
  }
  const words =
    part.text ??
    JSON.stringify(part.functionCall ?? part.functionResponse ?? part.executableCode ?? part.codeExecutionResult ?? "")
  return { modality: "TEXT", tokenCount: textTokens(words) }
}

/** Tokens of contents, system instruction and tool declarations by modality, text first. */
export const promptTokens = (request: Partial<GenerateRequest>): ReadonlyArray<ModalityCount> => {
  const parts = [...(request.contents ?? []).flatMap(partsOf), ...partsOf(request.systemInstruction)]
  const sums = new Map<string, number>([["TEXT", 0]])
  for (const { modality, tokenCount } of parts.map(partCount))
    sums.set(modality, (sums.get(modality) ?? 0) + tokenCount)
  const tools = request.tools === undefined ? 0 : Math.ceil(JSON.stringify(request.tools).length / 8)
  sums.set("TEXT", (sums.get("TEXT") ?? 0) + tools)
  return [...sums]
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }))
}

export const totalOf = (counts: ReadonlyArray<ModalityCount>): number =>
  counts.reduce((sum, count) => sum + count.tokenCount, 0)

/** Characters other than white space; Vertex AI bills these. */
export const billableCharacters = (request: Partial<GenerateRequest>): number =>
  [...(request.contents ?? []).flatMap(partsOf), ...partsOf(request.systemInstruction)].reduce(
    (sum, part) => sum + (part.text ?? "").replace(/\s/g, "").length,
    0
  )
