// Stream readers for tests: bytes through the frame reader, chunks joined as by a client, cuts of bytes and answers.
// Must not depend on a translator.
import type { Json } from "../../src/domain/text/json.ts"
import { streamFromGemini } from "../../src/translate/chat-to-gemini/stream.ts"
import { eventFold, type EventsState } from "../../src/translate/StreamReader.ts"
import {
  type Fold,
  isStreamFailed,
  runFold,
  type StreamFailed,
  type TranslateContext
} from "../../src/translate/Translator.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import type { ChatChunk, ToolCallDelta } from "../../src/wire/openai/ChatReply.ts"
import { deepFreeze } from "./chat.ts"

export type Output = ChatChunk | StreamFailed
const limits = { eventBytes: 24 * 1024 * 1024 }
const encoder = new TextEncoder()

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Network bytes to the outputs of a fold, as the gateway runs it. */
export const byteFold = <State>(fold: Fold<State, Json, Output>): Fold<EventsState<State>, Uint8Array, Output> =>
  eventFold(fold, limits)

/** The events of network bytes as they are. */
export const jsonEvents = (options: {
  readonly eventBytes: number
}): Fold<EventsState<null>, Uint8Array, Json | StreamFailed> =>
  eventFold<null, Json>({ initial: () => null, step: (_, event) => [null, [event]], onHalt: () => [] }, options)

export const bytesThrough = <State>(
  fold: Fold<State, Json, Output>,
  pieces: Iterable<Uint8Array>
): ReadonlyArray<Output> => runFold(byteFold(fold), pieces)

/** Events to the outputs of a fold; events and states are deeply frozen on the way. */
export const eventsThrough = <State>(
  fold: Fold<State, Json, Output>,
  events: ReadonlyArray<Json>
): ReadonlyArray<Output> => {
  let state = deepFreeze(fold.initial())
  const out: Array<Output> = []
  for (const event of events) {
    const [next, some] = fold.step(state, deepFreeze(event))
    state = deepFreeze(next)
    out.push(...some)
  }
  return [...out, ...fold.onHalt(state)]
}

export const runBytes = (
  context: TranslateContext,
  request: ChatRequest,
  pieces: Iterable<Uint8Array>
): ReadonlyArray<Output> => bytesThrough(streamFromGemini(context, request), pieces)

export const runEvents = (
  context: TranslateContext,
  request: ChatRequest,
  events: ReadonlyArray<Json>
): ReadonlyArray<Output> => eventsThrough(streamFromGemini(context, request), events)

/** The bytes in two pieces, cut before `at`. */
export const cutAt = (bytes: Uint8Array, at: number): ReadonlyArray<Uint8Array> => [bytes.slice(0, at), bytes.slice(at)]

export const eachByte = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from(bytes, (_byte, at) => bytes.slice(at, at + 1))

/** Every boundary of small input; of large input those around line ends and some more, the same on every run. */
export const boundaries = (bytes: Uint8Array, all = 20_000, some = 300): ReadonlyArray<number> => {
  if (bytes.length <= all) return Array.from({ length: bytes.length + 1 }, (_, at) => at)
  const chosen = new Set<number>()
  bytes.forEach((byte, at) => {
    if (byte === 0x0d || byte === 0x0a) for (const near of [at, at + 1]) if (chosen.size < 2_000) chosen.add(near)
  })
  const random = seeded(7)
  for (let count = 0; count < some; count++) chosen.add(Math.floor(random() * bytes.length))
  return [...chosen].sort((a, b) => a - b)
}

export const seeded = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const isChunk = (output: Output): output is ChatChunk => !isStreamFailed(output)

interface Joined {
  object: "chat.completion"
  id: string
  created: number
  model: string
  provider: string | undefined
  choices: Array<Record<string, unknown>>
  usage: unknown
}

