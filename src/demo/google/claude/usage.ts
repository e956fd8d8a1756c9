// Counts the tokens of a messages body: the prompt, and the parts that a prompt cache writes or reads.
// It must not depend on replies or framing.

import { promptTokens, textTokens, totalOf } from "../shared/generateRequest.ts"
import {
  type Block,
  blocksOf,
  type CacheControl,
  type MessagesRequest,
  messagesToGenerateRequest,
  sourceOf
} from "./request.ts"

type Prompt = Omit<MessagesRequest, "max_tokens">

/** Tokens of messages, system prompt and tools; a PDF adds 1500 tokens. */
export const claudeTokens = (request: Prompt): number => {
  const documents = request.messages
    .flatMap(({ content }) => blocksOf(content))
    .filter((block) => sourceOf(block)?.media_type === "application/pdf")
  const signed = request.messages
    .flatMap(({ content }) => blocksOf(content))
    .reduce((sum, block) => sum + textTokens(block.thinking ?? ""), 0)
  return 6 + totalOf(promptTokens(messagesToGenerateRequest(request))) + documents.length * 1500 + signed
}

export interface ClaudeInput {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number }
}

const breakpointOf = (block: Block | undefined): CacheControl | undefined => block?.cache_control ?? undefined

const lastBreakpoint = (blocks: ReadonlyArray<Block>): number =>
  blocks.findLastIndex((block) => breakpointOf(block) !== undefined)

/** The prompt up to its last breakpoint, in the order of the cache: tools, system, messages. */
const cachedPrompt = (request: Prompt): { readonly prompt: Prompt; readonly control: CacheControl } | undefined => {
  if (request.cache_control) return { prompt: request, control: request.cache_control }
  const { messages, system, tools } = request
  const rest = { ...(tools === undefined ? {} : { tools }), ...(system === undefined ? {} : { system }) }
  const index = messages.findLastIndex(({ content }) => lastBreakpoint(blocksOf(content)) >= 0)
  const message = messages[index]
  if (message !== undefined) {
    const contentBlocks = blocksOf(message.content)
    const at = lastBreakpoint(contentBlocks)
    const prompt = {
      ...rest,
      messages: [...messages.slice(0, index), { ...message, content: contentBlocks.slice(0, at + 1) }]
    }
    return { prompt, control: breakpointOf(contentBlocks[at]) ?? { type: "ephemeral" } }
  }
  const blocks = blocksOf(system)
  const inSystem = breakpointOf(blocks[lastBreakpoint(blocks)])
  if (inSystem !== undefined) return { prompt: { ...rest, messages: [] }, control: inSystem }
  const inTools = tools?.findLast((tool) => tool.cache_control)?.cache_control ?? undefined
  return inTools === undefined || tools === undefined
    ? undefined
    : { prompt: { tools, messages: [] }, control: inTools }
}

/** Input counts: the first turn writes the cache, later turns read it. */
export const claudeInput = (request: Prompt): ClaudeInput => {
  const whole = claudeTokens(request)
  const cached = cachedPrompt(request)
  const prefix = cached === undefined ? 0 : Math.min(whole, claudeTokens(cached.prompt))
  const goesOn = request.messages.some(({ role }) => role === "assistant")
  const written = goesOn ? 0 : prefix
  const hour = cached?.control.ttl === "1h"
  return {
    input_tokens: whole - prefix,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: prefix - written,
    cache_creation: { ephemeral_5m_input_tokens: hour ? 0 : written, ephemeral_1h_input_tokens: hour ? written : 0 }
  }
}
