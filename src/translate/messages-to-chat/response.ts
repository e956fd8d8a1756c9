// An answer of a chat as a message: the fold of its chunks from message_start to message_stop, and a whole chat by the same events.
// It must not know the network or the form of frames. Rules: D401, D402, D405, D410-D417.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import type {
  AnswerBlock,
  AnswerEnd,
  AnswerEvent,
  AnswerMessage,
  AnswerUsage,
  StopReason
} from "../../wire/anthropic.ts"
import type { ChatChunk, ChatCompletion, FinishReason, Usage } from "../../wire/openai/ChatReply.ts"
import { deltasOf } from "../shared/reply/completion.ts"
import { cutAnswer } from "../shared/reply/upstreamError.ts"
import { type Fold, isStreamFailed, noProgress, runFold, type StreamFailed, streamFailed } from "../Translator.ts"
import { type AnswerState, noAnswer, readChoices, stateOf, type Work, workOn } from "./answer.ts"
import type { AnswerFacts } from "./facts.ts"

export const streamFromChat = (facts: AnswerFacts): Fold<AnswerState, ChatChunk, AnswerEvent | StreamFailed> => ({
  initial: () => noAnswer,
  step: (state, chunk) => {
    if (state.isOver) return [state, []]
    const work = workOn(state, facts)
    begin(work, chunk)
    readChoices(work, chunk)
    if (chunk.usage) work.usage = chunk.usage
    if (work.finish !== undefined && chunk.choices.length === 0 && chunk.usage) finish(work)
    return [stateOf(work), work.events]
  },
  onHalt: (state) => {
    if (state.isOver) return []
    if (state.finish === undefined) return [streamFailed(cutAnswer)]
    const work = workOn(state, facts)
    finish(work)
    return work.events
  },
  usage: ({ usage }) => usage,
  progress: ({ written }) => ({ ...noProgress, characters: written })
})

const begin = (work: Work, { model }: ChatChunk): void => {
  if (work.model !== undefined) return
  work.model = model
  work.events.push({
    type: "message_start",
    message: {
      id: work.facts.id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: estimatedUsage(work.facts.inputTokens)
    }
  })
}

const finish = (work: Work): void => {
  work.isOver = true
  work.events.push({ type: "message_delta", delta: endOf(work), usage: usageOf(work.usage) }, { type: "message_stop" })
}

const stopOf = (finish: FinishReason | undefined, hasCalls: boolean): StopReason => {
  if (finish === "length") return "max_tokens"
  if (finish === "content_filter") return "refusal"
  return hasCalls ? "tool_use" : "end_turn"
}

const endOf = ({ calls, finish, refusal }: Work): AnswerEnd => {
  const reason = refusal === "" ? stopOf(finish, calls > 0) : "refusal"
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details:
      reason === "refusal" ? { type: "refusal", category: null, explanation: refusal === "" ? null : refusal } : null
  }
}

// A whole chat as a message: the events that its stream would have, put together.

/** The chunks that would have made the first choice; an answer without a choice is empty, which a chat never is. */
const chunksOf = ({ choices, created, id, model, usage }: ChatCompletion): ReadonlyArray<ChatChunk> => {
  const chunk = (some: ChatChunk["choices"]): ChatChunk => ({
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: some
  })
  const choice = choices.find(({ index }) => index === 0)
  const last = { ...chunk([]), usage }
  if (choice === undefined) return [chunk([{ index: 0, delta: {}, finish_reason: "stop" }]), last]
  const { finish_reason, index, logprobs: _logprobs, message, ...extensions } = choice
  return [
    ...deltasOf(message).map((delta) => chunk([{ index, delta, finish_reason: null }])),
    chunk([{ index, delta: {}, finish_reason, ...extensions }]),
    last
  ]
}

const malformedCall: Reason = {
  _tag: "BadReply",
  kind: "malformed_call",
  message: "The model wrote a tool call whose arguments are not a JSON object."
}

/** The block of a call, once all of its text is there; an answer that was cut has the part that came. */
const callBlock = (block: AnswerBlock, text: string, isCut: boolean): Result.Result<AnswerBlock, Reason> => {
  if (block.type !== "tool_use") return Result.succeed(block)
  const read: Json = Result.getOrElse(parseExactJsonText(text === "" ? "{}" : text), () => null)
  if (isJsonObject(read)) return Result.succeed({ ...block, input: read })
  return isCut ? Result.succeed({ ...block, input: closedJson(text) }) : Result.fail(malformedCall)
}

