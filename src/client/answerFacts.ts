// What the headers of an answer say about how it came about.
// It must not know bodies.
import { answerHeaders } from "../api/Headers.ts"

export interface AnswerFacts {
  readonly requestId: string | undefined
  readonly traceId: string | undefined
  /** Slug of the provider that answered. */
  readonly provider: string | undefined
  /** The place of its target in the config. */
  readonly optionIndex: number | undefined
  /** How often the gateway called that target again. */
  readonly retryCount: number | undefined
  readonly cacheStatus: string | undefined
  /** Parameters that were left out. */
  readonly ignoredParams: ReadonlyArray<string>
}

const names = answerHeaders["x-gateway"]

export const answerFacts = (headers: Headers): AnswerFacts => {
  const text = (name: string) => headers.get(name) ?? undefined
  const count = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined)
  return {
    requestId: text("x-request-id"),
    traceId: text(names.traceId),
    provider: text(names.provider),
    optionIndex: count(names.optionIndex),
    retryCount: count(names.retryCount),
    cacheStatus: text(names.cacheStatus),
    ignoredParams: text(names.ignoredParams)?.split(",") ?? []
  }
}
