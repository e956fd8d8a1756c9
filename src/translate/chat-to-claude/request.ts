// Translates a chat request into Claude's rawPredict body: messages, tools, thinking, sampling, four cache marks.
// It must not depend on URLs or credentials.
import type * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { type MessagesBody, vertexVersion } from "../../wire/anthropic.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import { argumentsAdjusted, readMessages, type Turn } from "../shared/chat-request/readMessages.ts"
import { readToolChoice, readTools } from "../shared/chat-request/readTools.ts"
import { historyAdjusted, repairing } from "../shared/chat-request/repairHistory.ts"
import { claudeNames, type ToolNames, toolNamesOf } from "../shared/chat-request/toolCalls.ts"
import { betaHeader, betasOfFields, bodyBetas } from "../shared/claude.ts"
import type { TranslateContext, Translated } from "../Translator.ts"
import {
  checkAnswerKinds,
  claudeSampling,
  claudeStopSequences,
  type ClaudeThinking,
  claudeThinking,
  withoutThinking
} from "./config.ts"
import { type ClaudeFacts, claudeFacts, prefillAdjusted } from "./facts.ts"
import { type Accepted, type ClaudeMessages, messagesToClaude } from "./messages.ts"
import { ignoredClaudeParams } from "./params.ts"
import { claudeTools, jsonOutputOf, type ToolPlan } from "./tools.ts"

const translate = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<MessagesBody>, RequestFault> => {
  const facts = claudeFacts(context.target.record)
  const names = toolNamesOf(request, claudeNames)
  const params = new ParamReader(request)
  const turns = params.take(readMessages(request.messages, defaultLimits), [])
  const plan = planTools(params, turns, names, facts)
  const talk = planThinking(params, turns, { context, names, facts, forced: plan.forced })
  const { thinking, messages } = talk
  const sampling = claudeSampling(params, facts, thinking.mode !== "off")
  const stops = claudeStopSequences(params.stop())
  const answersUnused = checkAnswerKinds(params)
  const prompt = withFourMarks({
    ...plan.body,
    ...(messages.system.length === 0 ? {} : { system: messages.system }),
    messages: messages.messages
  })
  const betas = betaHeader(context.betas, bodyBetas(request.anthropic_beta), betasOfFields(prompt))
  const headers = params.take(betas, {})
  const user = request.user ?? ""
  const body: MessagesBody = {
    anthropic_version: vertexVersion,
    max_tokens: thinking.maxTokens,
    ...prompt,
    ...thinking.fields,
    ...outputConfig(thinking, plan),
    ...sampling.fields,
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...(user === "" ? {} : { metadata: { user_id: user } }),
    ...(request.stream === true ? { stream: true } : {})
  }
  const unused = [...talk.unused, ...plan.unused, ...sampling.unused, ...answersUnused]
  const adjusted = [
    ...argumentsAdjusted(turns),
    ...(messages.isBlank ? [historyAdjusted("blank")] : []),
    ...(messages.continued ? [prefillAdjusted(context.target.modelId, `messages[${lastAssistant(request)}]`)] : []),
    ...thinking.adjusted,
    ...plan.adjusted,
    ...params.adjusted
  ]
  return params.result({
    body,
    headers,
    ignored: ignoredClaudeParams(request, unused),
    ...(adjusted.length === 0 ? {} : { adjusted })
  })
}

/** Translates a request or refuses it; parameters without an upstream equivalent are listed in `ignored`. */
export const chatToClaudeRequest = repairing(translate)

/** Effort and the schema of the answer share one field. */
const outputConfig = ({ fields }: ClaudeThinking, { format }: ToolPlan): Pick<MessagesBody, "output_config"> =>
  format === undefined
    ? {}
    : { output_config: { ...fields.output_config, format: { type: "json_schema", schema: format } } }

const lastAssistant = ({ messages }: ChatRequest): number => messages.findLastIndex(({ role }) => role === "assistant")

const planTools = (params: ParamReader, turns: ReadonlyArray<Turn>, names: ToolNames, facts: ClaudeFacts): ToolPlan => {
  const { request } = params
  const options = {
    asked: params.take(readTools(request, defaultLimits), []),
    choice: params.take(readToolChoice(request)),
    output: params.take(jsonOutputOf(request, facts)),
    parallel: request.parallel_tool_calls !== false,
    forcedTools: facts.forcedTools,
    searches: facts.searches,
    choiceParam:
      (request.tool_choice ?? undefined) === undefined ? ("function_call" as const) : ("tool_choice" as const),
    called: [
      ...new Set(
        turns.flatMap((turn) => (turn._tag === "Assistant" ? turn.calls.map((call) => names.mangle(call.name)) : []))
      )
    ]
  }
  const plan = claudeTools(params, options, names)
  return { ...plan, unused: [...plan.unused, ...losingParams(request)] }
}

