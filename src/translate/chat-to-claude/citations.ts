// Translates Claude's citations of text blocks to annotations with URL and text range.
// Must not depend on the streaming of the text.
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Annotation } from "../../wire/openai/ChatReply.ts"
import type { Citation } from "../../wire/openai/Extensions.ts"

export interface Sources {
  readonly citations: ReadonlyArray<Citation>
  /** Citations with an address, in OpenAI's form. */
  readonly annotations: ReadonlyArray<Annotation>
}

export const noSources: Sources = { citations: [], annotations: [] }

/** Called at the end of a text block: its citations apply to the block's whole text, the content from `start` on. */
export const withSources = (before: Sources, given: ReadonlyArray<Json>, content: string, start: number): Sources => {
  const found = given.filter(isJsonObject)
  if (found.length === 0) return before
  const from = codePoints(content.slice(0, start))
  const to = from + codePoints(content.slice(start))
  const citations = found.map((upstream): Citation => {
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
  return { citations: [...before.citations, ...citations], annotations: [...before.annotations, ...annotations] }
}

const codePoints = (text: string): number => {
  let count = 0
  for (const _letter of text) count++
  return count
}
