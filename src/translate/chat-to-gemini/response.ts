// Translates a unary Gemini answer to a chat completion in full form, with its token probabilities.
// It must not depend on HTTP or strict mode; a unary answer is read as a stream of one event.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { readEach } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Candidate, GenerateContentReply, GenerateContentRequest, Part } from "../../wire/google.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatCompletion, Choice, Delta, Logprobs, ReplyMessage, Usage } from "../../wire/openai/ChatReply.ts"
import { modelStatusField } from "../shared/gemini.ts"
import { buildCompletion, joinDeltas } from "../shared/reply/completion.ts"
import { tooManyChoices } from "../shared/reply/upstreamError.ts"
import { googleFailureInside } from "../shared/reply/upstreamFailures.ts"
import { geminiUsage, readGeminiTier, usageOfHops, searchesOf, withSearches, withTier } from "../shared/reply/usage.ts"
import type { HopTranslation, TranslateContext } from "../Translator.ts"
import { blockedEnd, blockedLate, continuationOf, geminiEnd, noGeminiEnd, readGeminiEnd } from "./finish.ts"
import { closeParts, noParts, type PartsFacts, partsFacts, readParts } from "./parts.ts"
import { joinAudio, wantsAudio } from "./speech.ts"

/** Fails when the reply is an error in a 200, has no candidate, or ended in a fault of the model. */
export const responseFromGemini = (
  reply: GenerateContentReply,
  context: TranslateContext,
  request: ChatRequest,
  headers?: Readonly<Record<string, string>>
): Result.Result<ChatCompletion, Reason> => {
  const candidates = (reply.candidates ?? []).map((candidate) => [candidate] as const)
  const counted = withTier(geminiUsage(reply.usageMetadata ?? undefined), readGeminiTier(headers))
  const searches = searchesOf((reply.candidates ?? []).map(({ groundingMetadata }) => groundingMetadata))
  return completionOf(reply, candidates, withSearches(counted, searches), context, request)
}

const completionOf = (
  reply: GenerateContentReply,
  candidates: ReadonlyArray<CandidateHops>,
  usage: Usage,
  context: TranslateContext,
  request: ChatRequest
): Result.Result<ChatCompletion, Reason> => {
  if (reply.error) return Result.fail(googleFailureInside(reply.error))
  const model = reply.modelVersion ?? context.target.modelId
  if (candidates.length === 0) {
    const choice = blockedChoice(reply, context.strict)
    return choice === undefined
      ? Result.fail({
          _tag: "BadReply",
          kind: "empty",
          message: "The upstream answered without any candidate. Try again."
        })
      : Result.succeed({ ...buildCompletion(context, model, [choice], usage), ...modelStatusField(reply.modelStatus) })
  }
  if (candidates.length > answerBounds.choices) return Result.fail(tooManyChoices)
  const facts = partsFacts(context, request, true)
  let calls = 0
  const callId = () => context.callId(calls++)
  const around = { reply, context, request, facts, callId }
  const choices = readEach(candidates, (hops, position) => choiceOf(hops, position, around))
  return Result.map(choices, (all) => {
    const completion = buildCompletion(context, model, all, usage)
    return reply.modelStatus ? { ...completion, ...modelStatusField(reply.modelStatus) } : completion
  })
}

/** One answer of several hops: the first names the model, and the parts follow each other (M-603). */
const responseFromHops = (
  replies: ReadonlyArray<GenerateContentReply>,
  context: TranslateContext,
  request: ChatRequest,
  isInterrupted: boolean
): Result.Result<ChatCompletion, Reason> => {
  const [first = {}] = replies
  const promptFeedback = replies.findLast((reply) => reply.promptFeedback)?.promptFeedback ?? null
  const [candidate, ...later] = replies.flatMap(({ candidates }) => candidates?.slice(0, 1) ?? [])
  const hops = candidate === undefined ? [] : [[candidate, ...later] as const]
  return Result.map(
    completionOf({ ...first, promptFeedback }, hops, usageOfReplies(replies), context, request),
    (completion) => (isInterrupted ? { ...completion, continuation: "interrupted" } : completion)
  )
}

/** Cast: the decoded interface has no index signature; its value is parsed JSON. */
const usageOfReplies = (replies: ReadonlyArray<GenerateContentReply>): Usage =>
  usageOfHops(replies.map(({ usageMetadata }) => (usageMetadata ?? {}) as JsonObject))