/** The newer parameters take precedence over the older ones, and searches have no size. */
const losingParams = (request: ChatRequest): ReadonlyArray<string> => [
  ...Object.keys(request.web_search_options ?? {}).flatMap((name) =>
    name === "user_location" ? [] : [`web_search_options.${name}`]
  ),
  ...((request.tools ?? undefined) === undefined ? [] : ["functions"]),
  ...((request.tool_choice ?? undefined) === undefined ? [] : ["function_call"])
]

interface Around {
  readonly context: TranslateContext
  readonly names: ToolNames
  readonly facts: ClaudeFacts
  readonly forced: boolean
}

interface Talk {
  readonly thinking: ClaudeThinking
  readonly messages: ClaudeMessages
  readonly unused: ReadonlyArray<string>
}

/**
 * Thinking and history depend on each other. With a budget, a continued turn must start with its thinking. If that
 * thinking is lost, or the turn is a prefill, the request goes without thinking. A forced call excludes a budget as
 * well. Source: Anthropic, extended thinking, "Extended thinking with tool use" and "Feature compatibility".
 */
const planThinking = (
  params: ParamReader,
  turns: ReadonlyArray<Turn>,
  { context, names, facts, forced }: Around
): Talk => {
  const { request } = params
  const { maxTokens = facts.maxTokens, unused } = params.maxTokens(facts.most)
  const asked = claudeThinking(params, facts, maxTokens)
  const excluded = forced && asked.mode === "budget"
  const wanted = excluded ? withoutThinking(request, asked, maxTokens) : asked
  const talkWith = (thinking: ClaudeThinking): Talk => ({
    thinking,
    messages: messagesToClaude(params, turns, context, names, accepted(thinking, facts)),
    unused: [...thinking.unused, ...unused]
  })
  const talk = talkWith(wanted)
  return wanted.mode === "budget" && talk.messages.thinkingLost
    ? talkWith(withoutThinking(request, wanted, maxTokens))
    : talk
}

const accepted = ({ mode }: ClaudeThinking, { prefill, thinking }: ClaudeFacts): Accepted => ({
  thinking: thinking === "none" ? "none" : mode === "off" ? "withCalls" : "all",
  prefill
})

// Cache marks: four at most; later marks are removed

/** Source: Anthropic, prompt caching, "You can define up to 4 cache breakpoints". */
const most = 4

type Marked = Pick<MessagesBody, "tools" | "tool_choice" | "system" | "messages">

/** Returns the same fields for four marks or fewer. Marks count in prompt order: tools, system, messages. */
const withFourMarks = (fields: Marked): Marked => {
  let marks = countIn(fields.tools ?? []) + countIn(fields.system ?? [])
  for (const message of fields.messages) marks += countIn(message.content)
  if (marks <= most) return fields
  const left = { marks: most }
  const keep = (blocks: ReadonlyArray<JsonObject>) => blocks.map((block) => withinLimit(block, left))
  return {
    ...fields,
    ...(fields.tools === undefined ? {} : { tools: keep(fields.tools) }),
    ...(fields.system === undefined ? {} : { system: keep(fields.system) }),
    messages: fields.messages.map((message) => ({ ...message, content: keep(message.content) }))
  }
}

/** Tool results contain blocks of their own. */
const inner = (block: JsonObject): ReadonlyArray<JsonObject> =>
  block["type"] === "tool_result" && Array.isArray(block["content"]) ? block["content"].filter(isJsonObject) : []

const countIn = (blocks: ReadonlyArray<JsonObject>): number => {
  let marks = 0
  for (const block of blocks) marks += (block["cache_control"] === undefined ? 0 : 1) + countIn(inner(block))
  return marks
}

const withinLimit = (block: JsonObject, left: { marks: number }): JsonObject => {
  const blocks = inner(block)
  const content: { content?: Json } =
    blocks.length === 0 ? {} : { content: blocks.map((each) => withinLimit(each, left)) }
  if (block["cache_control"] === undefined) return { ...block, ...content }
  if (left.marks-- > 0) return { ...block, ...content }
  const { cache_control: _mark, ...bare } = block
  return { ...bare, ...content }
}
