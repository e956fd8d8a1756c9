// Checks a well-formed messages body against the semantic rules of Vertex AI; each refusal has Anthropic's wording.
// It must not depend on HTTP or replies.
// Source: recorded and publicly reported refusals of Anthropic's API and of Vertex AI.

import { issueSignature, signatureOwner } from "../shared/signatures.ts"
import { claudeFacts, type ClaudeFacts, modelInAnswers } from "./models.ts"
import { blocksOf, boundSeed, claudeTokens, forcesTool, formatOf, sourceOf, thinks, turnsOf } from "./request.ts"
import type { Block, MessagesRequest, PlacedBlock, Source, Turn } from "./request.ts"

export interface ClaudeContext {
  readonly model: string
  readonly betas: ReadonlyArray<string>
  /** Accepts signatures of other issuers, so that recorded conversations can be replayed. */
  readonly acceptForeignSignatures: boolean
}

type Rule = (request: MessagesRequest, context: ClaudeContext, facts: ClaudeFacts) => string | undefined

/** Every block with its path; blocks inside a tool result or document follow that block. */
const blocksBelow = (content: string | ReadonlyArray<Block> | undefined, path: string): ReadonlyArray<PlacedBlock> =>
  blocksOf(content).flatMap((block, index) => {
    const at = `${path}.${index}`
    const inner =
      block.type === "tool_result" || block.type === "search_result" ? block.content : sourceOf(block)?.content
    return [
      { block, path: at },
      ...(typeof inner === "object" ? blocksBelow(inner, `${at}.${block.type}.content`) : [])
    ]
  })

const blocks = (request: MessagesRequest): ReadonlyArray<PlacedBlock> =>
  request.messages.flatMap(({ content }, index) => blocksBelow(content, `messages.${index}.content`))

const ofType = (turn: Turn | undefined, type: string): ReadonlyArray<PlacedBlock> =>
  (turn?.blocks ?? []).filter(({ block }) => block.type === type)

const docs = "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"

const messagesPresent: Rule = ({ messages }) => {
  if (messages.length === 0) return "messages: at least one message is required"
  const last = messages.length - 1
  const empty = messages.findIndex(
    ({ role, content }, index) => content?.length === 0 && !(index === last && role === "assistant")
  )
  return empty < 0
    ? undefined
    : `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`
}

const texts: Rule = (request) => {
  const blank = blocks(request).some(({ block }) => block.type === "text" && (block.text ?? "").trim() === "")
  if (blank) return "messages: text content blocks must contain non-whitespace text"
  const last = request.messages.at(-1)
  const end = last?.role === "assistant" ? blocksOf(last.content).at(-1)?.text : undefined
  return end !== undefined && end !== end.trimEnd()
    ? "messages: final assistant content cannot end with trailing whitespace"
    : undefined
}

const prefill: Rule = ({ messages }, _context, facts) =>
  messages.at(-1)?.role === "assistant" && !facts.prefill
    ? "This model does not support assistant message prefill. The conversation must end with a user message."
    : undefined

const callsAnswered: Rule = ({ messages }) => {
  const turns = turnsOf(messages)
  for (const [index, turn] of turns.entries()) {
    const results = new Set(ofType(turns[index + 1], "tool_result").map(({ block }) => block.tool_use_id))
    const open = ofType(turn, "tool_use").flatMap(({ block }) => (results.has(block.id) ? [] : [block.id]))
    if (turn.role === "assistant" && open.length > 0) {
      return (
        `messages.${turn.last}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. ` +
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
      )
    }
    const asked = new Set(ofType(turns[index - 1], "tool_use").map(({ block }) => block.id))
    const stray = ofType(turn, "tool_result").find(({ block }) => !asked.has(block.tool_use_id))
    if (stray !== undefined) {
      return (
        `${stray.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.block.tool_use_id}. ` +
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
      )
    }
  }
  return undefined
}

const callIds: Rule = ({ messages }) => {
  const calls = turnsOf(messages).flatMap((turn) => ofType(turn, "tool_use"))
  if (new Set(calls.map(({ block }) => block.id)).size < calls.length) return "messages: `tool_use` ids must be unique"
  const odd = calls.find(({ block: { input } }) => typeof input !== "object" || input === null || Array.isArray(input))
  return odd === undefined ? undefined : `${odd.path}.tool_use.input: Input should be a valid dictionary`
}