export const geminiHops: HopTranslation<ChatRequest, GenerateContentRequest, GenerateContentReply, ChatCompletion> = {
  body: (body, continuationToken) => ({ ...body, continuationToken }),
  token: ({ candidates }) => {
    const [candidate, ...others] = candidates ?? []
    return candidate === undefined || others.length > 0
      ? undefined
      : continuationOf(readGeminiEnd(noGeminiEnd, candidate))
  },
  usage: usageOfReplies,
  join: responseFromHops
}

const blockedChoice = (reply: GenerateContentReply, strict: boolean): Choice | undefined => {
  const end = blockedEnd(reply.promptFeedback, strict)
  return end === undefined
    ? undefined
    : {
        index: 0,
        message: joinDeltas([], end.refusal),
        logprobs: null,
        finish_reason: end.finish_reason,
        ...end.extensions
      }
}

interface Around {
  readonly reply: GenerateContentReply
  readonly context: TranslateContext
  readonly request: ChatRequest
  readonly facts: PartsFacts
  readonly callId: () => string
}

/** A candidate as its hops gave it; most answers have one hop. */
type CandidateHops = readonly [Candidate, ...ReadonlyArray<Candidate>]

const choiceOf = (hops: CandidateHops, position: number, around: Around): Result.Result<Choice, Reason> => {
  const { reply, context, request, facts, callId } = around
  const deltas: Array<Delta> = []
  let read = noParts
  let ended = noGeminiEnd
  for (const hop of hops) {
    const [next, some] = readParts(read, context.target.facts.joinsThoughts ? withThought(hop) : hop, facts, callId)
    read = next
    for (const delta of some) deltas.push(delta)
    ended = readGeminiEnd(ended === noGeminiEnd ? ended : { ...ended, reason: undefined, token: undefined }, hop)
  }
  if (read.fault !== undefined) return Result.fail(read.fault)
  const [closed, last] = closeParts(read, facts, callId)
  const candidate = hops[0]
  const audio = wantsAudio(request, context.target)
    ? joinAudio(
        hops.flatMap(({ content }) => content?.parts ?? []),
        context,
        request
      )
    : undefined
  const parts = audio === undefined ? closed : { ...closed, media: true }
  const blocked = blockedLate(ended, parts, reply.promptFeedback, context.strict)
  const end =
    blocked === undefined
      ? geminiEnd(ended, parts, facts, reply.promptFeedback?.safetyRatings ?? undefined)
      : Result.succeed(blocked)
  return Result.map(end, ({ finish_reason, refusal, annotations, extensions }) => {
    for (const delta of last) deltas.push(delta)
    const message: Types.Mutable<ReplyMessage> = joinDeltas(deltas, refusal, context.ordered)
    if (annotations.length > 0) message.annotations = annotations
    if (audio !== undefined) message.audio = audio
    return {
      index: geminiCandidateIndex(candidate, position),
      message,
      logprobs: (request.logprobs === true ? geminiLogprobs(candidate) : undefined) ?? null,
      finish_reason,
      ...extensions
    }
  })
}

/** Vertex AI never sends an index. */
export const geminiCandidateIndex = (candidate: Candidate, position: number): number =>
  typeof candidate.index === "number" && Number.isInteger(candidate.index) && candidate.index >= 0
    ? candidate.index
    : position

/** The experimental thinking models may omit the flag: the first of exactly two texts is the thought. */
const withThought = (candidate: Candidate): Candidate => {
  const parts = candidate.content?.parts ?? []
  const texts = parts.filter((part) => typeof part.text === "string")
  if (texts.length !== 2 || parts.some((part) => part.thought === true)) return candidate
  const flagged: ReadonlyArray<Part> = parts.map((part) => (part === texts[0] ? { ...part, thought: true } : part))
  return { ...candidate, content: { ...candidate.content, parts: flagged } }
}

// Token probabilities

/** Undefined when the candidate has none; `avgLogprobs` is a different figure. */
export const geminiLogprobs = (candidate: Candidate): Logprobs | undefined => {
  const result = candidate.logprobsResult
  if (!isJsonObject(result)) return undefined
  const tops = list(result["topCandidates"])
  return {
    content: list(result["chosenCandidates"]).map((chosen, position) => {
      const top = tops[position]
      return { ...token(chosen), top_logprobs: list(isJsonObject(top) ? top["candidates"] : undefined).map(token) }
    }),
    refusal: null
  }
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const encoder = new TextEncoder()

/** Fields with a zero value are absent on the wire. */
const token = (candidate: Json) => {
  const text = isJsonObject(candidate) && typeof candidate["token"] === "string" ? candidate["token"] : ""
  const logprob = isJsonObject(candidate) ? candidate["logProbability"] : undefined
  return { token: text, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...encoder.encode(text)] }
}