/** Joins chunks as a client does, written apart from the translator's own joining: the result has the shape of a unary answer. */
export const joined = (chunks: ReadonlyArray<ChatChunk>): Joined => {
  const first = chunks[0]
  const all: Joined = {
    object: "chat.completion",
    id: first?.id ?? "",
    created: first?.created ?? 0,
    model: first?.model ?? "",
    provider: first?.provider,
    choices: [],
    usage: undefined
  }
  const byIndex = new Map<number, JoinedChoice>()
  for (const chunk of chunks) {
    if (chunk.usage) all.usage = chunk.usage
    for (const { index, delta, logprobs, finish_reason, ...extensions } of chunk.choices) {
      const found = byIndex.get(index) ?? {
        content: "",
        reasoning: "",
        refusal: undefined,
        calls: [],
        blocks: [],
        parts: [],
        annotations: [],
        functionCall: undefined,
        tokens: undefined,
        finish: undefined,
        extensions: {}
      }
      byIndex.set(index, found)
      found.content += delta.content ?? ""
      found.reasoning += delta.reasoning_content ?? ""
      if (typeof delta.refusal === "string") found.refusal = (found.refusal ?? "") + delta.refusal
      for (const { index: position, ...piece } of delta.tool_calls ?? []) {
        const open = found.calls[position]
        found.calls[position] =
          open === undefined
            ? piece
            : {
                ...open,
                ...piece,
                function: {
                  ...open.function,
                  ...piece.function,
                  arguments: `${open.function.arguments ?? ""}${piece.function.arguments ?? ""}`
                }
              }
      }
      if (delta.function_call !== undefined) found.functionCall = delta.function_call
      for (const block of delta.content_blocks ?? []) joinBlock(found.blocks, block.index, block.delta)
      if (delta.content) {
        const last = found.parts.at(-1)
        if (last !== undefined && last["type"] === "text") last["text"] = `${String(last["text"])}${delta.content}`
        else found.parts.push({ type: "text", text: delta.content })
      }
      found.parts.push(...(delta.content_parts ?? []))
      found.annotations.push(...(delta.annotations ?? []))
      if (logprobs) found.tokens = [...(found.tokens ?? []), ...(logprobs.content ?? [])]
      if (finish_reason !== null) {
        found.finish = finish_reason
        found.extensions = extensions
      }
    }
  }
  all.choices = [...byIndex]
    .sort(([a], [b]) => a - b)
    .map(([index, found]) => ({
      index,
      message: {
        role: "assistant",
        content:
          found.content !== "" ? found.content : found.calls.length > 0 || found.functionCall !== undefined ? null : "",
        refusal: found.refusal ?? null,
        ...(found.functionCall === undefined ? {} : { function_call: found.functionCall }),
        ...(found.calls.length > 0 ? { tool_calls: found.calls } : {}),
        ...(found.reasoning !== "" ? { reasoning_content: found.reasoning } : {}),
        // The upstream's numbers may leave gaps, where a block was a call.
        ...(found.blocks.length > 0 ? { content_blocks: found.blocks.filter(Boolean) } : {}),
        ...(found.parts.some((part) => part["type"] === "image") ? { content_parts: found.parts } : {}),
        ...(found.annotations.length > 0 ? { annotations: found.annotations } : {})
      },
      logprobs: found.tokens === undefined ? null : { content: found.tokens, refusal: null },
      finish_reason: found.finish,
      ...found.extensions
    }))
  return all
}

interface JoinedChoice {
  content: string
  reasoning: string
  refusal: string | undefined
  calls: Array<Omit<ToolCallDelta, "index">>
  blocks: Array<Record<string, unknown>>
  parts: Array<Record<string, unknown>>
  annotations: Array<object>
  functionCall: object | undefined
  tokens: Array<object> | undefined
  finish: string | undefined
  extensions: object
}

const joinBlock = (blocks: Array<Record<string, unknown>>, index: number, delta: Record<string, unknown>): void => {
  const { provider_part, signature, thinking, text, data } = delta
  if (provider_part !== undefined || data !== undefined) {
    blocks[index] =
      data === undefined ? { type: "provider_part", ...(provider_part as object) } : { type: "redacted_thinking", data }
    return
  }
  const block =
    blocks[index] ?? (thinking !== undefined ? { type: "thinking", thinking: "" } : { type: "text", text: "" })
  if (thinking !== undefined) block["thinking"] = `${String(block["thinking"])}${String(thinking)}`
  if (text !== undefined) block["text"] = `${String(block["text"])}${String(text)}`
  if (signature !== undefined) block["signature"] = signature
  blocks[index] = block
}

/** The wire form of events as both Google products send it. */
export const sse = (events: ReadonlyArray<unknown>, lineEnd = "\r\n"): string =>
  events.map((event) => `data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`).join("")