const historyTools: Rule = (request, _context, facts) => {
  const usesTools = blocks(request).some(({ block }) => block.type === "tool_use" || block.type === "tool_result")
  return usesTools && facts.needsTools && request.tools === undefined
    ? "Requests which include `tool_use` or `tool_result` blocks must define tools"
    : undefined
}

/** Tools that run on Anthropic's servers only, not on Vertex AI. */
const foreignTool = /^(code_execution|web_fetch|mcp_toolset|advisor|browser_toolset|computer_toolset)/

const vertexTags =
  "'bash_20250124', 'custom', 'memory_20250818', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728', " +
  "'tool_search_tool_bm25_20251119', 'tool_search_tool_regex_20251119', 'web_search_20250305'"

const tools: Rule = ({ tools: offered = [], tool_choice: choice }) => {
  const foreign = offered.findIndex(({ type }) => foreignTool.test(type ?? ""))
  if (foreign >= 0) {
    return `tools.${foreign}: Input tag '${offered[foreign]?.type}' found using 'type' does not match any of the expected tags: ${vertexTags}`
  }
  const names = offered.flatMap(({ name }) => name ?? [])
  if (new Set(names).size < names.length) return "tools: Tool names must be unique."
  const mixed = offered.findIndex(
    ({ input_schema: schema }) =>
      schema?.anyOf !== undefined || schema?.oneOf !== undefined || schema?.allOf !== undefined
  )
  if (mixed >= 0)
    return `tools.${mixed}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
  if (choice !== undefined && choice.type !== "none" && offered.length === 0)
    return "tool_choice: tool_choice may only be specified while providing tools"
  return choice?.type === "tool" && !names.includes(choice.name ?? "")
    ? `Tool '${choice.name}' not found in provided tools`
    : undefined
}

/** Models of 5.2 and 5.5 have a newer toolset for computers. */
const oldComputers: Rule = ({ tools: offered = [] }, { model }, { generation }) => {
  const old = offered.find(({ type }) => /^computer_\d/.test(type ?? ""))?.type
  return old !== undefined && old !== null && generation >= 5.2
    ? `'${modelInAnswers(model)}' does not support tool types: ${old}.`
    : undefined
}

const tokenLimit: Rule = ({ max_tokens: asked }, { model, betas }, facts) => {
  const most = betas.includes("output-128k-2025-02-19") && model.startsWith("claude-3-7-") ? 128_000 : facts.maxTokens
  if (asked < 1) return "max_tokens: Input should be greater than or equal to 1"
  return asked > most
    ? `max_tokens: ${asked} > ${most}, which is the maximum allowed number of output tokens for ${modelInAnswers(model)}`
    : undefined
}

const adaptiveInstead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'

const thinkingOff = (type: "disabled" | "between_tools", { off }: ClaudeFacts): string | undefined => {
  if (type === off || (off === "disabled" && type === "disabled")) return undefined
  if (type === "disabled")
    return off === "never"
      ? `"thinking.type.disabled" is not supported for this model. ${adaptiveInstead}`
      : 'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}.'
  return '"thinking.type.between_tools" is not supported for this model.'
}

const thinkingKind: Rule = ({ output_config: output, thinking }, _context, facts) => {
  if (thinking?.type === "enabled" && facts.thinking === "adaptive")
    return `"thinking.type.enabled" is not supported for this model. ${adaptiveInstead}`
  if (thinking?.type === "adaptive" && (facts.thinking === "budget" || facts.thinking === "none"))
    return "adaptive thinking is not supported on this model"
  if (thinking?.type === "enabled" && facts.thinking === "none")
    return "thinking: This model does not support thinking."
  if (thinking?.type !== "disabled" && thinking?.type !== "between_tools") return undefined
  const effort = output?.effort ?? ""
  return (
    thinkingOff(thinking.type, facts) ??
    (facts.offLimitsEffort && (effort === "xhigh" || effort === "max")
      ? `output_config.effort '${effort}' is not supported when thinking is disabled on this model. ` +
        "Use effort 'high' or below, or enable thinking."
      : undefined)
  )
}

const forcedChoice: Rule = (request, _context, facts) =>
  forcesTool(request) && !facts.forcedTool
    ? 'tool_choice: type "tool" and "any" are not supported for this model.'
    : undefined

const thinkingBudget: Rule = ({ thinking, max_tokens: most, tools: offered = [] }, { betas }) => {
  const interleaved = offered.length > 0 && betas.includes("interleaved-thinking-2025-05-14")
  return thinking?.type === "enabled" && (thinking.budget_tokens ?? 0) >= most && !interleaved
    ? `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. ${docs}#max-tokens-and-context-window-size`
    : undefined
}

