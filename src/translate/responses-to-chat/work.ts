// An answer while it comes: its items, what is open of them, and the events that are owed.
// It must not know chunks. Rules: R501-R503.
import * as HashMap from "effect/HashMap"
import type * as Types from "effect/Types"
import type { JsonObject } from "../../domain/text/json.ts"
import { grow, type GrownList, itemsOf, sizeOf } from "../../wire/grownList.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import type {
  CodeOutput,
  MessageItem,
  OutputItem,
  OutputPart,
  ResponsesEvent,
  SummaryPart,
  TextLogprob,
  UrlCitation
} from "../../wire/openai/Responses.ts"
import { type Carrier, compacted } from "../shared/carrier.ts"
import type { OpenBlock } from "../shared/reply/completion.ts"
import { type AnswerFacts, itemId, type ItemPrefix } from "./facts.ts"

export interface OpenMessage {
  readonly _tag: "Message"
  readonly id: string
  readonly outputIndex: number
  /** Parts that are closed. */
  readonly parts: ReadonlyArray<OutputPart>
  readonly part: "text" | "refusal"
  readonly text: string
  readonly annotations: GrownList<UrlCitation>
  readonly logprobs: GrownList<TextLogprob>
  readonly signature: string | undefined
}

export interface OpenReasoning {
  readonly _tag: "Reasoning"
  readonly id: string
  readonly outputIndex: number
  /** Parts that are closed. */
  readonly summary: GrownList<SummaryPart>
  /** The block whose text is coming. */
  readonly block: number
  readonly text: string
}

export interface OpenCall {
  /** The chat's number of it. */
  readonly index: number
  readonly id: string
  readonly callId: string
  readonly outputIndex: number
  /** The chat's name of the function. */
  readonly called: string
  readonly text: string
}

export interface Thought {
  readonly block: number
  readonly thinking: string
  readonly signature: string | undefined
  readonly redacted: string | undefined
}

/** Code that the model had run; it becomes an item at the end. */
export interface CodeRun {
  readonly code: string
  readonly outputs: GrownList<CodeOutput>
  readonly hasFailed: boolean
  readonly hasResult: boolean
  readonly parts: GrownList<{ readonly provider: string; readonly part: JsonObject }>
}

type Entries<Name extends "c" | "t" | "g" | "p"> = GrownList<NonNullable<Carrier[Name]>[number]>

/** An item that is whole. */
export interface ClosedItem {
  readonly outputIndex: number
  readonly item: OutputItem
}

export interface AnswerState {
  readonly sequence: number
  readonly model: string | undefined
  /** Number of items so far, open ones included. */
  readonly placed: number
  /** In the order in which they closed. */
  readonly closed: GrownList<ClosedItem>
  /** The closed item with the highest `output_index`. */
  readonly lastClosed: ClosedItem | undefined
  /** Characters of the messages among the first `counted.items` closed items. */
  readonly counted: { readonly items: number; readonly characters: number }
  /** Whole forms of items that are shown with less; a later read may ask for them (R111). */
  readonly whole: GrownList<OutputItem>
  readonly open: OpenMessage | OpenReasoning | undefined
  /** By the chat's number. */
  readonly calls: HashMap.HashMap<number, OpenCall>
  /** The block of the chat that a bare signature belongs to. */
  readonly block: OpenBlock | undefined
  readonly thoughts: GrownList<Thought>
  readonly callSignatures: Entries<"c">
  readonly textSignatures: Entries<"t">
  readonly imageSignatures: Entries<"g">
  readonly parts: Entries<"p">
  /** Entries that the last carrier had: another one is owed when there are more. */
  readonly carried: number
  /** Entries, owed or not, at the last look for more. */
  readonly looked: number
  readonly cut: number
  readonly code: GrownList<CodeRun>
  readonly grounding: JsonObject | undefined
  readonly finish: "completed" | "max_output_tokens" | "content_filter" | undefined
  readonly usage: Usage | undefined
  readonly isOver: boolean
  readonly hasFailed: boolean
}

export const noAnswer: AnswerState = {
  sequence: 0,
  model: undefined,
  placed: 0,
  closed: undefined,
  lastClosed: undefined,
  counted: { items: 0, characters: 0 },
  whole: undefined,
  open: undefined,
  calls: HashMap.empty(),
  block: undefined,
  thoughts: undefined,
  callSignatures: undefined,
  textSignatures: undefined,
  imageSignatures: undefined,
  parts: undefined,
  carried: 0,
  looked: 0,
  cut: 0,
  code: undefined,
  grounding: undefined,
  finish: undefined,
  usage: undefined,
  isOver: false,
  hasFailed: false
}

/** The state while one chunk is read. */
export interface Work extends Types.Mutable<AnswerState> {
  readonly facts: AnswerFacts
  readonly events: Array<ResponsesEvent>
}

export const workOn = (state: AnswerState, facts: AnswerFacts): Work => ({ ...state, facts, events: [] })

export const stateOf = ({ events: _events, facts: _facts, ...state }: Work): AnswerState => state

export const next = (work: Work): number => work.sequence++

/** The next place in the output, and the id that goes with it. */
export const place = (work: Work, prefix: ItemPrefix): { readonly id: string; readonly outputIndex: number } => {
  const outputIndex = work.placed++
  return { id: itemId(prefix, work.facts.id, outputIndex), outputIndex }
}

export const announce = (work: Work, outputIndex: number, item: OutputItem): void => {
  work.events.push({
    type: "response.output_item.added",
    sequence_number: next(work),
    output_index: outputIndex,
    item
  })
}

export const done = (work: Work, outputIndex: number, item: OutputItem): void => {
  const closed: ClosedItem = { outputIndex, item }
  work.closed = grow(work.closed, closed)
  if (work.lastClosed === undefined || work.lastClosed.outputIndex < outputIndex) work.lastClosed = closed
  work.events.push({ type: "response.output_item.done", sequence_number: next(work), output_index: outputIndex, item })
}

/** The beginning of Claude's thinking as its calls carry it; with the thinking itself it would be carried twice. */
const packedThinking = "W3sidHlwZSI6"

/** Everything that may have to come back. */
export const recordedEntries = (work: Work): number =>
  sizeOf(work.thoughts) +
  sizeOf(work.callSignatures) +
  sizeOf(work.textSignatures) +
  sizeOf(work.imageSignatures) +
  sizeOf(work.parts)

/** Everything known so far that has to come back. */
export const carrierOf = (work: Work): Carrier => {
  const b = itemsOf(work.thoughts).flatMap(({ redacted, signature, thinking }): NonNullable<Carrier["b"]> =>
    redacted !== undefined
      ? [{ type: "redacted_thinking", data: redacted }]
      : signature === undefined
        ? []
        : [{ type: "thinking", thinking, signature }]
  )
  const calls = itemsOf(work.callSignatures)
  return compacted({
    v: 1,
    r: work.facts.id,
    i: work.facts.issuer,
    c: b.length === 0 ? calls : calls.filter(({ s }) => !s.startsWith(packedThinking)),
    b,
    t: itemsOf(work.textSignatures),
    g: itemsOf(work.imageSignatures),
    p: itemsOf(work.parts)
  })
}

export const entriesOf = ({ b = [], c = [], g = [], p = [], t = [] }: Carrier): number =>
  b.length + c.length + g.length + p.length + t.length

export type MessageStatus = MessageItem["status"]