const grown = (
  block: AnswerBlock,
  event: Extract<AnswerEvent, { readonly type: "content_block_delta" }>
): AnswerBlock => {
  const { delta } = event
  if (block.type === "text" && delta.type === "text_delta") return { ...block, text: block.text + delta.text }
  if (block.type !== "thinking") return block
  if (delta.type === "thinking_delta") return { ...block, thinking: block.thinking + delta.thinking }
  return delta.type === "signature_delta" ? { ...block, signature: delta.signature } : block
}

/** The message of a stream that came to its end. */
const assembled = (events: ReadonlyArray<AnswerEvent>): Result.Result<AnswerMessage, Reason> => {
  const blocks: Array<AnswerBlock> = []
  const texts: Array<string> = []
  let message: AnswerMessage | undefined
  for (const event of events) {
    if (event.type === "message_start") message = event.message
    else if (event.type === "content_block_start") {
      blocks.push(event.content_block)
      texts.push("")
    } else if (event.type === "content_block_delta") {
      const block = blocks[event.index]
      if (event.delta.type === "input_json_delta")
        texts[event.index] = (texts[event.index] ?? "") + event.delta.partial_json
      else if (block !== undefined) blocks[event.index] = grown(block, event)
    } else if (event.type === "message_delta" && message !== undefined)
      message = { ...message, ...event.delta, usage: event.usage }
  }
  if (message === undefined) return Result.fail(malformedCall)
  const whole = message
  const isCut = whole.stop_reason === "max_tokens"
  return Result.map(
    Result.all(blocks.map((block, index) => callBlock(block, texts[index] ?? "", isCut))),
    (content) => ({ ...whole, content })
  )
}

export const messageFromChat = (
  completion: ChatCompletion,
  facts: AnswerFacts
): Result.Result<AnswerMessage, Reason> => {
  const events: Array<AnswerEvent> = []
  for (const output of runFold(streamFromChat(facts), chunksOf(completion))) {
    if (isStreamFailed(output)) return Result.fail(output.reason)
    events.push(output)
  }
  return assembled(events)
}

// The counts of a chat as Anthropic names them.

/** The counts of a prompt that is only estimated. */
const estimatedUsage = (inputTokens: number): AnswerUsage => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0
})

/** Anthropic counts cached tokens apart; a chat counts them in. */
const usageOf = (usage: Usage | undefined): AnswerUsage => {
  if (usage === undefined) return estimatedUsage(0)
  const { completion_tokens: output, prompt_tokens: prompt, searches } = usage
  const { cache_write_tokens: written = 0, cached_tokens: cached = 0 } = usage.prompt_tokens_details ?? {}
  const thinking = usage.completion_tokens_details?.reasoning_tokens
  return {
    input_tokens: Math.max(0, prompt - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: output,
    ...(thinking === undefined ? {} : { output_tokens_details: { thinking_tokens: thinking } }),
    ...(searches === undefined || searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } })
  }
}

// The object in a JSON text that was cut: open strings, lists and objects are closed.

const parsed = (text: string): JsonObject | undefined => {
  const read = parseExactJsonText(text)
  return Result.isSuccess(read) && isJsonObject(read.success) ? read.success : undefined
}

interface Scanned {
  /** What closes the open brackets, the innermost first. */
  readonly brackets: string
  readonly inString: boolean
  /** The end of the last whole member or element; no bracket follows it. */
  readonly whole: number
}

const scanned = (text: string): Scanned => {
  const open: Array<string> = []
  let inString = false
  let whole = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (inString) {
      if (letter === "\\") at++
      else if (letter === '"') inString = false
    } else if (letter === '"') inString = true
    else if (letter === ",") whole = at
    else if (letter === "{" || letter === "[") {
      open.push(letter === "{" ? "}" : "]")
      whole = at + 1
    } else if (letter === "}" || letter === "]") {
      open.pop()
      whole = at + 1
    }
  }
  return { brackets: open.toReversed().join(""), inString, whole }
}

/** The object as far as it came; a last member that cannot be closed is left out. */
const closedJson = (text: string): JsonObject => {
  const { brackets, inString, whole } = scanned(text)
  return parsed(text + (inString ? '"' : "") + brackets) ?? parsed(text.slice(0, whole) + brackets) ?? {}
}
