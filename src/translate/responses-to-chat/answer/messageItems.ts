// Message items: text and refusals as they come, sources and token probabilities.
// It must not know chunks. Rules: R504, R521, R607, R608.
import { appendPiece } from "../../../domain/text/appendPiece.ts"
import type { Annotation, Logprobs } from "../../../wire/openai/ChatReply.ts"
import type { DeltaLogprob, OutputPart, TextLogprob, UrlCitation } from "../../../wire/openai/responses/Items.ts"
import { grow, growBy, itemsOf, sizeOf } from "../../../wire/grownList.ts"
import { announce, done, type MessageStatus, next, type OpenMessage, place, type Work } from "./work.ts"

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
