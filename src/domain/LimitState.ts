// What is left of a key's rate limits, as its answers tell.
// It must not know headers or who counts.
import * as Schema from "effect/Schema"

/** One limit at a moment: how much a minute allows, what is left at once, and when all of it will be there again. */
export const Allowance = Schema.Struct({ limit: Schema.Number, remaining: Schema.Number, resetMillis: Schema.Number })
export type Allowance = typeof Allowance.Type

/** A limit that the key does not have is absent. */
export interface LimitState {
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
}
