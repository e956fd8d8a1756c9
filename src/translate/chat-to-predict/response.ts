// Translates a predict answer to a chat completion or to its chunks.
// Must not depend on HTTP; a stream has one event, the whole answer.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { PredictReply } from "../../wire/google/Predict.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion, Delta, FinishReason, Usage } from "../../wire/openai/ChatReply.ts"
import { unreadableEvent } from "../shared/reply/badStream.ts"
import { buildChunk, buildCompletion, buildUsageChunk } from "../shared/reply/envelope.ts"
import { openAiFailureInside } from "../shared/reply/openAiFailure.ts"
import { type Fold, type StreamFailed, streamFailed, type TranslateContext } from "../Translator.ts"
import { renderPrompt } from "./prompt.ts"

/** The upstream sends no counts. */
const noUsage: Usage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 }
}

export const responseFromPredict = (
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
  const prompt = Result.getOrElse(renderPrompt(request), () => "")
  for (const echo of [`Prompt:\n${prompt}${outputMark}`, prompt]) {
    if (echo !== "" && text.startsWith(echo)) return text.slice(echo.length).trimStart()
  }
  const mark = text.startsWith("Prompt:") ? text.indexOf(outputMark) : -1
  return mark < 0 ? text : text.slice(mark + outputMark.length).trimStart()
}

/** Whether the answer arrived or failed. */
export type PredictState = "waiting" | "answered" | "failed"
type Output = ChatChunk | StreamFailed

const isReply = Schema.is(PredictReply)

export const streamFromPredict = (
  context: TranslateContext,
  request: ChatRequest
): Fold<PredictState, Json, Output> => {
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
