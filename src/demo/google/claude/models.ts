// Lists the facts about each Claude model: token limits, thinking, sampling, and the ids that are served.
// It must not depend on requests or routes.
// Source: Anthropic's model pages, recorded and publicly reported refusals.

export interface ClaudeFacts {
  /** The largest accepted `max_tokens`. */
  readonly maxTokens: number
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  /** The accepted `thinking.type`: `budget` is `enabled` only, `adaptive` is `adaptive` only, `none` refuses either. */
  readonly thinking: "none" | "budget" | "both" | "adaptive"
  /** `one`: temperature or top_p, not both; `none`: only the default values. */
  readonly sampling: "all" | "one" | "none"
  /** A conversation may end with an assistant message (prefill). */
  readonly prefill: boolean
  readonly effort: boolean
  readonly structured: boolean
  /** Tool blocks in the history require `tools` in the request. */
  readonly needsTools: boolean
  /** The text of thoughts is empty unless `display` asks for it. */
  readonly hidesThoughts: boolean
  /** Answers contain stop details, the caller of a tool, and the count of thinking tokens (recorded). */
  readonly detailed: boolean
}

const claude = (maxTokens: number, facts: Partial<ClaudeFacts> = {}): ClaudeFacts => ({
  maxTokens,
  contextTokens: 200_000,
  thinking: "budget",
  sampling: "all",
  prefill: true,
  effort: false,
  structured: false,
  needsTools: false,
  hidesThoughts: false,
  detailed: false,
  ...facts
})

const old = (maxTokens: number): ClaudeFacts => claude(maxTokens, { thinking: "none", needsTools: true })

const newestClaude = claude(128_000, {
  contextTokens: 1_000_000,
  thinking: "adaptive",
  sampling: "none",
  prefill: false,
  effort: true,
  structured: true,
  hidesThoughts: true,
  detailed: true
})

const claudeRows: ReadonlyArray<readonly [pattern: RegExp, facts: ClaudeFacts]> = [
  [/^claude-3-(opus|sonnet|haiku)/, old(4096)],
  [/^claude-3-5-/, old(8192)],
  [/^claude-3-7-/, claude(64_000, { needsTools: true })],
  [/^claude-opus-4-1/, claude(32_000, { sampling: "one", structured: true })],
  [/^claude-opus-4-5/, claude(64_000, { sampling: "one", structured: true, effort: true })],
  [/^claude-[a-z]+-4-5/, claude(64_000, { sampling: "one", structured: true })],
  [
    /^claude-[a-z]+-4-6/,
    claude(128_000, {
      contextTokens: 1_000_000,
      thinking: "both",
      sampling: "one",
      prefill: false,
      structured: true,
      effort: true,
      detailed: true
    })
  ],
  [/^claude-opus-4(-0)?(@|$)/, claude(32_000)],
  [/^claude-[a-z]+-4(-0)?(@|$)/, claude(64_000)],
  [/^demo-/, claude(128_000, { thinking: "both", structured: true, effort: true })]
]

/** The first matching row; an unknown id counts as the newest generation. */
export const claudeFacts = (model: string): ClaudeFacts =>
  claudeRows.find(([pattern]) => pattern.test(model))?.[1] ?? newestClaude

const claudeId =
  /^(claude-(3(-5|-7)?-[a-z]+(-v2)?|[a-z]+-[4-9](-[0-9])?)(@([0-9]{8}|default|latest)|-latest)?|demo-[a-z0-9-]+)$/

/** Ids served under `publishers/anthropic`, with a date after `@` as on Vertex AI; all others answer 404. */
export const isServedClaude = (model: string): boolean => claudeId.test(model)

/** The id as answers write it: the date after a hyphen, without `@default` (recorded). */
export const modelInAnswers = (model: string): string => model.replace(/@default$/, "").replace("@", "-")
