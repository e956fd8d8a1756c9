// An answer while it comes: the block that is open, what has to be carried, and the events that are owed.
// It must not know chunks. Rules: D303, D305, D411.
import type * as Types from "effect/Types"
import type { JsonObject } from "../../../domain/text/json.ts"
import type { AnswerBlock, AnswerEvent, BlockDelta } from "../../../wire/anthropic/MessageAnswer.ts"
import { grow, type GrownList, itemsOf, sizeOf } from "../../../wire/grownList.ts"
import type { FinishReason, ToolCallDelta, Usage } from "../../../wire/openai/ChatReply.ts"
import { type Carrier, carrierText, compacted, fitted, plainBytes } from "../../shared/carrier/carrier.ts"
import type { OpenBlock } from "../../shared/reply/deltaBlocks.ts"
import type { AnswerFacts } from "../facts.ts"

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
  readonly held: GrownList<ToolCallDelta>
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
  held: undefined,
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
export const start = (work: Work, block: AnswerBlock): void => {
  work.events.push({ type: "content_block_start", index: work.placed++, content_block: block })
}

/** More of the block that was started last. */
export const push = (work: Work, delta: BlockDelta): void => {
  work.events.push({ type: "content_block_delta", index: work.placed - 1, delta })
}

export const stop = (work: Work): void => {
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
export const owesCarrier = (work: Work): boolean => {
  const entries = recorded(work)
  return entries > work.carried && (entries <= carriersAtOnce || entries >= 2 * work.looked)
}

/** All that is known so far, sealed; empty where there is nothing to carry, by which a turn is known as ours. */
export const sealedCarrier = (work: Work): string => {
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
export const close = (work: Work): void => {
  const { open } = work
  if (open === undefined) return
  work.open = undefined
  if (open._tag === "Thinking") push(work, { type: "signature_delta", signature: sealedCarrier(work) })
  if (open._tag === "Text" && open.signature !== undefined)
    work.textSignatures = grow(work.textSignatures, { h: work.facts.digest(open.text), s: open.signature })
  stop(work)
}
