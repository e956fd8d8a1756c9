// Translator pair: chat completions to predict, for self-deployed models that take a prompt.
// It must not depend on HTTP, URLs or credentials; a stream has one event, the whole answer.
import * as Result from "effect/Result"
import { type RequestFault, UnsupportedParameter } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { type Reader, reading } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { PredictReply, type PredictRequest } from "../../wire/google.ts"
import { hasShape } from "../../wire/hasShape.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion, Delta, FinishReason, Usage } from "../../wire/openai/ChatReply.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import { readMessages, type TurnCall } from "../shared/chat-request/readMessages.ts"
import { formatWords, readFormat } from "../shared/chat-request/readOptions.ts"
import type { TurnPart } from "../shared/chat-request/readParts.ts"
import { repairHistory } from "../shared/chat-request/repairHistory.ts"
import { buildChunk, buildCompletion, buildUsageChunk } from "../shared/reply/completion.ts"
import { unreadableEvent } from "../shared/reply/upstreamError.ts"
import { failureFromOpenAi, openAiFailureInside } from "../shared/reply/upstreamFailures.ts"
import {
  type Fold,
  type StreamFailed,
  streamFailed,
  type TranslateContext,
  type Translated,
  type Translator
} from "../Translator.ts"
import { ignoredPredictChatParams } from "./params.ts"

/** Some servers read parameters inside the instance, others in `parameters`: the body has them in both places. */
const chatToPredictRequest = (request: ChatRequest): Result.Result<Translated<PredictRequest>, RequestFault> => {
  const params = new ParamReader(request)
  for (const param of ["tools", "functions"] as const)
    if ((request[param]?.length ?? 0) > 0) refuseInPrompt(params, param, "it knows no tools")
  const format = params.take(readFormat(request.response_format))
  const { parameters, unused } = parametersOf(params)
  const prompt = renderPrompt(params, request, format === undefined ? undefined : formatWords(format))
  return params.result({
    body: {
      instances: [{ prompt, ...parameters }],
      ...(Object.keys(parameters).length === 0 ? {} : { parameters })
    },
    headers: {},
    ignored: ignoredPredictChatParams(request, unused),
    ...(params.adjusted.length === 0 ? {} : { adjusted: params.adjusted })
  })
}

const mostTopK = 2 ** 31 - 1

/** One answer is given, whatever was asked for. */
const parametersOf = (
  params: ParamReader
): { readonly parameters: JsonObject; readonly unused: ReadonlyArray<string> } => {
  const { maxTokens, unused } = params.maxTokens()
  params.whole("n", 1, 1)
  const stop = params.stop()
  const asked = {
    max_tokens: maxTokens,
    temperature: params.finite("temperature", 0, 2),
    top_p: params.finite("top_p", 0, 1),
    top_k: params.topK(mostTopK),
    stop: stop.length === 0 ? undefined : typeof params.request.stop === "string" ? params.request.stop : stop,
    seed: params.longSeed()
  }
  return {
    parameters: Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined && value !== null)),
    unused: [...unused, ...(asked.top_k === undefined ? ["top_k"] : [])]
  }
}

// The prompt

/** Refuses content that a prompt cannot express, at its path. */
const refuseInPrompt = (reader: Reader, param: string, what: string): undefined =>
  reader.refuse(new UnsupportedParameter({ param, message: `This endpoint takes a prompt: ${what}.` }))

const roles = { System: "system", User: "user", Assistant: "assistant" } as const

/**
 * Writes lines of `role: text`, system messages first, `last` the last of them; the last line is an open assistant line for the model to
 * continue.
 */
const renderPrompt = (reader: Reader, request: ChatRequest, last?: string): string => {
  const turns = reader.take(readMessages(repairHistory(request.messages), defaultLimits), [])
  const system: Array<string> = []
  const talk: Array<string> = []
  for (const turn of turns) {
    const media = turn._tag === "Assistant" ? undefined : turn.parts.find((part) => part._tag === "Media")
    if (media?._tag === "Media") refuseInPrompt(reader, media.source.path, "it sees text only")
    const text = textOf(turn.parts)
    if (text !== "") (turn._tag === "System" ? system : talk).push(`${roles[turn._tag]}: ${text}`)
    if (turn._tag === "Assistant") talk.push(...turn.calls.flatMap(callLines))
  }
  if (last !== undefined) system.push(`system: ${last}`)
  const end = turns.at(-1)
  const isPrefilled = end?._tag === "Assistant" && end.calls.length === 0
  return [...system, ...talk, ...(isPrefilled ? [] : ["assistant:"])].join("\n")
}

