// Facts about each Claude model: limits of tokens, thinking, sampling, and which ids the service serves.
// It must not depend on requests or routes. Provider facts: Anthropic's model pages, recorded and publicly reported refusals.

export interface ClaudeFacts {
  /** The most `max_tokens` it takes. */
  readonly maxTokens: number
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  /** `budget`: `enabled` only; `adaptive`: `adaptive` only; `both`; `none`: either is refused. */
  readonly thinking: "none" | "budget" | "both" | "adaptive"
  /** `one`: temperature or top_p, not both; `none`: no value but the default. */
  readonly sampling: "all" | "one" | "none"
  /** A conversation may end with words put into the model's mouth. */
  readonly prefill: boolean
  readonly effort: boolean
  readonly structured: boolean
  /** Tool blocks in the history need `tools` beside them. */
  readonly needsTools: boolean
  /** Thoughts are given as an empty text unless `display` asks for a summary. */
  readonly hidesThoughts: boolean
  /** Answers tell why they stopped, who made a call, and how many tokens were thoughts (recorded). */
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
    claude(128_000, { contextTokens: 1_000_000, thinking: "both", sampling: "one", prefill: false, structured: true, effort: true, detailed: true })
  ],
  [/^claude-opus-4(-0)?(@|$)/, claude(32_000)],
  [/^claude-[a-z]+-4(-0)?(@|$)/, claude(64_000)],
  [/^demo-/, claude(128_000, { thinking: "both", structured: true, effort: true })]
]

/** The first matching row; an unknown id is of the newest generation. */
export const claudeFacts = (model: string): ClaudeFacts => claudeRows.find(([pattern]) => pattern.test(model))?.[1] ?? newestClaude

const claudeId = /^(claude-(3(-5|-7)?-[a-z]+(-v2)?|[a-z]+-[4-9](-[0-9])?)(@([0-9]{8}|default|latest)|-latest)?|demo-[a-z0-9-]+)$/

/** Ids served under `publishers/anthropic`: a date stands behind `@`, as Vertex AI writes it; all others answer 404. */
export const isServedClaude = (model: string): boolean => claudeId.test(model)

/** The id as the answer writes it: the date behind a hyphen, `@default` left out (recorded). */
export const answeredClaude = (model: string): string => model.replace(/@default$/, "").replace("@", "-")
