// Declares the types of an accepted messages body, reads them, counts their tokens, and converts the body to a GenerateRequest.
// It must not depend on HTTP or on how a reply is made.
import {
  type Content,
  type FunctionDeclaration,
  type GenerateRequest,
  type JsonSchema,
  type Part,
  promptTokens,
  textTokens,
  totalOf
} from "../shared/generateRequest.ts"

interface CacheControl {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h"
}

export interface Source {
  readonly type: "base64" | "url" | "file" | "text" | "content"
  readonly media_type?: string
  readonly data?: string
  readonly url?: string
  readonly file_id?: string
  readonly content?: string | ReadonlyArray<Block>
}

/** One block of a message; `type` decides which members are present. */
export interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string
  readonly data?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: string | ReadonlyArray<Block>
  readonly source?: Source | string
  readonly title?: string | null
  readonly citations?: { readonly enabled?: boolean } | ReadonlyArray<unknown> | null
  readonly cache_control?: CacheControl | null
}

export interface Message {
  readonly role: "user" | "assistant" | "system"
  readonly content?: string | ReadonlyArray<Block>
}

export interface ClaudeTool {
  readonly type?: string | null
  readonly name?: string
  readonly description?: string
  readonly input_schema?: JsonSchema
  readonly cache_control?: CacheControl | null
}

interface Format {
  readonly type: "json_schema"
  readonly schema: JsonSchema
}

export interface MessagesRequest {
  readonly messages: ReadonlyArray<Message>
  readonly max_tokens: number
  readonly system?: string | ReadonlyArray<Block>
  readonly tools?: ReadonlyArray<ClaudeTool>
  readonly tool_choice?: {
    readonly type: "auto" | "any" | "tool" | "none"
    readonly name?: string
    readonly disable_parallel_tool_use?: boolean
  }
  readonly thinking?: {
    readonly type: "enabled" | "disabled" | "adaptive" | "between_tools"
    readonly budget_tokens?: number
    readonly display?: "summarized" | "omitted" | "updates" | null
  }
  readonly output_config?: { readonly effort?: string | null; readonly format?: Format | null }
  readonly output_format?: Format | null
  readonly stop_sequences?: ReadonlyArray<string>
  readonly stream?: boolean
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly anthropic_beta?: ReadonlyArray<string>
  readonly cache_control?: CacheControl | null
}

export type CountRequest = Omit<MessagesRequest, "max_tokens"> & { readonly model: string }

/** Content as blocks; a string becomes one text block, an empty string none. */
export const blocksOf = (content: string | ReadonlyArray<Block> | undefined): ReadonlyArray<Block> => {
  if (typeof content !== "string") return content ?? []
  return content === "" ? [] : [{ type: "text", text: content }]
}

/** A block and its path in the body. */
export interface PlacedBlock {
  readonly block: Block
  readonly path: string
}

export interface Turn {
  readonly role: Message["role"]
  /** Index of its last message. */
  readonly last: number
  readonly blocks: ReadonlyArray<PlacedBlock>
}

/**
 * Merges consecutive messages of one role into one turn.
 * Source: Anthropic's API page; a recorded answer to tool calls in two consecutive messages.
 */
export const turnsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (const [last, { role, content }] of messages.entries()) {
    const blocks = blocksOf(content).map((block, at) => ({ block, path: `messages.${last}.content.${at}` }))
    const before = turns.at(-1)
    if (before?.role === role) turns[turns.length - 1] = { role, last, blocks: [...before.blocks, ...blocks] }
    else turns.push({ role, last, blocks })
  }
  return turns
}

export const sourceOf = (block: Block): Source | undefined =>
  typeof block.source === "object" ? block.source : undefined

/** True if thinking is on, in either of its two forms. */
export const thinks = (request: Pick<MessagesRequest, "thinking">): boolean =>
  request.thinking?.type === "enabled" || request.thinking?.type === "adaptive"

export const forcesTool = (request: Pick<MessagesRequest, "tool_choice">): boolean =>
  request.tool_choice?.type === "any" || request.tool_choice?.type === "tool"

export const formatOf = (request: Pick<MessagesRequest, "output_config" | "output_format">): Format | undefined =>
  request.output_config?.format ?? request.output_format ?? undefined

/** The tools that the caller runs: those with a schema. */
const declarationsOf = (tools: ReadonlyArray<ClaudeTool>): ReadonlyArray<FunctionDeclaration> =>
  tools.flatMap(({ name, description = "", input_schema: schema }) =>
    name === undefined || schema === undefined ? [] : [{ name, description, parametersJsonSchema: schema }]
  )

const mediaPart = (source: Source): Part => {
  if (source.type === "text") return { text: source.data ?? "" }
  if (source.type === "content")
    return {
      text: blocksOf(source.content)
        .map((block) => block.text ?? "")
        .join(" ")
    }
  return source.type === "base64"
    ? { inlineData: { mimeType: source.media_type ?? "", data: source.data ?? "" } }
    : { fileData: { fileUri: source.url ?? source.file_id ?? "" } }
}

const resultText = (content: string | ReadonlyArray<Block> | undefined): string =>
  blocksOf(content)
    .map((block) => block.text ?? "")
    .join(" ")

const partsOf = (block: Block, nameOf: (callId: string) => string): ReadonlyArray<Part> => {
  const { id = "", name = "", input, tool_use_id: callId = "" } = block
  if (block.type === "text") return [{ text: block.text ?? "" }]
  // The request was validated: the input of a call is an object.
  if (block.type === "tool_use") return [{ functionCall: { id, name, args: input as Record<string, unknown> } }]
  if (block.type === "tool_result")
    return [{ functionResponse: { id: callId, name: nameOf(callId), response: { output: resultText(block.content) } } }]
  const source = sourceOf(block)
  return source === undefined ? [] : [mediaPart(source)]
}

