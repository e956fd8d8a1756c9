// Translates Claude's citations of text blocks to annotations with URL and text range.
// Must not depend on the streaming of the text.
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import { growBy, type GrownList } from "../../wire/grownList.ts"
import type { Annotation, Citation } from "../../wire/openai/ChatReply.ts"

export interface Sources {
  readonly citations: GrownList<Citation>
  /** Citations with an address, in OpenAI's form. */
  readonly annotations: GrownList<Annotation>
  /** Characters of the answer that are counted. */
  readonly points: number
  /** The text of earlier blocks that is not counted yet: it is counted when a block has citations. */
  readonly uncounted: string
  /** The text of the open block. */
  readonly text: string
}

export const noSources: Sources = { citations: undefined, annotations: undefined, points: 0, uncounted: "", text: "" }

/** Called at the start of a text block. */
export const beginText = (before: Sources): Sources =>
  before.text === "" ? before : { ...before, uncounted: before.uncounted + before.text, text: "" }

export const withText = (before: Sources, text: string): Sources => ({ ...before, text: before.text + text })

/** Called at the end of a text block: its citations apply to the block's whole text. Each character is counted once. */
export const withSources = (before: Sources, given: ReadonlyArray<Json>): Sources => {
  const cited = given.filter(isJsonObject)
  if (cited.length === 0) return before
  const from = before.points + codePoints(before.uncounted)
  const to = from + codePoints(before.text)
  const citations = cited.map((upstream): Citation => {
    const { url, title, document_title: document } = upstream
    const name = typeof title === "string" ? title : document
    return {
      start_index: from,
      end_index: to,
      ...(typeof url === "string" ? { uri: url } : {}),
      ...(typeof name === "string" ? { title: name } : {}),
      upstream
    }
  })
  const annotations = citations.flatMap(({ uri, title }): ReadonlyArray<Annotation> =>
    uri === undefined
      ? []
      : [{ type: "url_citation", url_citation: { start_index: from, end_index: to, url: uri, title: title ?? uri } }]
  )
  return {
    citations: growBy(before.citations, citations),
    annotations: growBy(before.annotations, annotations),
    points: to,
    uncounted: "",
    text: ""
  }
}

const codePoints = (text: string): number => {
  let count = 0
  for (const _letter of text) count++
  return count
}
