// The remaining rate limits of a key as headers: OpenAI's names and durations, or Anthropic's names and times.
// It must not depend on how limits are counted.
import type { LimitState } from "../../domain/LimitState.ts"
import type { Dialect } from "../../domain/operations.ts"

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