const callingMode = { auto: "AUTO", any: "ANY", tool: "ANY", none: "NONE" }

/** Converts the body, because one simulated model chooses tools and text for every family. */
export const messagesToGenerateRequest = (request: Omit<MessagesRequest, "max_tokens">): GenerateRequest => {
  const names = new Map(
    request.messages
      .flatMap(({ content }) => blocksOf(content))
      .filter((block) => block.type === "tool_use")
      .map((block) => [block.id, block.name])
  )
  const nameOf = (callId: string) => names.get(callId) ?? "without a name"
  // A system message among the others instructs; the user's words are what the reply answers.
  const [instructing, speaking] = [
    request.messages.filter(({ role }) => role === "system"),
    request.messages.filter(({ role }) => role !== "system")
  ]
  const contents = speaking.map(({ role, content }): Content => ({
    role: role === "assistant" ? "model" : "user",
    parts: blocksOf(content).flatMap((block) => partsOf(block, nameOf))
  }))
  const system = [request.system, ...instructing.map(({ content }) => content)]
    .flatMap(blocksOf)
    .filter((block) => block.text !== "")
    .map((block) => ({ text: block.text ?? "" }))
  const format = formatOf(request)
  const choice = request.tool_choice
  return {
    contents,
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...(request.tools === undefined ? {} : { tools: [{ functionDeclarations: declarationsOf(request.tools) }] }),
    ...(choice === undefined
      ? {}
      : {
          toolConfig: {
            functionCallingConfig: {
              mode: callingMode[choice.type],
              allowedFunctionNames: choice.name === undefined ? [] : [choice.name]
            }
          }
        }),
    ...(format === undefined
      ? {}
      : { generationConfig: { responseMimeType: "application/json", responseJsonSchema: format.schema } })
  }
}

/** Marks of prompt caching may move. */
const unmarked = (name: string, value: unknown): unknown => (name === "cache_control" ? undefined : value)

/**
 * The seed of the signature of a thinking block in the message at this position. The newest models bind it to the system
 * prompt, the tools and the messages before it. Source: Anthropic's page on Fable 5.2.
 */
export const boundSeed = ({ messages, system, tools }: MessagesRequest, position: number): string =>
  JSON.stringify([system, tools, messages.slice(0, position)], unmarked)

type Prompt = Omit<MessagesRequest, "max_tokens">

/** Tokens of messages, system prompt and tools; a PDF adds 1500 tokens. */
export const claudeTokens = (request: Prompt): number => {
  const documents = request.messages
    .flatMap(({ content }) => blocksOf(content))
    .filter((block) => sourceOf(block)?.media_type === "application/pdf")
  const signed = request.messages
    .flatMap(({ content }) => blocksOf(content))
    .reduce((sum, block) => sum + textTokens(block.thinking ?? ""), 0)
  return 6 + totalOf(promptTokens(messagesToGenerateRequest(request))) + documents.length * 1500 + signed
}

export interface ClaudeInput {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number }
}

const breakpointOf = (block: Block | undefined): CacheControl | undefined => block?.cache_control ?? undefined

const lastBreakpoint = (blocks: ReadonlyArray<Block>): number =>
  blocks.findLastIndex((block) => breakpointOf(block) !== undefined)

/** The prompt up to its last breakpoint, in the order of the cache: tools, system, messages. */
const cachedPrompt = (request: Prompt): { readonly prompt: Prompt; readonly control: CacheControl } | undefined => {
  if (request.cache_control) return { prompt: request, control: request.cache_control }
  const { messages, system, tools } = request
  const rest = { ...(tools === undefined ? {} : { tools }), ...(system === undefined ? {} : { system }) }
  const index = messages.findLastIndex(({ content }) => lastBreakpoint(blocksOf(content)) >= 0)
  const message = messages[index]
  if (message !== undefined) {
    const contentBlocks = blocksOf(message.content)
    const at = lastBreakpoint(contentBlocks)
    const prompt = {
      ...rest,
      messages: [...messages.slice(0, index), { ...message, content: contentBlocks.slice(0, at + 1) }]
    }
    return { prompt, control: breakpointOf(contentBlocks[at]) ?? { type: "ephemeral" } }
  }
  const blocks = blocksOf(system)
  const inSystem = breakpointOf(blocks[lastBreakpoint(blocks)])
  if (inSystem !== undefined) return { prompt: { ...rest, messages: [] }, control: inSystem }
  const inTools = tools?.findLast((tool) => tool.cache_control)?.cache_control ?? undefined
  return inTools === undefined || tools === undefined
    ? undefined
    : { prompt: { tools, messages: [] }, control: inTools }
}

/** Input counts: the first turn writes the cache, later turns read it. */
export const claudeInput = (request: Prompt): ClaudeInput => {
  const whole = claudeTokens(request)
  const cached = cachedPrompt(request)
  const prefix = cached === undefined ? 0 : Math.min(whole, claudeTokens(cached.prompt))
  const goesOn = request.messages.some(({ role }) => role === "assistant")
  const written = goesOn ? 0 : prefix
  const hour = cached?.control.ttl === "1h"
  return {
    input_tokens: whole - prefix,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: prefix - written,
    cache_creation: { ephemeral_5m_input_tokens: hour ? 0 : written, ephemeral_1h_input_tokens: hour ? written : 0 }
  }
}
