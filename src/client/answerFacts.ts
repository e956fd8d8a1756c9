// Reads the gateway's headers of an answer: request id, provider, target, retries, cache, ignored parameters.
// It must not know bodies.
import { answerHeaders } from "../api/Headers.ts"

export interface AnswerFacts {
  readonly requestId: string | undefined
  readonly traceId: string | undefined
  /** Slug of the provider that answered. */
  readonly provider: string | undefined
  /** The index of its target in the config. */
  readonly optionIndex: number | undefined
  /** How often the gateway retried that target. */
  readonly retryCount: number | undefined
  readonly cacheStatus: string | undefined
  /** Parameters that were dropped. */
  readonly ignoredParams: ReadonlyArray<string>
  /** Parameters that were sent with another value, as `name=asked>sent`. */
  readonly adjustedParams: ReadonlyArray<string>
}

export const answerFacts = (headers: Headers): AnswerFacts => {
  const text = (name: string) => headers.get(name) ?? undefined
  const count = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined)
  return {
    requestId: text("x-request-id"),
    traceId: text(answerHeaders.traceId),
    provider: text(answerHeaders.provider),
    optionIndex: count(answerHeaders.optionIndex),
    retryCount: count(answerHeaders.retryCount),
    cacheStatus: text(answerHeaders.cacheStatus),
    ignoredParams: text(answerHeaders.ignoredParams)?.split(",") ?? [],
    adjustedParams: text(answerHeaders.adjustedParams)?.split(",") ?? []
  }
}