const thinkingBeside: Rule = (request) => {
  if (!thinks(request)) return undefined
  const mode = "when thinking is enabled or in adaptive mode"
  if (request.temperature !== undefined && request.temperature !== 1)
    return `\`temperature\` may only be set to 1 ${mode}. ${docs}`
  if (request.top_p !== undefined && request.top_p >= 0 && request.top_p < 0.95) {
    return `\`top_p\` must be greater than or equal to 0.95 or unset ${mode}. ${docs}`
  }
  if (request.top_k !== undefined && request.top_k > 0) return `\`top_k\` must be unset ${mode}. ${docs}`
  // A forced call switches adaptive thinking off without an error (recorded).
  return request.thinking?.type === "enabled" && forcesTool(request)
    ? "Thinking may not be enabled when tool_choice forces tool use."
    : undefined
}

const thinkingFirst: Rule = ({ messages, thinking }) => {
  const turns = turnsOf(messages)
  const index = turns.findLastIndex(({ role }) => role === "assistant")
  // Required only while calls are open or the last message is continued; finished turns may omit their thoughts.
  const open = index === turns.length - 1 || ofType(turns[index + 1], "tool_result").length > 0
  const first = turns[index]?.blocks[0]
  const firstType = first?.block.type
  if (
    thinking?.type !== "enabled" ||
    !open ||
    firstType === undefined ||
    firstType === "thinking" ||
    firstType === "redacted_thinking"
  )
    return undefined
  return (
    `${first?.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${firstType}\`. When \`thinking\` is enabled, ` +
    "a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). " +
    `We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. ${docs}`
  )
}

const bound: Rule = (request) => {
  for (const [index, { content }] of request.messages.entries()) {
    const signature = issueSignature("claude", boundSeed(request, index))
    const at = blocksOf(content).findIndex((block) => block.type === "thinking" && block.signature !== signature)
    if (at >= 0)
      return `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block. The block is bound to the conversation it was made in.`
  }
  return undefined
}

const signatures: Rule = (request, context, facts) => {
  if (context.acceptForeignSignatures) return undefined
  if (facts.bindsThinking) return bound(request, context, facts)
  const turns = turnsOf(request.messages)
  const latest = turns.findLast(({ role }) => role === "assistant")
  for (const {
    block: { type, signature = "", data = "" },
    path
  } of turns.flatMap((turn) => turn.blocks)) {
    if (type === "redacted_thinking" && signatureOwner(data) !== "claude")
      return `${path}: Invalid \`data\` in \`redacted_thinking\` block`
    if (type === "thinking" && signatureOwner(signature) !== "claude")
      return `${path}: Invalid \`signature\` in \`thinking\` block`
  }
  const changed = ofType(latest, "thinking").find(
    ({ block: { thinking = "", signature } }) => thinking !== "" && issueSignature("claude", thinking) !== signature
  )
  return changed === undefined
    ? undefined
    : `${changed.path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
        "These blocks must remain as they were in the original response."
}

const sampling: Rule = ({ temperature, top_p: topP, top_k: topK }, _context, facts) => {
  if (facts.sampling === "none") {
    const set = [
      ["temperature", temperature !== undefined && temperature !== 1],
      ["top_p", topP !== undefined && topP >= 0 && topP < 1],
      ["top_k", topK !== undefined && topK > 0]
    ].find(([, changed]) => changed)
    return set === undefined ? undefined : `\`${set[0]}\` is deprecated for this model.`
  }
  return facts.sampling === "one" && temperature !== undefined && topP !== undefined && topP >= 0
    ? "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    : undefined
}

const stops: Rule = ({ stop_sequences: sequences = [] }) =>
  sequences.some((sequence) => sequence.trim() === "")
    ? "stop_sequences: each stop sequence must contain non-whitespace"
    : undefined

const refusedSource = (source: Source): string | undefined => {
  if (source.type === "url") return "URL sources are not supported"
  if (source.type === "file") return "File sources are not supported"
  const broken = source.type === "base64" && (source.data === "" || !/^[A-Za-z0-9+/\s]+={0,2}$/.test(source.data ?? ""))
  return broken ? "Invalid base64 data" : undefined
}