/** What an earlier model called, and what came of it. */
const callLines = ({ args, name, result }: TurnCall): ReadonlyArray<string> => [
  `assistant: ${name}(${JSON.stringify(args)})`,
  ...(result === undefined ? [] : [`${name}: ${textOf(result.parts)}`])
]

const textOf = (parts: ReadonlyArray<TurnPart>): string =>
  parts.flatMap((part) => (part._tag === "Text" ? [part.text] : [])).join("\n")

// Answers

/** The upstream sends no counts. */
const noUsage: Usage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 }
}

const responseFromPredict = (
  reply: PredictReply,
  context: TranslateContext,
  request: ChatRequest
): Result.Result<ChatCompletion, Reason> =>
  Result.map(predictedText(reply, request), (content) => {
    const message = { role: "assistant" as const, content, refusal: null }
    return buildCompletion(
      context,
      context.target.modelId,
      [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
      noUsage
    )
  })

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The endpoint answered without a prediction in text. Its dialect may be another one."
}

const predictedText = ({ predictions }: PredictReply, request: ChatRequest): Result.Result<string, Reason> => {
  const text = textIn(predictions?.[0])
  return text === undefined ? Result.fail(empty) : Result.succeed(withoutEcho(text, request))
}

/** Reads a text, a text under one of the names that model servers use, or the first element of a list of these. */
const textIn = (prediction: Json | undefined): string | undefined => {
  const one = Array.isArray(prediction) ? prediction[0] : prediction
  const given: ReadonlyArray<Json | undefined> = isJsonObject(one)
    ? [one["content"], one["generated_text"], one["output"]]
    : [one]
  return given.find((text) => typeof text === "string")
}

const outputMark = "\nOutput:"

/** Removes the echoed prompt: many servers send prompt and answer, some as `Prompt:`, prompt, `Output:`, answer. */
const withoutEcho = (text: string, request: ChatRequest): string => {
  const prompt = Result.getOrElse(
    reading((reader) => renderPrompt(reader, request)),
    () => ""
  )
  for (const echo of [`Prompt:\n${prompt}${outputMark}`, prompt]) {
    if (echo !== "" && text.startsWith(echo)) return text.slice(echo.length).trimStart()
  }
  const mark = text.startsWith("Prompt:") ? text.indexOf(outputMark) : -1
  return mark < 0 ? text : text.slice(mark + outputMark.length).trimStart()
}

/** Whether the answer arrived or failed. */
export type PredictState = "waiting" | "answered" | "failed"
type Output = ChatChunk | StreamFailed

const isReply = hasShape(PredictReply)

const streamFromPredict = (context: TranslateContext, request: ChatRequest): Fold<PredictState, Json, Output> => {
  const chunk = (delta: Delta, finish_reason: FinishReason | null): ChatChunk =>
    buildChunk(context, context.target.modelId, { index: 0, delta, finish_reason })
  return {
    initial: () => "waiting",
    step: (state, event) => {
      if (state !== "waiting") return [state, []]
      const fault = isJsonObject(event) ? openAiFailureInside(event) : undefined
      const text =
        fault === undefined && isReply(event) ? predictedText(event, request) : Result.fail(fault ?? unreadableEvent)
      return Result.isFailure(text)
        ? ["failed", [streamFailed(text.failure)]]
        : ["answered", [chunk({ role: "assistant", content: "" }, null), chunk({ content: text.success }, null)]]
    },
    onHalt: (state) => {
      if (state === "failed") return []
      return state === "waiting"
        ? [streamFailed(empty)]
        : [chunk({}, "stop"), buildUsageChunk(context, context.target.modelId, noUsage)]
    }
  }
}

// The pair

export const chatToPredict: Translator<
  ChatRequest,
  PredictRequest,
  PredictReply,
  PredictReply,
  ChatCompletion,
  ChatChunk,
  PredictState
> = {
  name: "chat-to-predict",
  reply: PredictReply,
  event: PredictReply,
  request: chatToPredictRequest,
  response: responseFromPredict,
  stream: streamFromPredict,
  failure: failureFromOpenAi
}
