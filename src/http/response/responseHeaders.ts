// The headers of answers: ids, remaining limits of the key, the account that served, what it ignored or changed, and the end of the connection.
// It must not depend on what is answered, or on how limits are counted.
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import { type Dialect, dialectOf } from "../../domain/operations.ts"
import { endingText } from "../../domain/models/modelLife.ts"
import type { ServedBy } from "../../domain/RequestContext.ts"
import { endingOf } from "../../translate/shared/gemini.ts"
import type { AnswerCost } from "../../translate/shared/reply/clientForm.ts"
import { adjustmentText } from "../../translate/Translator.ts"
import type { ModelStatus } from "../../wire/openai/ChatReply.ts"
import { dollarsOf } from "../../domain/Usage.ts"
import type { LimitState } from "../../domain/RateCounts.ts"
import type { IncomingRequest, RequestIds } from "../request/IncomingRequest.ts"

/** The headers of every answer, also of answers to broken HTTP. */
export const idHeaders = ({ requestId, traceId, usesAlias }: RequestIds): Record<string, string> => {
  const headers = {
    "x-request-id": requestId,
    "request-id": requestId,
    [answerHeaders.traceId]: traceId,
    "cache-control": "no-store"
  }
  return usesAlias ? addAliases(headers) : headers
}

/** The headers of an answer on a route: the ids, and the remaining limits of the key. */
export const baseHeaders = (incoming: IncomingRequest): Record<string, string> => {
  const headers = idHeaders(incoming)
  const { limits, skipped = [] } = incoming.recorder ?? {}
  if (skipped.length > 0) headers[answerHeaders.skippedTargets] = skipped.join(",")
  if (limits === undefined) return headers
  return addLimits(headers, limits, dialectOf(incoming.path), incoming.startedMillis)
}

// Headers of an answer: the account that served it, what it ignored or changed, and the end of its connection.

/** While the server leaves, no answer keeps its connection. */
export const closingHeaders = (headers: Record<string, string>, { traffic }: IncomingRequest): Record<string, string> =>
  traffic.drainingSince !== undefined ? Object.assign(headers, { connection: "close" }) : headers

/** The headers of a stream, which no proxy may keep back. */
export const eventStreamHeaders = (
  headers: Record<string, string>,
  contentType = "text/event-stream; charset=utf-8"
): Record<string, string> => {
  headers["content-type"] = contentType
  headers["cache-control"] = "no-cache, no-transform"
  headers["x-accel-buffering"] = "no"
  return headers
}

const longestParams = 1024

/** Names from a client may contain any character; a header may not. */
const paramsText = (names: ReadonlyArray<string>): string =>
  names
    .join(",")
    .slice(0, longestParams)
    .replace(/[^\x21-\x7e]/g, "?")

/** What an answer lacks. */
export interface AnswerEnding {
  /** The rest of a long answer could not be had. */
  readonly isInterrupted?: boolean
  /** What OpenAI's schema has no place for. */
  readonly omitted?: ReadonlyArray<string>
}

export const servedHeaders = (
  incoming: IncomingRequest,
  served: ServedBy,
  { isInterrupted = false, omitted = [] }: AnswerEnding = {}
): Record<string, string> => {
  const headers = baseHeaders(incoming)
  headers[answerHeaders.provider] = served.slug
  headers[answerHeaders.optionIndex] = String(served.optionIndex)
  headers[answerHeaders.retryCount] = String(served.retryCount)
  headers[answerHeaders.cacheStatus] = served.cache
  addCost(headers, shownCost(incoming, served))
  if (served.ignored.length > 0) headers[answerHeaders.ignoredParams] = paramsText(served.ignored)
  if (served.translated !== undefined) headers[answerHeaders.translated] = served.translated
  if (served.adjusted !== undefined)
    headers[answerHeaders.adjustedParams] = paramsText(served.adjusted.map(adjustmentText))
  if (omitted.length > 0) headers[answerHeaders.omittedContent] = omitted.join(",")
  if (isInterrupted) headers[answerHeaders.continuation] = "interrupted"
  if (served.ending !== undefined)
    headers[answerHeaders.modelWarning] = endingText(served.ending).replace(/[^\x20-\x7e]/g, "?")
  return incoming.usesAlias ? addAliases(headers) : headers
}

