// Reasoning items: summaries as they are thought, and what a client carries, sealed.
// It must not know chunks. Rules: R305, R401, R409, R411.
import { grow, itemsOf, sizeOf } from "../../../wire/grownList.ts"
import type { ReasoningItem, SummaryPart } from "../../../wire/openai/responses/Items.ts"
import { carrierText, fitted, plainBytes } from "../../shared/carrier/carrier.ts"
import {
  announce,
  carrierOf,
  done,
  entriesOf,
  next,
  type OpenReasoning,
  place,
  recordedEntries,
  type Work
} from "./work.ts"

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
