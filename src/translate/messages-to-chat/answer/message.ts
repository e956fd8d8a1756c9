// A whole chat as a message: the events that its stream would have, put together.
// It must not know frames. Rules: D401, D402, D417.
import * as Result from "effect/Result"
import { isJsonObject, type Json, parseExactJsonText } from "../../../domain/text/json.ts"
import type { Reason } from "../../../domain/ProviderError.ts"
import type { AnswerBlock, AnswerEvent, AnswerMessage } from "../../../wire/anthropic/MessageAnswer.ts"
import type { ChatChunk, ChatCompletion } from "../../../wire/openai/ChatReply.ts"
import { deltasOf } from "../../shared/reply/messageDeltas.ts"
import { isStreamFailed, machine, runMachine } from "../../Translator.ts"
import type { AnswerFacts } from "../facts.ts"
import { closedJson } from "./closedJson.ts"
import { streamFromChat } from "./stream.ts"

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
  for (const output of runMachine(machine(streamFromChat(facts)), chunksOf(completion))) {
    if (isStreamFailed(output)) return Result.fail(output.reason)
    events.push(output)
  }
  return assembled(events)
}
