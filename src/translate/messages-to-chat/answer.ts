// The chunks of a chat as the blocks of a message: what each piece opens, grows and closes, and the events that are owed.
// It must not know envelopes, or how an answer reaches the client. Rules: D303, D305, D402-D406, D411, D412.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import type { AnswerBlock, AnswerEvent, BlockDelta } from "../../wire/anthropic.ts"
import { grow, type GrownList, itemsOf, sizeOf } from "../../wire/grownList.ts"
import type { ChatChunk, ChunkChoice, Delta, FinishReason, ToolCallDelta, Usage } from "../../wire/openai/ChatReply.ts"
import { type Carrier, carrierText, compacted, fitted, plainBytes } from "../shared/carrier.ts"
import { type BlockPiece, blockPieces, type OpenBlock } from "../shared/reply/completion.ts"
import { mergeFields } from "../shared/reply/usage.ts"
import type { AnswerFacts } from "./facts.ts"
import { callIdOf, searchIdOf } from "./marks.ts"

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
  const partObject: Json = isJsonObject(part) ? part : {}
  work.parts = grow(work.parts, { at: "", part: { provider, part: partObject } })
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
    if (sizeOf(work.waiting) > 0) giveWaiting(work)
    return
  }
  work.waiting = grow(work.waiting, piece)
  giveWaiting(work)
}

/** The calls that waited, as far as the open one is whole. */
const giveWaiting = (work: Work): void => {
  const { open } = work
  if (open?._tag === "Call" && isWhole(open.text)) replayWaiting(work)
}

/** By call, in the order of their first pieces: the pieces of one call may be mixed with those of another. */
const replayWaiting = (work: Work): void => {
  const waiting = itemsOf(work.waiting)
  work.waiting = undefined
  const [first] = waiting
  if (first === undefined) return
  const pieces = waiting.filter(({ index }) => index === first.index)
  close(work)
  for (const piece of pieces) addCall(work, piece)
  for (const piece of waiting) if (piece.index !== first.index) addCall(work, piece)
}

const openCall = (work: Work, piece: ToolCallDelta): void => {
  const { function: called, id: upstreamId = "", index } = piece
  const { digest, id: messageId, plan } = work.facts
  const id = callIdOf(upstreamId, `${messageId} ${index}`, plan.taken, digest)
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
  const sources = list(grounding?.["groundingChunks"]).flatMap((chunk) => {
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
    const content = position === 0 ? sources : []
    start(work, { type: "web_search_tool_result", tool_use_id: id, content, caller })
    stop(work)
  }
}

/** The end of the choice: what waited comes whether it is whole or not. */
const end = (work: Work, finish: FinishReason): void => {
  work.finish = finish
  while (sizeOf(work.waiting) > 0) replayWaiting(work)
  close(work)
  giveSearches(work)
}

// An answer while it comes: the block that is open, what has to be carried, and the events that are owed.

/** The block that is open; a call has the chat's number of it. */
export type Open =
  | { readonly _tag: "Text"; readonly text: string; readonly signature: string | undefined }
  | { readonly _tag: "Thinking" }
  | { readonly _tag: "Call"; readonly number: number; readonly id: string; readonly text: string }

type Entries<Name extends "b" | "c" | "p" | "t"> = GrownList<NonNullable<Carrier[Name]>[number]>

export interface AnswerState {
  readonly model: string | undefined
  /** Number of blocks so far. */
  readonly placed: number
  readonly open: Open | undefined
  /** The block of the chat that a bare signature belongs to, and the thought that it would sign. */
  readonly block: OpenBlock | undefined
  readonly thought: { readonly block: number; readonly text: string } | undefined
  readonly callSignatures: Entries<"c">
  readonly thoughtSignatures: Entries<"b">
  readonly textSignatures: Entries<"t">
  readonly parts: Entries<"p">
  /** Entries that the last carrier had, and at the last look for more. */
  readonly carried: number
  readonly looked: number
  readonly hasCarrier: boolean
  readonly calls: number
  /** Pieces of calls that wait for the open one to be whole. */
  readonly waiting: GrownList<ToolCallDelta>
  readonly refusal: string
  readonly grounding: JsonObject | undefined
  readonly finish: FinishReason | undefined
  readonly usage: Usage | undefined
  /** Characters of texts and arguments. */
  readonly written: number
  readonly isOver: boolean
}

export const noAnswer: AnswerState = {
  model: undefined,
  placed: 0,
  open: undefined,
  block: undefined,
  thought: undefined,
  callSignatures: undefined,
  thoughtSignatures: undefined,
  textSignatures: undefined,
  parts: undefined,
  carried: 0,
  looked: 0,
  hasCarrier: false,
  calls: 0,
  waiting: undefined,
  refusal: "",
  grounding: undefined,
  finish: undefined,
  usage: undefined,
  written: 0,
  isOver: false
}

/** The state while one chunk is read. */
export interface Work extends Types.Mutable<AnswerState> {
  readonly facts: AnswerFacts
  readonly events: Array<AnswerEvent>
}

export const workOn = (state: AnswerState, facts: AnswerFacts): Work => ({ ...state, facts, events: [] })

export const stateOf = ({ events: _events, facts: _facts, ...state }: Work): AnswerState => state

/** Starts the next block. */
const start = (work: Work, block: AnswerBlock): void => {
  work.events.push({ type: "content_block_start", index: work.placed++, content_block: block })
}

/** More of the block that was started last. */
const push = (work: Work, delta: BlockDelta): void => {
  work.events.push({ type: "content_block_delta", index: work.placed - 1, delta })
}

const stop = (work: Work): void => {
  work.events.push({ type: "content_block_stop", index: work.placed - 1 })
}

const recorded = (work: Work): number =>
  sizeOf(work.callSignatures) + sizeOf(work.thoughtSignatures) + sizeOf(work.textSignatures) + sizeOf(work.parts)

/**
 * Each carrier repeats the one before. So many come as soon as there is more to carry, then one when there is twice as
 * much: an answer with n entries carries at most 4n of them and not n * n / 2.
 */
const carriersAtOnce = 32

/** True when something is recorded that no carrier has. */
const owesCarrier = (work: Work): boolean => {
  const entries = recorded(work)
  return entries > work.carried && (entries <= carriersAtOnce || entries >= 2 * work.looked)
}

/** All that is known so far, sealed; empty where there is nothing to carry, by which a turn is known as ours. */
const sealedCarrier = (work: Work): string => {
  const { carrierBytes, id, issuer, seal } = work.facts
  work.carried = recorded(work)
  work.looked = work.carried
  work.hasCarrier = true
  const all = compacted({
    v: 1,
    r: id,
    i: issuer,
    c: itemsOf(work.callSignatures),
    b: itemsOf(work.thoughtSignatures),
    t: itemsOf(work.textSignatures),
    p: itemsOf(work.parts)
  })
  return seal(carrierText(fitted(all, plainBytes(carrierBytes)).carrier))
}

/** Ends the open block. Thinking ends in its carrier (D303); a text that was signed is carried from now on. */
const close = (work: Work): void => {
  const { open } = work
  if (open === undefined) return
  work.open = undefined
  if (open._tag === "Thinking") push(work, { type: "signature_delta", signature: sealedCarrier(work) })
  if (open._tag === "Text" && open.signature !== undefined)
    work.textSignatures = grow(work.textSignatures, { h: work.facts.digest(open.text), s: open.signature })
  stop(work)
}
