// Makes a reply to an accepted request: parts, finish reason and token counts of each candidate. It is deterministic.
// Must not depend on HTTP, streaming or JSON framing.

import { createHash } from "node:crypto"
import { answerText, thoughtText } from "../shared/answerText.ts"
import { lastUserText, pendingResponses, toolKinds } from "../shared/generateRequest.ts"
import type { Backend, GenerateRequest, Part } from "../shared/generateRequest.ts"
import { modelFacts } from "../shared/models.ts"
import type { ModelFacts } from "../shared/models.ts"
import { drawJpeg, drawPng } from "../shared/pictures.ts"
import { issueSignature } from "../shared/signatures.ts"
import { planCalls } from "../shared/toolCalls.ts"
import { cachedTokens, promptTokens, textTokens } from "../shared/usage.ts"
import type { ModalityCount } from "../shared/usage.ts"
import { blockingCategory, ratings, safetyTrigger } from "./safety.ts"
import type { SafetyRating } from "./safety.ts"
import { executedCode, groundingFor } from "./serverTools.ts"

export interface Candidate {
  readonly parts: ReadonlyArray<Part>
  /** Signs the text: on the last part of a unary answer, in a separate empty part of a stream. */
  readonly textSignature?: string
  readonly finishReason: string
  readonly safetyRatings?: ReadonlyArray<SafetyRating>
  readonly groundingMetadata?: Readonly<Record<string, unknown>>
  readonly logprobs?: { readonly avgLogprobs: number; readonly logprobsResult: Readonly<Record<string, unknown>> }
}

export interface ReplyUsage {
  readonly prompt: ReadonlyArray<ModalityCount>
  readonly candidates: ReadonlyArray<ModalityCount>
  readonly thoughts: number
  readonly toolUse: number
  readonly cached: number
}

export interface Reply {
  readonly candidates: ReadonlyArray<Candidate>
  readonly promptFeedback?: Readonly<Record<string, unknown>>
  readonly usage: ReplyUsage
}

export interface ReplyContext {
  readonly backend: Backend
  readonly model: string
  /** The model family named in the answer; default Gemini. */
  readonly family?: string
}

const levelTokens: Readonly<Record<string, number>> = { MINIMAL: 16, LOW: 32, MEDIUM: 64, HIGH: 128 }

const thoughtTokens = (request: GenerateRequest, facts: ModelFacts): number => {
  const config = request.generationConfig?.thinkingConfig
  if (facts.thinking === "none" || config?.thinkingBudget === 0) return 0
  if (config?.thinkingBudget !== undefined && config.thinkingBudget > 0) return Math.min(config.thinkingBudget, 64)
  return levelTokens[config?.thinkingLevel ?? ""] ?? 48
}