/** Vertex AI reports the path of an image for every kind of block (publicly reported for documents). */
const sources: Rule = (request) => {
  for (const { block, path } of blocks(request)) {
    const source = sourceOf(block)
    const refused = source === undefined ? undefined : refusedSource(source)
    if (refused !== undefined) return `${path}.image.source.base64.data: ${refused}`
  }
  return undefined
}

const breakpoints: Rule = (request) => {
  const all = [
    ...blocks(request).map(({ block }) => block),
    ...blocksBelow(request.system, "system").map(({ block }) => block),
    ...(request.tools ?? []),
    request
  ]
  const marks = all.filter((one) => one.cache_control).length
  return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : undefined
}

const limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"]

/** The refusal of a schema that the grammar compiler of structured outputs does not support. */
const refusedSchema = (schema: unknown): string | undefined => {
  if (Array.isArray(schema)) return schema.map(refusedSchema).find((message) => message !== undefined)
  if (typeof schema !== "object" || schema === null) return undefined
  const members = schema as Record<string, unknown> // Not null, as checked above.
  const type = typeof members["type"] === "string" ? members["type"] : ""
  if (type === "object" && members["additionalProperties"] !== false) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false"
  }
  const limit = limits.find((word) => members[word] !== undefined)
  if (limit !== undefined && type !== "") return `For '${type}' type, property '${limit}' is not supported`
  const named = Object.entries(members).flatMap(([key, inner]) =>
    ["properties", "$defs", "definitions"].includes(key) && typeof inner === "object" && inner !== null
      ? Object.values(inner)
      : ["items", "anyOf", "allOf"].includes(key)
        ? [inner]
        : []
  )
  return refusedSchema(named)
}

const outputConfig: Rule = (request, { model }, facts) => {
  const effort = request.output_config?.effort
  if (effort && facts.efforts.length === 0) return "This model does not support the effort parameter."
  if (effort && !facts.efforts.includes(effort))
    return `output_config.effort '${effort}' is not supported for this model.`
  const format = formatOf(request)
  if (format === undefined) return undefined
  if (!facts.structured) return `'${modelInAnswers(model)}' does not support output format.`
  if (request.messages.at(-1)?.role === "assistant")
    return "Pre-filling the assistant response is not supported when using output_format."
  const refused = refusedSchema(format.schema)
  if (refused === undefined) return undefined
  return `${request.output_format ? "output_format.schema" : "output_config.format.schema"}: ${refused}`
}

const promptSize: Rule = (request, _context, facts) => {
  const tokens = claudeTokens(request)
  if (tokens > facts.contextTokens) return `prompt is too long: ${tokens} tokens > ${facts.contextTokens} maximum`
  return tokens + request.max_tokens > facts.contextTokens
    ? `input length and \`max_tokens\` exceed context limit: ${tokens} + ${request.max_tokens} > ${facts.contextTokens}, ` +
        "decrease input length or `max_tokens` and try again"
    : undefined
}

const conversationRules: ReadonlyArray<Rule> = [
  messagesPresent,
  texts,
  callIds,
  callsAnswered,
  sources,
  breakpoints,
  tools,
  historyTools,
  forcedChoice,
  oldComputers,
  thinkingKind,
  outputConfig
]
const samplingRules: ReadonlyArray<Rule> = [
  tokenLimit,
  thinkingBudget,
  thinkingBeside,
  sampling,
  stops,
  prefill,
  thinkingFirst,
  signatures,
  promptSize
]

const firstOf = (rules: ReadonlyArray<Rule>, request: MessagesRequest, context: ClaudeContext): string | undefined => {
  const facts = claudeFacts(context.model)
  for (const rule of rules) {
    const message = rule(request, context, facts)
    if (message !== undefined) return message
  }
  return undefined
}

/** The first refusal of a messages body; `undefined` if the service accepts it. */
export const checkClaudeRules = (request: MessagesRequest, context: ClaudeContext): string | undefined =>
  firstOf([...conversationRules, ...samplingRules], request, context)

/** The same for a body whose tokens are counted: without the rules on sampling and answer length. */
export const checkCountRules = (
  request: Omit<MessagesRequest, "max_tokens">,
  context: ClaudeContext
): string | undefined => firstOf([...conversationRules, signatures], { ...request, max_tokens: 0 }, context)
