// An answer while it comes: its items, what is open of them, and the events that are owed.
// It must not know chunks. Rules: R501-R503.
import type * as Types from "effect/Types"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import type { ResponsesEvent } from "../../../wire/openai/responses/Events.ts"
import type {
  CodeOutput,
  MessageItem,
  OutputItem,
  OutputPart,
  SummaryPart,
  TextLogprob,
  UrlCitation
} from "../../../wire/openai/responses/Items.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import { type Carrier, compacted } from "../carrier.ts"
import type { AnswerFacts } from "../facts.ts"
import { itemId, type ItemPrefix } from "../ids.ts"

export interface OpenMessage {
  readonly _tag: "Message"
  readonly id: string
  readonly outputIndex: number
  /** Parts that are closed. */
  readonly parts: ReadonlyArray<OutputPart>
  readonly part: "text" | "refusal"
  readonly text: string
  readonly annotations: ReadonlyArray<UrlCitation>
  readonly logprobs: ReadonlyArray<TextLogprob>
  readonly signature: string | undefined
}

export interface OpenReasoning {
  readonly _tag: "Reasoning"
  readonly id: string
  readonly outputIndex: number
  /** Parts that are closed. */
  readonly summary: ReadonlyArray<SummaryPart>
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
  readonly outputs: ReadonlyArray<CodeOutput>
  readonly hasFailed: boolean
  readonly hasResult: boolean
  readonly parts: ReadonlyArray<{ readonly provider: string; readonly part: JsonObject }>
}

type Entries<Name extends "c" | "t" | "g" | "p"> = NonNullable<Carrier[Name]>

export interface AnswerState {
  readonly sequence: number
  readonly model: string | undefined
  /** By `output_index`; undefined while an item is open. */
  readonly items: ReadonlyArray<OutputItem | undefined>
  /** Whole forms of items that are shown with less; a later read may ask for them (R111). */
  readonly whole: ReadonlyArray<OutputItem>
  readonly open: OpenMessage | OpenReasoning | undefined
  readonly calls: ReadonlyArray<OpenCall>
  /** The block of the chat that a bare signature belongs to. */
  readonly block: { readonly index: number; readonly kind: "thinking" | "text" } | undefined
  readonly thoughts: ReadonlyArray<Thought>
  readonly callSignatures: Entries<"c">
  readonly textSignatures: Entries<"t">
  readonly imageSignatures: Entries<"g">
  readonly parts: Entries<"p">
  /** Entries that the last carrier had: another one is owed when there are more. */
  readonly carried: number
  readonly cut: number
  readonly code: ReadonlyArray<CodeRun>
  readonly grounding: JsonObject | undefined
  readonly finish: "completed" | "max_output_tokens" | "content_filter" | undefined
  readonly usage: Usage | undefined
  readonly isOver: boolean
  readonly hasFailed: boolean
}

export const noAnswer: AnswerState = {
  sequence: 0,
  model: undefined,
  items: [],
  whole: [],
  open: undefined,
  calls: [],
  block: undefined,
  thoughts: [],
  callSignatures: [],
  textSignatures: [],
  imageSignatures: [],
  parts: [],
  carried: 0,
  cut: 0,
  code: [],
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
  const outputIndex = work.items.length
  work.items = [...work.items, undefined]
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
  work.items = work.items.with(outputIndex, item)
  work.events.push({ type: "response.output_item.done", sequence_number: next(work), output_index: outputIndex, item })
}

/** The beginning of Claude's thinking as its calls carry it; with the thinking itself it would be carried twice. */
const packedThinking = "W3sidHlwZSI6"

/** Everything known so far that has to come back. */
export const carrierOf = (work: Work): Carrier => {
  const b = work.thoughts.flatMap(({ redacted, signature, thinking }): NonNullable<Carrier["b"]> =>
    redacted !== undefined
      ? [{ type: "redacted_thinking", data: redacted }]
      : signature === undefined
        ? []
        : [{ type: "thinking", thinking, signature }]
  )
  return compacted({
    v: 1,
    r: work.facts.id,
    i: work.facts.issuer,
    c: b.length === 0 ? work.callSignatures : work.callSignatures.filter(({ s }) => !s.startsWith(packedThinking)),
    b,
    t: work.textSignatures,
    g: work.imageSignatures,
    p: work.parts
  })
}

export const entriesOf = ({ b = [], c = [], g = [], p = [], t = [] }: Carrier): number =>
  b.length + c.length + g.length + p.length + t.length

export type MessageStatus = MessageItem["status"]
