// The remaining allowance of a key's rate limits, as reported in answers.
// It must not know header names or which part counts the requests.
import * as Schema from "effect/Schema"

/** One limit: requests or tokens per minute, how many are left now, and the time until all are available again. */
export const Allowance = Schema.Struct({ limit: Schema.Number, remaining: Schema.Number, resetMillis: Schema.Number })
export type Allowance = typeof Allowance.Type

/** A limit that the key does not have is absent. */
export interface LimitState {
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
}
