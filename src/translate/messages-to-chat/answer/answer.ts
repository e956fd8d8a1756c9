// The chunks of a chat as the blocks of a message: what each piece opens, grows and closes.
// It must not know envelopes, or how an answer reaches the client. Rules: D303, D305, D402-D406, D411, D412.
import * as Result from "effect/Result"
import { isJsonObject, type Json, parseJsonText } from "../../../domain/text/json.ts"
import { grow, itemsOf, sizeOf } from "../../../wire/grownList.ts"
import type { ChatChunk, ChunkChoice, Delta, FinishReason, ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import { mergeFields } from "../../shared/reply/counts.ts"
import { type BlockPiece, blockPieces } from "../../shared/reply/deltaBlocks.ts"
import { callIdOf, searchIdOf } from "../ids.ts"
import { close, owesCarrier, push, sealedCarrier, start, stop, type Work } from "./work.ts"

/** Reads the first choice of a chunk; a config may ask for more, and they are not read. */
export const readChoices = (work: Work, { choices }: Pick<ChatChunk, "choices">): void => {
  for (const choice of choices) if (choice.index === 0 && work.finish === undefined) readChoice(work, choice)
}

const readChoice = (work: Work, choice: ChunkChoice): void => {
  const { delta, finish_reason: finish, groundingMetadata: grounding } = choice
  readBlocks(work, delta)
  if (delta.content) addText(work, delta.content)
  if (delta.refusal) {
    work.refusal += delta.refusal
    addText(work, delta.refusal)
  }
  for (const call of delta.tool_calls ?? []) addCall(work, call)
  if (isJsonObject(grounding)) work.grounding = mergeFields(work.grounding, grounding)
  if (finish !== null) end(work, finish)
}

/** Thinking first; then signatures of texts and the provider's own parts. */
const readBlocks = (work: Work, delta: Delta): void => {
  const { open, pieces } = blockPieces(delta, work.block)
  work.block = open
  for (const piece of pieces) {
    if (piece._tag === "Thought") addThought(work, piece)
    else if (piece._tag === "SignedText") signText(work, piece.text, piece.signature)
    else if (piece._tag === "Part") addPart(work, piece.part)
    else work.thoughtSignatures = grow(work.thoughtSignatures, { type: "redacted_thinking", data: piece.data })
  }
}

/** Parts of the provider's own are carried and not shown. */
const addPart = (work: Work, { part, provider }: Extract<BlockPiece, { readonly _tag: "Part" }>["part"]): void => {
  const own: Json = isJsonObject(part) ? part : {}
  work.parts = grow(work.parts, { at: "", part: { provider, part: own } })
}

const addThought = (work: Work, piece: Extract<BlockPiece, { readonly _tag: "Thought" }>): void => {
  const { block, signature, text } = piece
  const whole = (work.thought?.block === block ? work.thought.text : "") + text
  work.thought = { block, text: whole }
  if (work.facts.plan.shown.thinking && text !== "") {
    if (work.open?._tag !== "Thinking") {
      close(work)
      start(work, { type: "thinking", thinking: "", signature: "" })
      work.open = { _tag: "Thinking" }
    }
    if (work.facts.plan.shown.texts) {
      push(work, { type: "thinking_delta", thinking: text })
      work.written += text.length
    }
  }
  if (signature === undefined) return
  work.thoughtSignatures = grow(work.thoughtSignatures, { type: "thinking", thinking: whole, signature })
  work.thought = undefined
}

/** The text itself may come in the same delta, as its content. */
const signText = (work: Work, text: string, signature: string): void => {
  if (text !== "") intoText(work)
  if (work.open?._tag === "Text") work.open = { ...work.open, signature }
}

const intoText = (work: Work): Extract<Work["open"], { readonly _tag: "Text" }> => {
  if (work.open?._tag === "Text") return work.open
  close(work)
  start(work, { type: "text", text: "" })
  const open = { _tag: "Text", text: "", signature: undefined } as const
  work.open = open
  return open
}

/** White space between calls is no text. */
const addText = (work: Work, text: string): void => {
  if (work.open?._tag === "Call" && text.trim() === "") return
  const open = intoText(work)
  push(work, { type: "text_delta", text })
  work.written += text.length
  work.open = { ...open, text: open.text + text }
}

const isWhole = (text: string): boolean =>
  text === "" || (text.trimEnd().endsWith("}") && Result.isSuccess(parseJsonText(text)))

/** A second call waits until the first is whole: blocks do not overlap. */
const addCall = (work: Work, piece: ToolCallDelta): void => {
  const { open } = work
  if (open?._tag !== "Call") return openCall(work, piece)
  if (open.number === piece.index) {
    growCall(work, piece)
    if (sizeOf(work.held) > 0) giveHeld(work)
    return
  }
  work.held = grow(work.held, piece)
  giveHeld(work)
}

/** The calls that waited, as far as the open one is whole. */
const giveHeld = (work: Work): void => {
  const { open } = work
  if (open?._tag === "Call" && isWhole(open.text)) replayHeld(work)
}

/** By call, in the order of their first pieces: the pieces of one call may be mixed with those of another. */
const replayHeld = (work: Work): void => {
  const held = itemsOf(work.held)
  work.held = undefined
  const [first] = held
  if (first === undefined) return
  const own = held.filter(({ index }) => index === first.index)
  close(work)
  for (const piece of own) addCall(work, piece)
  for (const piece of held) if (piece.index !== first.index) addCall(work, piece)
}

const openCall = (work: Work, piece: ToolCallDelta): void => {
  const { function: called, id: own = "", index } = piece
  const { digest, id: messageId, plan } = work.facts
  const id = callIdOf(own, `${messageId} ${index}`, plan.taken, digest)
  sign(work, id, piece)
  const wasThinking = work.open?._tag === "Thinking"
  close(work)
  const { thinking } = plan.shown
  if (!wasThinking && (owesCarrier(work) || (thinking && !work.hasCarrier))) {
    start(work, { type: "redacted_thinking", data: sealedCarrier(work) })
    stop(work)
  }
  start(work, { type: "tool_use", id, name: called.name ?? "", input: {}, caller: { type: "direct" } })
  work.calls += 1
  work.open = { _tag: "Call", number: index, id, text: "" }
  growText(work, called.arguments ?? "")
}

const growCall = (work: Work, piece: ToolCallDelta): void => {
  if (work.open?._tag !== "Call") return
  sign(work, work.open.id, piece)
  growText(work, piece.function.arguments ?? "")
}

const growText = (work: Work, text: string): void => {
  if (work.open?._tag !== "Call" || text === "") return
  push(work, { type: "input_json_delta", partial_json: text })
  work.written += text.length
  work.open = { ...work.open, text: work.open.text + text }
}

const sign = (work: Work, id: string, { function: { thought_signature: signature } }: ToolCallDelta): void => {
  if (signature !== undefined) work.callSignatures = grow(work.callSignatures, { id, s: signature })
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

/** One search for each query; what was found is with the first. */
const giveSearches = (work: Work): void => {
  const { grounding } = work
  const found = list(grounding?.["groundingChunks"]).flatMap((chunk) => {
    const web = isJsonObject(chunk) && isJsonObject(chunk["web"]) ? chunk["web"] : {}
    const { title, uri } = web
    return typeof uri !== "string"
      ? []
      : [
          {
            type: "web_search_result",
            url: uri,
            title: typeof title === "string" ? title : uri,
            encrypted_content: "mgr1.",
            page_age: null
          }
        ]
  })
  const caller = { type: "direct" } as const
  for (const [position, query] of list(grounding?.["webSearchQueries"]).entries()) {
    const id = searchIdOf(work.facts.id, position)
    start(work, { type: "server_tool_use", id, name: "web_search", input: { query }, caller })
    stop(work)
    const content = position === 0 ? found : []
    start(work, { type: "web_search_tool_result", tool_use_id: id, content, caller })
    stop(work)
  }
}

/** The end of the choice: what waited comes whether it is whole or not. */
const end = (work: Work, finish: FinishReason): void => {
  work.finish = finish
  while (sizeOf(work.held) > 0) replayHeld(work)
  close(work)
  giveSearches(work)
}