/** Cuts at the first stop sequence, then at the token limit; returns the finish reason. */
export const cutAtLimits = (
  text: string,
  request: GenerateRequest
): { readonly text: string; readonly finishReason: string } => {
  const config = request.generationConfig
  const stops = (config?.stopSequences ?? []).map((stop) => text.indexOf(stop)).filter((index) => index >= 0)
  const stopped = stops.length === 0 ? text : text.slice(0, Math.min(...stops))
  const most = (config?.maxOutputTokens ?? Number.MAX_SAFE_INTEGER) * 4
  return stopped.length > most
    ? { text: stopped.slice(0, most), finishReason: "MAX_TOKENS" }
    : { text: stopped, finishReason: "STOP" }
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")

const callParts = (request: GenerateRequest, context: ReplyContext, facts: ModelFacts): ReadonlyArray<Part> => {
  const browser = toolKinds(request).includes("computerUse") && pendingResponses(request).length === 0
  const calls = browser ? [{ name: "open_web_browser", args: {} }] : planCalls(request)
  if (calls.length === 0) return []
  const seed = `${context.model} ${JSON.stringify(request.contents)}`
  const signs = facts.generation >= 3 || (facts.generation === 2.5 && thoughtTokens(request, facts) > 0)
  return calls.map((call, index) => ({
    functionCall: {
      ...(facts.generation >= 3 ? { id: `call_${hash(`${seed}${index}`).slice(0, 8)}` } : {}),
      ...call
    },
    ...(signs && index === 0 ? { thoughtSignature: issueSignature(context.backend, seed) } : {})
  }))
}

const drawsHere = (request: GenerateRequest, context: ReplyContext): "no" | "alone" | "with text" => {
  const modalities = request.generationConfig?.responseModalities
  if (modalities === undefined) return /image/.test(context.model) ? "with text" : "no"
  if (!modalities.includes("IMAGE")) return "no"
  return modalities.includes("TEXT") ? "with text" : "alone"
}

/** Pixels on the longer side; real pictures are 16 times as large. */
const longSides: Readonly<Record<string, number>> = { "512": 32, "1K": 64, "2K": 128, "4K": 256 }

/** Tokens of one picture. Sources: Google's price page, recorded answers. */
const imageTokens = (facts: ModelFacts, request: GenerateRequest): number => {
  if (facts.generation < 3) return 1290
  return request.generationConfig?.imageConfig?.imageSize === "4K" ? 2000 : 1120
}

const imageParts = (request: GenerateRequest, context: ReplyContext, facts: ModelFacts): ReadonlyArray<Part> => {
  const drawn = drawsHere(request, context)
  if (drawn === "no") return []
  const prompt = lastUserText(request)
  const { aspectRatio, imageSize, imageOutputOptions } = request.generationConfig?.imageConfig ?? {}
  const mimeType = imageOutputOptions?.mimeType ?? "image/png"
  const data = (mimeType === "image/jpeg" ? drawJpeg : drawPng)(prompt, aspectRatio, longSides[imageSize ?? "1K"])
  const signature =
    facts.generation >= 3 ? { thoughtSignature: issueSignature(context.backend, `image ${prompt}`) } : {}
  const image = { inlineData: { mimeType, data }, ...signature }
  return drawn === "alone" ? [image] : [{ text: `Here is a small picture for "${prompt.slice(0, 80)}".` }, image]
}

const logprobsFor = (text: string, request: GenerateRequest): Pick<Candidate, "logprobs"> => {
  const config = request.generationConfig
  if (!config?.responseLogprobs) return {}
  const chosen = (text.match(/\s*\S+/g) ?? []).map((token, index) => ({
    token,
    tokenId: 1000 + index,
    logProbability: -0.125 * ((index % 4) + 1)
  }))
  const other = (token: string, rank: number) => ({
    token: `${token}${"~".repeat(rank)}`,
    tokenId: 5000 + rank,
    logProbability: -2 - rank
  })
  const top = chosen.map((pick) => ({
    candidates: Array.from({ length: config.logprobs ?? 0 }, (_, rank) => (rank === 0 ? pick : other(pick.token, rank)))
  }))
  const avgLogprobs = chosen.reduce((sum, pick) => sum + pick.logProbability, 0) / Math.max(1, chosen.length)
  return {
    logprobs: {
      avgLogprobs,
      logprobsResult: { chosenCandidates: chosen, ...(config.logprobs ? { topCandidates: top } : {}) }
    }
  }
}

const textCandidate = (
  request: GenerateRequest,
  context: ReplyContext,
  facts: ModelFacts,
  index: number
): Candidate => {
  const kinds = toolKinds(request)
  const code = kinds.includes("codeExecution") ? executedCode(request) : []
  const whole = answerText(request, context.family)
  const { text, finishReason } = cutAtLimits(index === 0 ? whole : `${whole} (This is answer ${index + 1}.)`, request)
  const grounded = kinds.some((kind) => /search|urlContext|googleMaps/i.test(kind))
  const aloud = facts.thinksAloud ? [thoughtText(request)] : []
  const flagged = request.generationConfig?.thinkingConfig?.includeThoughts ?? false
  return {
    parts: [
      ...aloud.map((thought) => (flagged ? { text: thought, thought: true } : { text: thought })),
      ...code,
      ...(text === "" ? [] : [{ text }])
    ],
    ...(facts.generation >= 3 && text !== "" ? { textSignature: issueSignature(context.backend, `text ${text}`) } : {}),
    finishReason,
    ...(grounded ? { groundingMetadata: groundingFor(request, text) } : {}),
    ...logprobsFor(text, request)
  }
}

const candidateFor = (request: GenerateRequest, context: ReplyContext, facts: ModelFacts, index: number): Candidate => {
  if (safetyTrigger(context.model, request) === "answer") {
    return {
      parts: [{ text: "The first step is" }],
      finishReason: "SAFETY",
      safetyRatings: ratings(context.backend, blockingCategory)
    }
  }
  const calls = callParts(request, context, facts)
  const images = calls.length > 0 ? [] : imageParts(request, context, facts)
  const body =
    calls.length + images.length > 0
      ? { parts: [...calls, ...images], finishReason: "STOP" }
      : textCandidate(request, context, facts, index)
  const shows = request.generationConfig?.thinkingConfig?.includeThoughts === true && thoughtTokens(request, facts) > 0
  const parts = shows ? [{ text: thoughtText(request), thought: true }, ...body.parts] : body.parts
  const rated = request.safetySettings === undefined ? {} : { safetyRatings: ratings(context.backend, undefined) }
  return { ...body, parts, ...rated }
}

/** Tokens of the visible parts; thoughts are counted separately. */
const candidateCounts = (
  candidates: ReadonlyArray<Candidate>,
  tokensPerImage: number
): ReadonlyArray<ModalityCount> => {
  const parts = candidates.flatMap((candidate) => candidate.parts).filter((part) => !part.thought)
  const images = parts.filter((part) => part.inlineData !== undefined).length
  const text = parts.reduce(
    (sum, part) =>
      sum +
      textTokens(part.text ?? "") +
      (part.functionCall === undefined ? 0 : textTokens(JSON.stringify(part.functionCall))),
    0
  )
  return [
    ...(text > 0 ? [{ modality: "TEXT", tokenCount: text }] : []),
    ...(images > 0 ? [{ modality: "IMAGE", tokenCount: tokensPerImage * images }] : [])
  ]
}

/** The reply to an accepted request; the same request always gets the same reply. */
export const replyTo = (request: GenerateRequest, context: ReplyContext): Reply => {
  const facts = modelFacts(context.model)
  const prompt = promptTokens(request)
  const cached = request.cachedContent === undefined ? 0 : cachedTokens
  if (safetyTrigger(context.model, request) === "prompt") {
    const promptFeedback = { blockReason: "SAFETY", safetyRatings: ratings(context.backend, blockingCategory) }
    return { candidates: [], promptFeedback, usage: { prompt, candidates: [], thoughts: 0, toolUse: 0, cached } }
  }
  const wanted = Math.min(8, Math.max(1, request.generationConfig?.candidateCount ?? 1))
  const candidates = Array.from({ length: wanted }, (_, index) => candidateFor(request, context, facts, index))
  const toolUse =
    candidates.flatMap((candidate) => candidate.parts).filter((part) => part.codeExecutionResult !== undefined).length *
    40
  const usage = {
    prompt,
    candidates: candidateCounts(candidates, imageTokens(facts, request)),
    thoughts: thoughtTokens(request, facts),
    toolUse,
    cached
  }
  return { candidates, usage }
}
