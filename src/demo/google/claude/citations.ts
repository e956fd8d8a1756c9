// Makes the cited blocks of a Claude reply: documents, search results of the prompt, pages of the web search tool.
// Must not depend on stop reasons, token counts or framing.

import { createHash } from "node:crypto"
import { lastUserText, pendingResponses } from "../shared/generateRequest.ts"
import type { GenerateRequest } from "../shared/generateRequest.ts"
import type { ReplyBlock } from "./replyTypes.ts"
import { blocksOf, sourceOf } from "./request.ts"
import type { Block, MessagesRequest } from "./request.ts"

const allowsCitations = (block: Block): boolean =>
  typeof block.citations === "object" &&
  block.citations !== null &&
  "enabled" in block.citations &&
  block.citations.enabled === true

const firstSentence = (text: string): string => /^[\s\S]*?[.!?](\s|$)/.exec(text)?.[0] ?? text

type Citation = Readonly<Record<string, unknown>>

/** The citation of a document's first sentence, page or block. */
const documentCitation = (block: Block, index: number): Citation => {
  const source = sourceOf(block)
  const document = { document_index: index, document_title: block.title ?? null }
  if (source?.type === "text") {
    const cited = firstSentence(source.data ?? "")
    return { type: "char_location", cited_text: cited, ...document, start_char_index: 0, end_char_index: cited.length }
  }
  if (source?.type === "content") {
    const cited = blocksOf(source.content)[0]?.text ?? ""
    return { type: "content_block_location", cited_text: cited, ...document, start_block_index: 0, end_block_index: 1 }
  }
  return {
    type: "page_location",
    cited_text: "The first page of the document.",
    ...document,
    start_page_number: 1,
    end_page_number: 2
  }
}

const searchCitation = (block: Block, index: number): Citation => ({
  type: "search_result_location",
  cited_text: blocksOf(block.content)[0]?.text ?? "",
  source: block.source,
  title: block.title ?? null,
  search_result_index: index,
  start_block_index: 0,
  end_block_index: 1
})

/** One cited sentence for each document and search result of the last user turn with citations enabled. */
export const citedBlocks = (request: MessagesRequest): ReadonlyArray<ReplyBlock> => {
  const turn = request.messages.findLast(({ role }) => role === "user")
  const held = blocksOf(turn?.content).flatMap((block) => [
    block,
    ...(block.type === "tool_result" ? blocksOf(block.content) : [])
  ])
  const documents = held.filter((block) => block.type === "document")
  const results = held.filter((block) => block.type === "search_result")
  const citations = [
    ...documents.flatMap((block, index) => (allowsCitations(block) ? [documentCitation(block, index)] : [])),
    ...results.flatMap((block, index) => (allowsCitations(block) ? [searchCitation(block, index)] : []))
  ]
  if (citations.length === 0) return []
  const cited = citations.map((citation) => ({
    type: "text",
    text: String(citation["cited_text"]).trim(),
    citations: [citation]
  }))
  return [{ type: "text", text: "According to what you sent: " }, ...cited]
}

const page = { url: "https://example.com/", title: "Example Domain" }

const sealed = (text: string): string => createHash("sha256").update(text).digest("base64")

/**
 * A call of the web search tool, its result, and an answer that cites it. `detailed` adds the caller of the tool.
 * Empty if the tool is not offered or results are pending.
 */
export const searchBlocks = (
  request: MessagesRequest,
  view: GenerateRequest,
  detailed: boolean
): ReadonlyArray<ReplyBlock> => {
  const offered = (request.tools ?? []).some(({ type }) => type?.startsWith("web_search_"))
  if (!offered || request.tool_choice?.type === "none" || pendingResponses(view).length > 0) return []
  const query = lastUserText(view).slice(0, 100)
  const id = `srvtoolu_vrtx_01${sealed(query)
    .replace(/[^A-Za-z0-9]/g, "x")
    .slice(0, 22)}`
  const text = "Example Domain is a page for use in examples."
  const citation = {
    type: "web_search_result_location",
    cited_text: text,
    ...page,
    encrypted_index: sealed(`index ${query}`)
  }
  const caller = detailed ? { caller: { type: "direct" } } : {}
  return [
    { type: "server_tool_use", id, name: "web_search", input: { query }, ...caller },
    {
      type: "web_search_tool_result",
      ...caller,
      tool_use_id: id,
      content: [{ type: "web_search_result", ...page, encrypted_content: sealed(`content ${query}`), page_age: null }]
    },
    { type: "text", text, citations: [citation] }
  ]
}
