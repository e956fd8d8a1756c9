// What is left of a key's rate limits as headers: OpenAI's names and durations, or Anthropic's names and moments.
// It must not know who counts.
import type { LimitState } from "../domain/LimitState.ts"

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

const namesOf = (name: (fact: "limit" | "remaining" | "reset", kind: Kind) => string) => {
  const names = (kind: Kind) => ({ limit: name("limit", kind), remaining: name("remaining", kind), reset: name("reset", kind) })
  return { requests: names("requests"), tokens: names("tokens") }
}

const openAiNames = namesOf((fact, kind) => `x-ratelimit-${fact}-${kind}`)
const anthropicNames = namesOf((fact, kind) => `anthropic-ratelimit-${kind}-${fact}`)

/** A moment in whole seconds, and never too early. */
const secondOf = (millis: number): string => `${new Date(Math.ceil(millis / 1000) * 1000).toISOString().slice(0, -5)}Z`

/** Adds what the limits of a key tell. A limit of tokens covers input and output together, which Anthropic has a name for as well. */
export const addLimits = (headers: Headers, limits: LimitState, dialect: "openai" | "anthropic", nowMillis: number): Headers => {
  for (const kind of ["requests", "tokens"] as const) {
    const allowance = limits[kind]
    if (allowance === undefined) continue
    const { limit, remaining, resetMillis } = allowance
    const names = (dialect === "openai" ? openAiNames : anthropicNames)[kind]
    headers[names.limit] = String(limit)
    headers[names.remaining] = String(remaining)
    headers[names.reset] = dialect === "openai" ? goDuration(resetMillis) : secondOf(nowMillis + resetMillis)
  }
  return headers
}
