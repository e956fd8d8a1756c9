// Makes a reply to an accepted request: parts, finish reason, token counts, safety ratings, grounding. It is deterministic.
// It must not depend on HTTP, streaming or JSON framing.
import {
  type Backend,
  cachedTokens,
  type GenerateRequest,
  lastUserText,
  type ModalityCount,
  type Part,
  pendingResponses,
  promptTokens,
  textTokens,
  toolKinds
} from "../shared/generateRequest.ts"
import { createHash } from "node:crypto"
import { answerText, planCalls, thoughtText } from "../shared/simulatedModel.ts"
import { modelFacts, type ModelFacts } from "../shared/models.ts"
import { drawJpeg, drawPng } from "../shared/pictures.ts"
import { issueSignature } from "../shared/signatures.ts"

interface SafetyRating {
  readonly category: string
  readonly probability: string
  readonly blocked?: boolean
  readonly probabilityScore?: number
  readonly severity?: string
  readonly severityScore?: number
}

const categories = ["HATE_SPEECH", "DANGEROUS_CONTENT", "HARASSMENT", "SEXUALLY_EXPLICIT"].map(
  (word) => `HARM_CATEGORY_${word}`
)

/** Ratings of every category; `high` names the one that blocks. Vertex AI adds scores and severities (recorded). */
const ratings = (backend: Backend, high: string | undefined): ReadonlyArray<SafetyRating> =>
  categories.map((category) => {
    const probability = category === high ? "HIGH" : "NEGLIGIBLE"
    const scores =
      backend === "google"
        ? {}
        : {
            probabilityScore: category === high ? 0.9375 : 0.0625,
            severity: `HARM_SEVERITY_${probability}`,
            severityScore: category === high ? 0.875 : 0.03125
          }
    return { category, probability, ...(category === high ? { blocked: true } : {}), ...scores }
  })

/** Which block the prompt triggers: `demo:block-prompt` blocks the prompt, `demo:block-answer` the answer. */
const safetyTrigger = (model: string, request: GenerateRequest): "prompt" | "answer" | "none" => {
  const text = lastUserText(request)
  if (model === "demo-safety-block" || text.includes("demo:block-prompt")) return "prompt"
  return text.includes("demo:block-answer") ? "answer" : "none"
}

const blockingCategory = "HARM_CATEGORY_DANGEROUS_CONTENT"

const groundingSources = [
  { title: "example.com", uri: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/demo-1" },
  { title: "example.org", uri: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/demo-2" }
]

const bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** Grounding of `text`: one support for each of its first sentences, segments counted in UTF-8 bytes. */
const groundingFor = (request: GenerateRequest, text: string): Readonly<Record<string, unknown>> => {
  const sentences = [...text.matchAll(/[^.!?\s][^.!?]*[.!?]/g)].slice(0, groundingSources.length)
  const supports = sentences.map((match, index) => {
    const startIndex = bytes(text.slice(0, match.index))
    const segment = {
      ...(startIndex === 0 ? {} : { startIndex }),
      endIndex: startIndex + bytes(match[0]),
      text: match[0]
    }
    return { segment, groundingChunkIndices: [index], confidenceScores: [0.97 - index / 10] }
  })
  const query = lastUserText(request).slice(0, 100)
  const chip = query.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  return {
    searchEntryPoint: {
      renderedContent: `<style>\n.chip { border: solid 1px; }\n</style>\n<div class="container"><a class="chip">${chip}</a></div>\n`
    },
    groundingChunks: groundingSources.map((web) => ({ web })),
    groundingSupports: supports,
    webSearchQueries: [query]
  }
}

const arithmetic: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right
}

/** The two parts of executed code: an operation found in the prompt, or a count of its characters. */
const executedCode = (request: GenerateRequest): ReadonlyArray<Part> => {
  const text = lastUserText(request)
  const sum = /(-?\d+(?:\.\d+)?)\s*([-+*/])\s*(-?\d+(?:\.\d+)?)/.exec(text)
  const operation = arithmetic[sum?.[2] ?? ""]
  const code = sum === null ? `print(len(${JSON.stringify(text.slice(0, 80))}))\n` : `print(${sum[0]})\n`
  const value =
    sum === null || operation === undefined ? text.slice(0, 80).length : operation(Number(sum[1]), Number(sum[3]))
  return [
    { executableCode: { language: "PYTHON", code } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: `${value}\n` } }
  ]
}

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