const nothingSpent: AnswerCost = { dollars: 0, isPartial: false }

/** Undefined where no price or no usage is known: the headers of a stream are made before it has one. */
export const shownCost = (
  { recorder, startedMillis }: IncomingRequest,
  { cache }: ServedBy
): AnswerCost | undefined => {
  if (recorder === undefined) return undefined
  if (cache === "HIT") return nothingSpent
  const { isPartial = false, micros } = recorder.charged(startedMillis) ?? {}
  return micros === undefined ? undefined : { dollars: dollarsOf(micros), isPartial }
}

const addCost = (headers: Record<string, string>, cost: AnswerCost | undefined): void => {
  if (cost === undefined) return
  headers[answerHeaders.cost] = String(cost.dollars)
  if (cost.isPartial) headers[answerHeaders.costPartial] = "true"
}

/** The provider's own word on the end of its model counts where the facts are silent (M-703). */
export const withEnding = (served: ServedBy, status: ModelStatus | undefined): ServedBy =>
  status === undefined || served.ending !== undefined ? served : { ...served, ending: endingOf(status) }

// The remaining rate limits of a key as headers: OpenAI's names and durations, or Anthropic's names and times.

/** A duration as Go writes it, which is how OpenAI does: `12ms`, `1s`, `1.5s`, `6m0s`. */
export const goDuration = (millis: number): string => {
  const whole = Math.ceil(millis)
  if (whole < 1000) return `${whole}ms`
  const minutes = Math.floor(whole / 1000 / 60)
  const seconds = whole / 1000 - minutes * 60
  return minutes === 0 ? `${toThousandth(seconds)}s` : `${minutes}m${toThousandth(seconds)}s`
}

const toThousandth = (value: number): number => Math.round(value * 1000) / 1000

type Headers = Record<string, string>
type Kind = keyof LimitState

interface Names {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const openAiName = (kind: Kind): Names => ({
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`
})
const anthropicName = (kind: string): Names => ({
  limit: `anthropic-ratelimit-${kind}-limit`,
  remaining: `anthropic-ratelimit-${kind}-remaining`,
  reset: `anthropic-ratelimit-${kind}-reset`
})

/** A limit of tokens covers input and output together: Anthropic's headers of either show it, and so do those of both. */
const openAiNames = { requests: [openAiName("requests")], tokens: [openAiName("tokens")] }
const namesOf: Readonly<Record<Dialect, Readonly<Record<Kind, ReadonlyArray<Names>>>>> = {
  openai: openAiNames,
  // Google has no names of its own for them.
  google: openAiNames,
  anthropic: {
    requests: [anthropicName("requests")],
    tokens: ["input-tokens", "output-tokens", "tokens"].map(anthropicName)
  }
}

/** A moment in whole seconds, and never too early. */
const secondOf = (millis: number): string => `${new Date(Math.ceil(millis / 1000) * 1000).toISOString().slice(0, -5)}Z`

/** Adds what is left of the limits of a key. */
export const addLimits = (headers: Headers, limits: LimitState, dialect: Dialect, nowMillis: number): Headers => {
  for (const kind of ["requests", "tokens"] as const) {
    const allowance = limits[kind]
    if (allowance === undefined) continue
    const limit = String(allowance.limit)
    const remaining = String(allowance.remaining)
    const reset =
      dialect === "anthropic" ? secondOf(nowMillis + allowance.resetMillis) : goDuration(allowance.resetMillis)
    for (const names of namesOf[dialect][kind]) {
      headers[names.limit] = limit
      headers[names.remaining] = remaining
      headers[names.reset] = reset
    }
  }
  return headers
}
