// The operations of Google's own dialects: bodies and answers pass as their own bytes.
// It must not depend on providers, accounts, or where answers are kept.
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../domain/text/json.ts"
import { type NativeRequest, overriddenBody, parsedBody } from "../translate/native/nativeBody.ts"
import { continuesCache, nativeOutput, nativePrompt, predictedOutput } from "../translate/native/nativeEstimate.ts"
import { filterWords } from "../translate/shared/gemini.ts"
import { usualPictureTokens } from "../translate/shared/images.ts"
import { billedOf, isDrawn } from "./estimates.ts"
import { eventsVerdict, hasValue, objectsIn, recordedBytes, recordedUnary, replyVerdict } from "./passed.ts"
import type { BodyRules, ExpectedPrompt, OperationRules, Verdict } from "./rules.ts"

const noMembers: JsonObject = {}

/** Configs are in chat's words: of a native body only `google` and labels are edited, the rest is named (N601). */
const body: BodyRules<NativeRequest> = {
  labels: true,
  params: ({ bytes, model }) => ({ ...parsedBody(bytes), model }),
  revise: (request, edit) => {
    const { google, labels, ...others } = edit(noMembers)
    return Result.succeed({
      ...request,
      bytes: overriddenBody(
        request.bytes,
        isJsonObject(google) ? google : noMembers,
        isJsonObject(labels) ? labels : undefined
      ),
      ignored: [...request.ignored, ...Object.keys(others).map((name) => `override_params.${name}`)]
    })
  }
}

const prompt = (asked: JsonObject): ExpectedPrompt => {
  const { audio, tokens } = nativePrompt(asked)
  return { input: tokens, audioInput: audio, isCached: continuesCache(asked) }
}

/** A whole answer of Gemini's, or an event: one without an end decides by its content alone. */
const geminiVerdict = (reply: JsonObject): Verdict => {
  const feedback = isJsonObject(reply["promptFeedback"]) ? reply["promptFeedback"] : {}
  if (hasValue(feedback["blockReason"])) return "refusal"
  const candidates = objectsIn(reply["candidates"])
  const hasParts = candidates.some(({ content }) =>
    objectsIn(isJsonObject(content) ? content["parts"] : undefined).some((part) =>
      Object.values(part).some((value) => value !== "" && value !== undefined)
    )
  )
  const reasons = candidates.map(({ finishReason }) => finishReason).filter((reason) => typeof reason === "string")
  if (reasons.some((reason) => filterWords.has(reason))) return "refusal"
  if (hasParts) return "content"
  return reasons.length === 0 ? undefined : "empty"
}

export const nativeContent: OperationRules<"nativeContent"> = {
  body,
  estimate: {
    prompt,
    usage: (asked, { modelId, models, read, usualOutput }) => {
      const { answers, draws, pictureTokens: size, speaks, tokens } = nativeOutput(asked, usualOutput)
      const imageOutput = draws || isDrawn({}, modelId, models) ? answers * size : 0
      return {
        ...read,
        ...billedOf(asked),
        output: tokens + imageOutput,
        audioOutput: speaks ? tokens : 0,
        imageOutput
      }
    }
  },
  recorded: recordedBytes,
  judges: { whole: replyVerdict(geminiVerdict), chunk: eventsVerdict(geminiVerdict) }
}

export const nativeEmbeddings: OperationRules<"nativeEmbeddings"> = {
  body,
  estimate: { prompt, usage: (_asked, { read }) => read },
  recorded: recordedUnary
}

export const nativePredictions: OperationRules<"nativePredictions"> = {
  body,
  estimate: {
    prompt,
    usage: (asked, { read }) => {
      const { images, tokens } = predictedOutput(asked)
      const imageOutput = images * usualPictureTokens
      return { ...read, output: Math.max(tokens, imageOutput), imageOutput, images }
    }
  },
  recorded: recordedUnary,
  billsFailed: true
}

export const nativeCount: OperationRules<"nativeCount"> = { body, estimate: undefined, recorded: recordedUnary }
