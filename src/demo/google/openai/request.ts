// Declares the types of a checked chat completions body without nulls, and converts the body to a GenerateRequest.
// It must not depend on HTTP or on how a reply is framed.

import type { Content, GenerateRequest, JsonSchema, Part } from "../shared/generateRequest.ts"

interface ContentPart {
  readonly type: string
  readonly text?: string
  readonly image_url?: { readonly url: string }
}

interface ToolCall {
  readonly id: string
  readonly function?: { readonly name: string; readonly arguments: string }
}

export interface ChatMessage {
  readonly role: string
  readonly content?: string | ReadonlyArray<ContentPart>
  readonly tool_calls?: ReadonlyArray<ToolCall>
  readonly tool_call_id?: string
}

interface FunctionTool {
  readonly type: string
  readonly function?: { readonly name: string; readonly description?: string; readonly parameters?: JsonSchema }
}

export interface ChatRequest {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly tools?: ReadonlyArray<FunctionTool>
  readonly tool_choice?: string | { readonly function?: { readonly name: string } }
  readonly parallel_tool_calls?: boolean
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema?: JsonSchema } }
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly n?: number
  readonly stop?: string | ReadonlyArray<string>
  readonly logprobs?: boolean
  readonly top_logprobs?: number
}

const mediaPart = (url: string): Part => {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline === null
    ? { fileData: { fileUri: url, mimeType: "image/*" } }
    : { inlineData: { mimeType: inline[1] ?? "", data: inline[2] ?? "" } }
}

const partsOf = ({ content }: ChatMessage): ReadonlyArray<Part> => {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }]
  return (content ?? []).map((part) =>
    part.image_url === undefined ? { text: part.text ?? "" } : mediaPart(part.image_url.url)
  )
}

const parsed = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : { value }
  } catch {
    return { text }
  }
}

const isSystem = ({ role }: ChatMessage): boolean => role === "system" || role === "developer"

const contentOf = (message: ChatMessage, names: ReadonlyMap<string, string>): Content => {
  if (message.role === "assistant") {
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.function === undefined
        ? []
        : [{ functionCall: { id: call.id, name: call.function.name, args: parsed(call.function.arguments) } }]
    )
    return { role: "model", parts: [...partsOf(message), ...calls] }
  }
  if (message.role !== "tool") return { role: "user", parts: partsOf(message) }
  const output = partsOf(message)
    .map((part) => part.text ?? "")
    .join("")
  const name = names.get(message.tool_call_id ?? "") ?? "unknown"
  return { role: "user", parts: [{ functionResponse: { id: message.tool_call_id ?? "", name, response: { output } } }] }
}

const callingConfig = ({ tool_choice: choice }: ChatRequest) => {
  if (choice === undefined || choice === "auto") return {}
  if (choice === "none") return { toolConfig: { functionCallingConfig: { mode: "NONE" } } }
  const allowedFunctionNames = typeof choice === "object" && choice.function !== undefined ? [choice.function.name] : []
  return { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames } } }
}

const declarations = ({ tools = [] }: ChatRequest) => {
  const functions = tools.flatMap((tool) => (tool.function === undefined ? [] : [tool.function]))
  if (functions.length === 0) return {}
  const functionDeclarations = functions.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters })
  }))
  return { tools: [{ functionDeclarations }] }
}

const jsonOutput = ({ response_format: format }: ChatRequest) => {
  if (format === undefined || format.type === "text") return {}
  const schema = format.json_schema?.schema
  return { responseMimeType: "application/json", ...(schema === undefined ? {} : { responseJsonSchema: schema }) }
}

/** Converts the body, because one simulated model chooses tools and text for every family. */
export const chatToGenerateRequest = (chat: ChatRequest): GenerateRequest => {
  const calls = chat.messages.flatMap((message) => message.tool_calls ?? [])
  const names = new Map(calls.map((call) => [call.id, call.function?.name ?? ""]))
  const system = chat.messages.filter(isSystem).flatMap(partsOf)
  const most = chat.max_completion_tokens ?? chat.max_tokens
  const stop = typeof chat.stop === "string" ? [chat.stop] : chat.stop
  return {
    contents: chat.messages.filter((message) => !isSystem(message)).map((message) => contentOf(message, names)),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...declarations(chat),
    ...callingConfig(chat),
    generationConfig: {
      ...(most === undefined ? {} : { maxOutputTokens: most }),
      ...(stop === undefined ? {} : { stopSequences: stop }),
      ...(chat.n === undefined ? {} : { candidateCount: chat.n }),
      ...(chat.logprobs ? { responseLogprobs: true, logprobs: chat.top_logprobs ?? 0 } : {}),
      ...jsonOutput(chat)
    }
  }
}
