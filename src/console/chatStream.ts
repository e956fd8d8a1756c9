// Reads the events of a streamed chat completion into texts, thoughts and counts.
// Must not know the network.
import { readJson } from "./readJson.ts"

/** What has come of an answer so far. */
export interface Answer {
  readonly text: string
  readonly thoughts: string
  readonly input: number | undefined
  readonly output: number | undefined
  /** Why it ended early; empty where it did not. */
  readonly fault: string
}

export const noAnswer: Answer = { text: "", thoughts: "", input: undefined, output: undefined, fault: "" }

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string }
  }>
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly error?: { readonly message: string }
}

const isChunk = (value: unknown): value is Chunk => typeof value === "object" && value !== null

/** The answer with one more event; other lines than data change nothing. */
export const addEvent = (answer: Answer, line: string): Answer => {
  const chunk = line.startsWith("data: ") ? readJson(line.slice("data: ".length)) : undefined
  if (!isChunk(chunk)) return answer
  const delta = chunk.choices?.[0]?.delta
  return {
    text: answer.text + (delta?.content ?? ""),
    thoughts: answer.thoughts + (delta?.reasoning_content ?? ""),
    input: chunk.usage?.prompt_tokens ?? answer.input,
    output: chunk.usage?.completion_tokens ?? answer.output,
    fault: chunk.error?.message ?? answer.fault
  }
}
