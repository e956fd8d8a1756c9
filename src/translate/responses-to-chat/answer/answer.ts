// The chunks of a chat as the items of an answer: what each piece opens, grows and closes.
// It must not know envelopes, or how an answer reaches the client. Rules: R501, R507, R509, R510, R604-R606.
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import { isJsonObject } from "../../../domain/text/json.ts"
import type { ChatChunk, ChunkChoice, Delta, FinishReason, ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import { grow, growBy, itemsOf, withLast } from "../../../wire/grownList.ts"
import { mergeFields } from "../../shared/reply/counts.ts"
import { blockPieces } from "../../shared/reply/deltaBlocks.ts"
import { closeCall, growCall, openCall } from "./callItems.ts"
import { addCodeImage, addImage, addProviderPart, giveCode, giveSearch } from "./hostedItems.ts"
import { addAnnotations, closeMessage, growRefusal, growText, openMessage, textLogprobs } from "./messageItems.ts"
import { closeReasoning, giveCarrier, giveLastCarrier, growReasoning, openReasoning } from "./thinkingItems.ts"
import type { MessageStatus, OpenMessage, Work } from "./work.ts"

/** Reads the first choice of a chunk; a config may ask for more, and they are not read. */
export const readChoices = (work: Work, { choices }: ChatChunk): void => {
  for (const choice of choices) if (choice.index === 0 && work.finish === undefined) readChoice(work, choice)
}

const readChoice = (work: Work, choice: ChunkChoice): void => {
  const { delta, finish_reason: finish, groundingMetadata: grounding } = choice
  readBlocks(work, delta)
  const logprobs = work.facts.plan.shown.logprobs ? textLogprobs(choice.logprobs) : []
  if (delta.content || logprobs.length > 0) addText(work, delta.content ?? "", logprobs)
  if (delta.refusal) addRefusal(work, delta.refusal)
  for (const call of delta.tool_calls ?? []) addCall(work, call)
  for (const part of delta.content_parts ?? []) {
    if (part.type !== "image") continue
    if (work.code !== undefined) addCodeImage(work, part)
    else {
      closeAll(work, "completed")
      giveCarrier(work)
      addImage(work, part)
    }
  }
  if (isJsonObject(grounding)) work.grounding = mergeFields(work.grounding, grounding)
  if (delta.annotations !== undefined && work.open?._tag === "Message")
    work.open = addAnnotations(work, work.open, delta.annotations)
  if (finish !== null) end(work, finish)
}

/** Thinking first; then signatures of texts and the provider's own parts. */
const readBlocks = (work: Work, delta: Delta): void => {
  const { open, pieces } = blockPieces(delta, work.block)
  work.block = open
  for (const piece of pieces) {
    if (piece._tag === "Thought") addThought(work, piece.block, piece.text, piece.signature)
    else if (piece._tag === "SignedText") signText(work, piece.text, piece.signature)
    else if (piece._tag === "Redacted") addRedacted(work, piece.block, piece.data)
    else addProviderPart(work, piece.part)
  }
}

const addThought = (work: Work, block: number, thinking: string, signature: string | undefined): void => {
  const last = work.thoughts?.last
  const isMore = last?.block === block && last.redacted === undefined
  const grown = {
    block,
    thinking: (isMore ? last.thinking : "") + thinking,
    signature: signature ?? (isMore ? last.signature : undefined),
    redacted: undefined
  }
  work.thoughts = isMore ? withLast(work.thoughts, grown) : grow(work.thoughts, grown)
  if (!work.facts.plan.shown.summaries || thinking === "") return
  if (work.open?._tag !== "Reasoning") {
    closeAll(work, "completed")
    work.open = openReasoning(work, block)
  }
  work.open = growReasoning(work, work.open, block, thinking)
}

const addRedacted = (work: Work, block: number, data: string): void => {
  work.thoughts = grow(work.thoughts, { block, thinking: "", signature: undefined, redacted: data })
}

/** The text itself may come in the same delta, as its content. */
const signText = (work: Work, text: string, signature: string): void => {
  if (text !== "") intoMessage(work, "text")
  if (work.open?._tag === "Message") work.open = { ...work.open, signature }
}

/** The open message, or a new one; no other item is open with a message. */
const intoMessage = (work: Work, part: OpenMessage["part"]): OpenMessage => {
  if (work.open?._tag === "Message") return work.open
  closeAll(work, "completed")
  giveCarrier(work)
  const open = openMessage(work, part)
  work.open = open
  return open
}

const addText = (work: Work, text: string, logprobs: ReturnType<typeof textLogprobs>): void => {
  const open = text === "" ? work.open : intoMessage(work, "text")
  // Probabilities of tokens that are no text belong to no message; text after a refusal is left out.
  if (open?._tag !== "Message" || open.part !== "text") return
  work.open =
    text === "" ? { ...open, logprobs: growBy(open.logprobs, logprobs) } : growText(work, open, text, logprobs)
}

const addRefusal = (work: Work, refusal: string): void => {
  work.open = growRefusal(work, intoMessage(work, "refusal"), refusal)
}

const addCall = (work: Work, piece: ToolCallDelta): void => {
  const { arguments: text = "", thought_signature: signature } = piece.function
  let call = Option.getOrUndefined(HashMap.get(work.calls, piece.index))
  const known = call
  if (call === undefined) {
    closeOpen(work, "completed")
    if (HashMap.isEmpty(work.calls)) giveCarrier(work)
    call = openCall(work, piece)
  }
  const after = growCall(work, call, text)
  if (after !== known) work.calls = HashMap.set(work.calls, piece.index, after)
  if (signature !== undefined) work.callSignatures = grow(work.callSignatures, { id: call.callId, s: signature })
}

const closeOpen = (work: Work, status: MessageStatus): void => {
  const { open } = work
  work.open = undefined
  if (open?._tag === "Message") closeMessage(work, open, status)
  if (open?._tag === "Reasoning") closeReasoning(work, open)
}

/** By number; of an answer that was cut the last one is not whole. */
const closeCalls = (work: Work, status: "completed" | "incomplete"): void => {
  const calls = HashMap.toValues(work.calls).toSorted((one, other) => one.index - other.index)
  work.calls = HashMap.empty()
  for (const [position, call] of calls.entries())
    closeCall(work, call, position === calls.length - 1 ? status : "completed")
}

const closeAll = (work: Work, status: "completed" | "incomplete"): void => {
  closeOpen(work, status)
  closeCalls(work, status)
}

const isAnswer = (type: string): boolean =>
  type === "message" || type === "function_call" || type === "custom_tool_call" || type === "image_generation_call"

/** The end of the choice. Searches and code follow the message, because sources come with the last chunk. */
const end = (work: Work, finish: FinishReason): void => {
  work.finish = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? finish : "completed"
  const isEmpty = work.open?._tag !== "Message" && HashMap.isEmpty(work.calls)
  if (work.finish === "completed" && isEmpty && !itemsOf(work.closed).some(({ item }) => isAnswer(item.type)))
    intoMessage(work, "text")
  closeAll(work, work.finish === "completed" ? "completed" : "incomplete")
  giveSearch(work)
  giveCode(work)
  giveLastCarrier(work)
}
