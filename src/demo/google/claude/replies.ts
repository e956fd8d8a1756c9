// Makes Claude's reply to an accepted request: content blocks, citations, stop reason and token counts. It is deterministic.
// It must not depend on HTTP, streaming or JSON framing.
import { createHash } from "node:crypto"
import { type GenerateRequest, lastUserText, pendingResponses, textTokens } from "../shared/generateRequest.ts"
import type { ClaudeReply, ReplyBlock } from "./answers.ts"
import {
  type Block,
  blocksOf,
  boundSeed,
  claudeInput,
  forcesTool,
  formatOf,
  type MessagesRequest,
  messagesToGenerateRequest,
  sourceOf,
  thinks
} from "./request.ts"
import { answerText, planCalls, thoughtText } from "../shared/simulatedModel.ts"
import { issueSignature } from "../shared/signatures.ts"
import { claudeFacts } from "./models.ts"

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
const citedBlocks = (request: MessagesRequest): ReadonlyArray<ReplyBlock> => {
  const turn = request.messages.findLast(({ role }) => role === "user")
  const turnBlocks = blocksOf(turn?.content).flatMap((block) => [
    block,
    ...(block.type === "tool_result" ? blocksOf(block.content) : [])
  ])
  const documents = turnBlocks.filter((block) => block.type === "document")
  const results = turnBlocks.filter((block) => block.type === "search_result")
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
const searchBlocks = (
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

/** Prompt words that select an answer; Anthropic documents the two long ones for the same purpose. */
const asked = {
  refusal: /demo:refusal|ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL/,
  redacted: /demo:redacted-thinking|ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING/,
  nothing: /demo:empty-answer/
}

const hash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").replace(/[-_]/g, "x").slice(0, 22)

const seedOf = (request: MessagesRequest, model: string): string => `${model} ${JSON.stringify(request.messages)}`

const thinkingBlocks = (request: MessagesRequest, view: GenerateRequest, model: string): ReadonlyArray<ReplyBlock> => {
  if (!thinks(request) || forcesTool(request)) return []
  if (asked.redacted.test(lastUserText(view))) {
    const data = (part: number) => issueSignature("claude", `redacted ${part} ${seedOf(request, model)}`)
    return [
      { type: "redacted_thinking", data: data(0) },
      { type: "redacted_thinking", data: data(1) }
    ]
  }
  const thinking = thoughtText(view).trim()
  const { bindsThinking, hidesThoughts } = claudeFacts(model)
  const display = request.thinking?.display ?? (hidesThoughts ? "omitted" : "summarized")
  const seed = bindsThinking ? boundSeed(request, request.messages.length) : thinking
  const signature = issueSignature("claude", seed)
  return [{ type: "thinking", thinking: display === "omitted" ? "" : thinking, signature }]
}

const callBlocks = (request: MessagesRequest, view: GenerateRequest, model: string): ReadonlyArray<ReplyBlock> => {
  const planned = planCalls(view)
  const calls = request.tool_choice?.disable_parallel_tool_use ? planned.slice(0, 1) : planned
  const seed = seedOf(request, model)
  const caller = claudeFacts(model).detailed ? { caller: { type: "direct" } } : {}
  const blocks = calls.map(({ name, args }, index) => ({
    type: "tool_use",
    id: `toolu_vrtx_01${hash(`${seed} ${index}`)}`,
    name,
    input: args,
    ...caller
  }))
  const first = calls[0]
  // With a free tool choice and without thinking, a text precedes the call (recorded).
  const announces = first !== undefined && !thinks(request) && !forcesTool(request)
  return announces ? [{ type: "text", text: `I'll call ${first.name} for that.` }, ...blocks] : blocks
}

interface Cut {
  readonly text: string
  readonly stopReason: string
  readonly stopSequence: string | null
}

/** Cuts at the first stop sequence, then at the tokens left after thinking; returns the stop reason. */
const cutAtLimits = (text: string, request: MessagesRequest, spent: number): Cut => {
  const stops = (request.stop_sequences ?? []).flatMap((sequence) => {
    const index = text.indexOf(sequence)
    return index < 0 ? [] : [{ sequence, index }]
  })
  const first = stops.reduce<{ sequence: string; index: number } | undefined>(
    (best, next) => (best === undefined || next.index < best.index ? next : best),
    undefined
  )
  const stopped = first === undefined ? text : text.slice(0, first.index)
  const most = Math.max(0, request.max_tokens - spent) * 4
  if (stopped.length > most)
    return {
      text: stopped.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""),
      stopReason: "max_tokens",
      stopSequence: null
    }
  return {
    text: stopped,
    stopReason: first === undefined ? "end_turn" : "stop_sequence",
    stopSequence: first?.sequence ?? null
  }
}

const outputOf = (blocks: ReadonlyArray<ReplyBlock>): number =>
  textTokens(
    blocks
      .map((block) => JSON.stringify(block))
      .join("")
      .replace(/"[a-z_]+":/g, "")
  )

interface Body {
  readonly content: ReadonlyArray<ReplyBlock>
  readonly stopReason: string
  readonly stopSequence: string | null
  readonly searches: number
}

const textBody = (request: MessagesRequest, view: GenerateRequest, model: string, spent: number): Body => {
  const searched = searchBlocks(request, view, claudeFacts(model).detailed)
  const cut = cutAtLimits(answerText(view, "Claude"), request, spent)
  const whole = cut.stopReason === "end_turn" && formatOf(request) === undefined
  const cited = whole ? citedBlocks(request) : []
  const content =
    cited.length > 0
      ? cited
      : whole && searched.length > 0
        ? searched
        : cut.text === ""
          ? []
          : [{ type: "text", text: cut.text }]
  return { content, stopReason: cut.stopReason, stopSequence: cut.stopSequence, searches: content === searched ? 1 : 0 }
}

/** The reply to an accepted request; the same request always gets the same reply. */
export const claudeReply = (request: MessagesRequest, model: string): ClaudeReply => {
  const view = messagesToGenerateRequest(request)
  const input = claudeInput(request)
  const words = lastUserText(view)
  const none = { content: [], stopSequence: null, input, thinkingTokens: 0, searches: 0 }
  if (asked.refusal.test(words)) {
    const explanation = "This request triggered restrictions of the simulated service and was blocked."
    return {
      ...none,
      stopReason: "refusal",
      stopDetails: { type: "refusal", category: "cyber", explanation },
      outputTokens: 5
    }
  }
  if (asked.nothing.test(words)) return { ...none, stopReason: "end_turn", outputTokens: 2 }
  const thoughts = thinkingBlocks(request, view, model)
  const thinkingTokens = thoughts.length === 0 ? 0 : textTokens(thoughtText(view).trim())
  const calls = callBlocks(request, view, model)
  const body: Body =
    calls.length > 0
      ? { content: calls, stopReason: "tool_use", stopSequence: null, searches: 0 }
      : textBody(request, view, model, thinkingTokens)
  return {
    ...body,
    content: [...thoughts, ...body.content],
    input,
    outputTokens: Math.max(1, outputOf(body.content)) + thinkingTokens,
    thinkingTokens
  }
}
