// What is known about a Claude model from its id: how long it may answer, how it thinks, which sampling it takes.
// It must not know requests; an unknown id counts as the newest generation.

export interface ClaudeFacts {
  /** Sent when the client names none; the field is required. */
  readonly maxTokens: number
  /** The most `max_tokens` the model takes, where a thinking budget may push it up; undefined: no budget is ever sent. */
  readonly limit: number | undefined
  /** `both`: a budget when one is asked for, else the model's own measure. */
  readonly thinking: "none" | "budget" | "both" | "adaptive"
  /** `one`: temperature or top_p, not both. */
  readonly sampling: "all" | "one" | "none"
}

const early = (maxTokens: number): ClaudeFacts => ({ maxTokens, limit: maxTokens, thinking: "none", sampling: "all" })
const budget = (limit: number, sampling: "all" | "one"): ClaudeFacts => ({
  maxTokens: usual,
  limit,
  thinking: "budget",
  sampling
})

/** What every model since 3.7 takes; more by default would reserve quota that no chat needs. */
const usual = 32_000

/** First match wins. The limits are Anthropic's own, from its table of models. */
const classes: ReadonlyArray<readonly [RegExp, ClaudeFacts]> = [
  [/^claude-3-(opus|sonnet|haiku)$/, early(4_096)],
  [/^claude-3-5-/, early(8_192)],
  [/^claude-3-7-sonnet$/, budget(64_000, "all")],
  [/^claude-opus-4(-0)?$/, budget(usual, "all")],
  [/^claude-opus-4-1$/, budget(usual, "one")],
  [/^claude-sonnet-4(-0)?$/, budget(64_000, "all")],
  [/^claude-(sonnet|haiku|opus)-4-5$/, budget(64_000, "one")],
  [/^claude-[a-z]+-4-6$/, { maxTokens: usual, limit: 128_000, thinking: "both", sampling: "one" }]
]
const newest: ClaudeFacts = { maxTokens: usual, limit: undefined, thinking: "adaptive", sampling: "none" }

/** Versions and dates behind the name of the model do not count. */
export const claudeFacts = (modelId: string): ClaudeFacts => {
  const name = modelId.toLowerCase().replace(/(@.*|-latest|-20\d{6})$/, "")
  return classes.find(([pattern]) => pattern.test(name))?.[1] ?? newest
}
