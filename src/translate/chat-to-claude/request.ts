// A chat request as the body of rawPredict: every part is translated elsewhere and put together here.
// It must not know URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import { type MessagesBody, vertexVersion } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readMaxTokens } from "../shared/chat-request/amounts.ts"
import { betaHeader, betasOf } from "../shared/claude/betas.ts"
import { readMessages, type Turn } from "../shared/chat-request/readMessages.ts"
import { readToolChoice, readTools } from "../shared/chat-request/readTools.ts"
import { claudeNames, type ToolNames, toolNamesOf } from "../shared/chat-request/toolNames.ts"
import type { Translated, TranslateContext } from "../Translator.ts"
import { withFourMarks } from "./cacheMarks.ts"
import { type ClaudeFacts, claudeFacts } from "./claudeFacts.ts"
import { jsonOutputOf } from "./jsonOutput.ts"
import { type ClaudeMessages, type KeptThinking, messagesToClaude } from "./messages.ts"
import { ignoredParams } from "./params.ts"
import { checkAnswers, sampling, stopSequences } from "./sampling.ts"
import { type ClaudeThinking, claudeThinking, withoutThinking } from "./thinking.ts"
import { claudeTools, type ToolPlan } from "./tools.ts"

type Read<A> = Result.Result<A, RequestFault>

/** Translates a request, or says what is wrong with it; parameters without a place upstream are named in `ignored`. */
export const chatToClaudeRequest = (
  request: ChatRequest,
  context: TranslateContext
): Read<Translated<MessagesBody>> => {
  const facts = claudeFacts(context.target.modelId)
  const names = toolNamesOf(request, claudeNames)
  const turns = readMessages(request.messages, defaultLimits)
  if (Result.isFailure(turns)) return Result.fail(turns.failure)
  const plan = planTools(request, turns.success, names)
  if (Result.isFailure(plan)) return Result.fail(plan.failure)
  const talk = thoughtThrough(request, turns.success, { context, names, facts, forced: plan.success.forced })
  if (Result.isFailure(talk)) return Result.fail(talk.failure)
  const { thinking, messages } = talk.success
  const chosen = sampling(request, facts, thinking.mode !== "off")
  if (Result.isFailure(chosen)) return Result.fail(chosen.failure)
  const stops = stopSequences(request.stop, defaultLimits.stopSequences)
  if (Result.isFailure(stops)) return Result.fail(stops.failure)
  const answers = checkAnswers(request)
  if (Result.isFailure(answers)) return Result.fail(answers.failure)
  const headers = betaHeader(context.betas, betasOf(request.anthropic_beta))
  if (Result.isFailure(headers)) return Result.fail(headers.failure)
  const user = request.user ?? ""
  const body: MessagesBody = {
    anthropic_version: vertexVersion,
    max_tokens: thinking.maxTokens,
    ...withFourMarks({
      ...plan.success.body,
      ...(messages.system.length === 0 ? {} : { system: messages.system }),
      messages: messages.messages
    }),
    ...thinking.fields,
    ...chosen.success.fields,
    ...stops.success.fields,
    ...(user === "" ? {} : { metadata: { user_id: user } }),
    ...(request.stream === true ? { stream: true } : {})
  }
  const unused = [
    ...talk.success.unused,
    ...plan.success.unused,
    ...chosen.success.unused,
    ...stops.success.unused,
    ...answers.success
  ]
  return Result.succeed({ body, headers: headers.success, ignored: ignoredParams(request, unused) })
}

const planTools = (request: ChatRequest, turns: ReadonlyArray<Turn>, names: ToolNames): Read<ToolPlan> => {
  const asked = readTools(request, defaultLimits)
  if (Result.isFailure(asked)) return Result.fail(asked.failure)
  const choice = readToolChoice(request)
  if (Result.isFailure(choice)) return Result.fail(choice.failure)
  const output = jsonOutputOf(request)
  if (Result.isFailure(output)) return Result.fail(output.failure)
  const wish = {
    asked: asked.success,
    choice: choice.success,
    output: output.success,
    parallel: request.parallel_tool_calls !== false,
    called: [
      ...new Set(
        turns.flatMap((turn) => (turn._tag === "Assistant" ? turn.calls.map((call) => names.mangle(call.name)) : []))
      )
    ]
  }
  return Result.map(claudeTools(wish, names), (plan) => ({
    ...plan,
    unused: [...plan.unused, ...losingWords(request)]
  }))
}

/** The newer words win over the older ones. */
const losingWords = (request: ChatRequest): ReadonlyArray<string> => [
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
 * Thinking and history depend on each other: a budget demands that a turn which goes on begins with its thinking, so where
 * that is lost, or was never there in a prefill, it goes on without. A forced call excludes a budget as well.
 * Source: Anthropic, extended thinking, "Extended thinking with tool use" and "Feature compatibility".
 */
const thoughtThrough = (
  request: ChatRequest,
  turns: ReadonlyArray<Turn>,
  { context, names, facts, forced }: Around
): Read<Talk> => {
  const length = readMaxTokens(request)
  if (Result.isFailure(length)) return Result.fail(length.failure)
  const plain = length.success.maxTokens ?? facts.maxTokens
  const asked = claudeThinking(request, facts, plain)
  if (Result.isFailure(asked)) return Result.fail(asked.failure)
  const excluded = forced && asked.success.mode === "budget"
  const wanted = excluded ? withoutThinking(request, asked.success, plain) : asked.success
  return Result.flatMap(messagesToClaude(turns, context, names, keptWith(wanted, facts)), (messages) => {
    const settle = (thinking: ClaudeThinking, settled: ClaudeMessages): Talk => ({
      thinking,
      messages: settled,
      unused: [...thinking.unused, ...length.success.unused]
    })
    if (wanted.mode !== "budget" || !messages.thinkingLost) return Result.succeed(settle(wanted, messages))
    const without = withoutThinking(request, wanted, plain)
    return Result.map(messagesToClaude(turns, context, names, keptWith(without, facts)), (again) =>
      settle(without, again)
    )
  })
}

const keptWith = ({ mode }: ClaudeThinking, facts: ClaudeFacts): KeptThinking => {
  if (facts.thinking === "none") return "none"
  return mode === "off" ? "withCalls" : "all"
}
