// Reads the events of a streamed chat completion into texts, thoughts, tool calls, pictures and counts.
// It must not know the network.
import type { Media } from "../../mediaIn.ts"
import { readJson } from "../../readJson.ts"

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, in pieces while it comes. */
  readonly arguments: string
  /** Goes back with the call. */
  readonly signature: string | undefined
}

/** What has come of an answer so far. */
export interface Answer {
  readonly text: string
  readonly thoughts: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly pictures: ReadonlyArray<Media>
  readonly input: number | undefined
  readonly output: number | undefined
  /** Why it ended early; empty where it did not. */
  readonly fault: string
}

export const noAnswer: Answer = {
  text: "",
  thoughts: "",
  calls: [],
  pictures: [],
  input: undefined,
  output: undefined,
  fault: ""
}

interface CallDelta {
  readonly index: number
  readonly id?: string
  readonly function: { readonly name?: string; readonly arguments?: string; readonly thought_signature?: string }
}

interface Delta {
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: ReadonlyArray<CallDelta>
  readonly content_parts?: ReadonlyArray<{ readonly image?: { readonly b64_json: string; readonly mime_type: string } }>
}

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta?: Delta }>
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly error?: { readonly message: string }
}

const isChunk = (value: unknown): value is Chunk => typeof value === "object" && value !== null

const noCall: ToolCall = { id: "", name: "", arguments: "", signature: undefined }

const addCall = (
  calls: ReadonlyArray<ToolCall>,
  { function: piece, id, index }: CallDelta
): ReadonlyArray<ToolCall> => {
  const before = calls[index] ?? noCall
  const call = {
    id: before.id + (id ?? ""),
    name: before.name + (piece.name ?? ""),
    arguments: before.arguments + (piece.arguments ?? ""),
    signature: piece.thought_signature ?? before.signature
  }
  return [...calls.slice(0, index), call, ...calls.slice(index + 1)]
}

const picturesOf = ({ content_parts: parts = [] }: Delta): ReadonlyArray<Media> =>
  parts.flatMap(({ image }) => (image === undefined ? [] : [{ type: image.mime_type, data: image.b64_json }]))

/** The answer with one more event; other lines than data change nothing. */
export const addEvent = (answer: Answer, line: string): Answer => {
  const chunk = line.startsWith("data: ") ? readJson(line.slice("data: ".length)) : undefined
  if (!isChunk(chunk)) return answer
  const delta = chunk.choices?.[0]?.delta ?? {}
  return {
    text: answer.text + (delta.content ?? ""),
    thoughts: answer.thoughts + (delta.reasoning_content ?? ""),
    calls: (delta.tool_calls ?? []).reduce(addCall, answer.calls),
    pictures: [...answer.pictures, ...picturesOf(delta)],
    input: chunk.usage?.prompt_tokens ?? answer.input,
    output: chunk.usage?.completion_tokens ?? answer.output,
    fault: chunk.error?.message ?? answer.fault
  }
}
