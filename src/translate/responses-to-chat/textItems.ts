// Items of text: messages with refusals, sources and token probabilities, and reasoning with what a client carries, sealed.
// It must not know chunks. Rules: R305, R401, R409, R411, R504, R521, R607, R608.
import { appendPiece, grow, growBy, itemsOf, sizeOf } from "../../wire/grownList.ts"
import type { Annotation, Logprobs } from "../../wire/openai/ChatReply.ts"
import type {
  DeltaLogprob,
  OutputPart,
  ReasoningItem,
  SummaryPart,
  TextLogprob,
  UrlCitation
} from "../../wire/openai/Responses.ts"
import { carrierText, fitted, plainBytes } from "../shared/carrier.ts"
import {
  announce,
  carrierOf,
  done,
  entriesOf,
  type MessageStatus,
  next,
  type OpenMessage,
  type OpenReasoning,
  place,
  recordedEntries,
  type Work
} from "./work.ts"

const encoder = new TextEncoder()

const bytesOf = (token: string, bytes: ReadonlyArray<number> | null): ReadonlyArray<number> =>
  bytes ?? [...encoder.encode(token)]

export const textLogprobs = (logprobs: Logprobs | null | undefined): ReadonlyArray<TextLogprob> =>
  (logprobs?.content ?? []).map(({ bytes, logprob, token, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytesOf(token, bytes),
    top_logprobs: top_logprobs.map((top) => ({ ...top, bytes: bytesOf(top.token, top.bytes) }))
  }))

const withoutBytes = (logprobs: ReadonlyArray<TextLogprob>): ReadonlyArray<DeltaLogprob> =>
  logprobs.map(({ logprob, token, top_logprobs }) => ({
    token,
    logprob,
    top_logprobs: top_logprobs.map((top) => ({ token: top.token, logprob: top.logprob }))
  }))

const emptyPart = (part: OpenMessage["part"]): OutputPart =>
  part === "text" ? { type: "output_text", text: "", annotations: [], logprobs: [] } : { type: "refusal", refusal: "" }

const openPart = (work: Work, { id, outputIndex, part, parts }: OpenMessage): void => {
  work.events.push({
    type: "response.content_part.added",
    sequence_number: next(work),
    item_id: id,
    output_index: outputIndex,
    content_index: parts.length,
    part: emptyPart(part)
  })
}

export const openMessage = (work: Work, part: OpenMessage["part"]): OpenMessage => {
  const { id, outputIndex } = place(work, "msg")
  const open: OpenMessage = {
    _tag: "Message",
    id,
    outputIndex,
    parts: [],
    part,
    text: "",
    annotations: undefined,
    logprobs: undefined,
    signature: undefined
  }
  announce(work, outputIndex, { id, type: "message", status: "in_progress", role: "assistant", content: [] })
  openPart(work, open)
  return open
}

export const growText = (
  work: Work,
  open: OpenMessage,
  text: string,
  logprobs: ReadonlyArray<TextLogprob>
): OpenMessage => {
  work.events.push({
    type: "response.output_text.delta",
    sequence_number: next(work),
    item_id: open.id,
    output_index: open.outputIndex,
    content_index: open.parts.length,
    delta: text,
    logprobs: withoutBytes(logprobs)
  })
  return {
    ...open,
    text: appendPiece(open.text, text),
    logprobs: growBy(open.logprobs, logprobs)
  }
}

export const growRefusal = (work: Work, before: OpenMessage, refusal: string): OpenMessage => {
  let open = before
  if (open.part === "text") {
    const part = closePart(work, open)
    open = {
      ...open,
      parts: [...open.parts, part],
      part: "refusal",
      text: "",
      annotations: undefined,
      logprobs: undefined
    }
    openPart(work, open)
  }
  work.events.push({
    type: "response.refusal.delta",
    sequence_number: next(work),
    item_id: open.id,
    output_index: open.outputIndex,
    content_index: open.parts.length,
    delta: refusal
  })
  return { ...open, text: open.text + refusal }
}

/** Offsets count in the whole content of a chat; those before this item belong to an item that is closed. */
export const addAnnotations = (
  work: Work,
  before: OpenMessage,
  annotations: ReadonlyArray<Annotation>
): OpenMessage => {
  const base = charactersBefore(work)
  let cites = before.annotations
  for (const { url_citation: cited } of annotations) {
    if (before.part !== "text" || cited.start_index < base) continue
    const annotation: UrlCitation = {
      type: "url_citation",
      url: cited.url,
      title: cited.title,
      start_index: cited.start_index - base,
      end_index: cited.end_index - base
    }
    work.events.push({
      type: "response.output_text.annotation.added",
      sequence_number: next(work),
      item_id: before.id,
      output_index: before.outputIndex,
      content_index: before.parts.length,
      annotation_index: sizeOf(cites),
      annotation
    })
    cites = grow(cites, annotation)
  }
  return { ...before, annotations: cites }
}

/** All closed items stand before the open message. Each is counted once, when the first annotation asks for it. */
const charactersBefore = (work: Work): number => {
  let count = work.counted.characters
  for (let at = work.closed; at !== undefined && at.size > work.counted.items; at = at.before) {
    const { item } = at.last
    if (item.type !== "message") continue
    for (const part of item.content) if (part.type === "output_text") for (const _character of part.text) count++
  }
  work.counted = { items: sizeOf(work.closed), characters: count }
  return count
}

