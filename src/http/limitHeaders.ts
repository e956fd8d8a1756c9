// What is left of a key's rate limits as headers: OpenAI's names and durations, or Anthropic's names and moments.
// It must not know who counts.
import type { Allowance, LimitState } from "../domain/LimitState.ts"

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

const openAi = (headers: Headers, kind: string, { limit, remaining, resetMillis }: Allowance): void => {
  headers[`x-ratelimit-limit-${kind}`] = String(limit)
  headers[`x-ratelimit-remaining-${kind}`] = String(remaining)
  headers[`x-ratelimit-reset-${kind}`] = goDuration(resetMillis)
}

const anthropic = (headers: Headers, kind: string, { limit, remaining, resetMillis }: Allowance, nowMillis: number): void => {
  const prefix = `anthropic-ratelimit-${kind}`
  headers[`${prefix}-limit`] = String(limit)
  headers[`${prefix}-remaining`] = String(remaining)
  // Whole seconds, and never too early.
  headers[`${prefix}-reset`] = `${new Date(Math.ceil((nowMillis + resetMillis) / 1000) * 1000).toISOString().slice(0, -5)}Z`
}

/** Headers of the limits a key has. A limit of tokens covers input and output together, which Anthropic has a name for as well. */
export const limitHeaders = ({ requests, tokens }: LimitState, dialect: "openai" | "anthropic", nowMillis: number): Headers => {
  const headers: Headers = {}
  if (dialect === "anthropic") {
    if (requests !== undefined) anthropic(headers, "requests", requests, nowMillis)
    if (tokens !== undefined) anthropic(headers, "tokens", tokens, nowMillis)
  } else {
    if (requests !== undefined) openAi(headers, "requests", requests)
    if (tokens !== undefined) openAi(headers, "tokens", tokens)
  }
  return headers
}