const closePart = (work: Work, open: OpenMessage): OutputPart => {
  const at = { item_id: open.id, output_index: open.outputIndex, content_index: open.parts.length }
  const { text } = open
  const annotations = itemsOf(open.annotations)
  const logprobs = itemsOf(open.logprobs)
  if (open.part === "text")
    work.events.push({
      type: "response.output_text.done",
      sequence_number: next(work),
      ...at,
      text,
      logprobs: withoutBytes(logprobs)
    })
  else work.events.push({ type: "response.refusal.done", sequence_number: next(work), ...at, refusal: text })
  const part: OutputPart =
    open.part === "text" ? { type: "output_text", text, annotations, logprobs } : { type: "refusal", refusal: text }
  work.events.push({ type: "response.content_part.done", sequence_number: next(work), ...at, part })
  return part
}

/** The signature of a text is that of the whole item, by which it is found again. */
export const closeMessage = (work: Work, open: OpenMessage, status: MessageStatus): void => {
  const part = closePart(work, open)
  const content = [...open.parts, part]
  done(work, open.outputIndex, { id: open.id, type: "message", status, role: "assistant", content })
  if (open.signature === undefined) return
  const text = content.map((one) => (one.type === "output_text" ? one.text : "")).join("")
  work.textSignatures = grow(work.textSignatures, { h: work.facts.digest(text), s: open.signature })
}

// Reasoning items: summaries as they are thought, and what a client carries, sealed.

/**
 * Each carrier repeats the one before. So many come as soon as there is more to carry; then one when there is twice as
 * much, and one at the end: an answer with n entries carries at most 4n of them and not n * n / 2.
 */
const carriersAtOnce = 32

/** The sealed carrier, if there is more to carry than the last one had. */
const nextCarrier = (work: Work, isLast = false): string | undefined => {
  if (!work.facts.plan.shown.carriers) return undefined
  const recorded = recordedEntries(work)
  if (!isLast && recorded > carriersAtOnce && recorded < 2 * work.looked) return undefined
  work.looked = recorded
  const all = carrierOf(work)
  if (entriesOf(all) <= work.carried) return undefined
  const { carrier, cut } = fitted(all, plainBytes(work.facts.carrierBytes))
  work.carried = entriesOf(all)
  work.cut = cut
  return entriesOf(carrier) === 0 ? undefined : work.facts.seal(carrierText(carrier))
}

/** A reasoning item that shows nothing: it carries what has become known since the last one. */
export const giveCarrier = (work: Work): void => addCarrier(work, nextCarrier(work))

/** The same at the end of an answer. */
export const giveLastCarrier = (work: Work): void => addCarrier(work, nextCarrier(work, true))

const addCarrier = (work: Work, sealed: string | undefined): void => {
  if (sealed === undefined) return
  const { id, outputIndex } = place(work, "rs")
  const item: ReasoningItem = { id, type: "reasoning", summary: [] }
  announce(work, outputIndex, item)
  done(work, outputIndex, { ...item, encrypted_content: sealed })
}

export const openReasoning = (work: Work, block: number): OpenReasoning => {
  const { id, outputIndex } = place(work, "rs")
  const open: OpenReasoning = { _tag: "Reasoning", id, outputIndex, summary: undefined, block, text: "" }
  announce(work, outputIndex, { id, type: "reasoning", summary: [] })
  openSummary(work, open)
  return open
}

const openSummary = (work: Work, { id, outputIndex, summary }: OpenReasoning): void => {
  work.events.push({
    type: "response.reasoning_summary_part.added",
    sequence_number: next(work),
    item_id: id,
    output_index: outputIndex,
    summary_index: sizeOf(summary),
    part: { type: "summary_text", text: "" }
  })
}

const closeSummary = (work: Work, { id, outputIndex, summary, text }: OpenReasoning): void => {
  const at = { item_id: id, output_index: outputIndex, summary_index: sizeOf(summary) }
  work.events.push(
    { type: "response.reasoning_summary_text.done", sequence_number: next(work), ...at, text },
    {
      type: "response.reasoning_summary_part.done",
      sequence_number: next(work),
      ...at,
      part: { type: "summary_text", text }
    }
  )
}

/** More of what is being thought; another block is another part of the summary. */
export const growReasoning = (work: Work, before: OpenReasoning, block: number, text: string): OpenReasoning => {
  let open = before
  if (open.block !== block) {
    closeSummary(work, open)
    open = {
      ...open,
      summary: grow<SummaryPart>(open.summary, { type: "summary_text", text: open.text }),
      block,
      text: ""
    }
    openSummary(work, open)
  }
  work.events.push({
    type: "response.reasoning_summary_text.delta",
    sequence_number: next(work),
    item_id: open.id,
    output_index: open.outputIndex,
    summary_index: sizeOf(open.summary),
    delta: text
  })
  return { ...open, text: open.text + text }
}

export const closeReasoning = (work: Work, open: OpenReasoning): void => {
  closeSummary(work, open)
  const sealed = nextCarrier(work)
  done(work, open.outputIndex, {
    id: open.id,
    type: "reasoning",
    summary: [...itemsOf(open.summary), { type: "summary_text", text: open.text }],
    ...(sealed === undefined ? {} : { encrypted_content: sealed })
  })
}
