// Checks the values of the `anthropic-beta` header against those Vertex AI accepts, and the fields that they bring.
// It must not depend on models.
// Source: Anthropic's platform table of betas (M-820), a recorded refusal of a value that only Anthropic's own service accepts.

const known = new Set(
  (
    "claude-code-20250219 compact-2026-01-12 computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 " +
    "context-management-2025-06-27 dev-full-thinking-2025-05-14 extended-cache-ttl-2025-04-11 fine-grained-tool-streaming-2025-05-14 " +
    "interleaved-thinking-2025-05-14 mid-conversation-output-config-2026-07-01 mid-conversation-system-clear-at-2026-08-21 " +
    "mid-conversation-tool-changes-2026-07-01 model-context-window-exceeded-2025-08-26 output-128k-2025-02-19 output-300k-2026-03-24 " +
    "pdfs-2024-09-25 prompt-caching-2024-07-31 structured-outputs-2025-11-13 task-budgets-2026-03-13 thinking-binding-controls-2026-08-01 " +
    "thinking-display-updates-2026-08-18 token-counting-2024-11-01 token-efficient-tools-2025-02-19 tool-examples-2025-10-29 " +
    "tool-search-tool-2025-10-19 tools-2024-04-04 tools-2024-05-16 web-search-2025-03-05"
  ).split(" ")
)

/** Fields that one of the betas brings; without it they are unknown. */
const broughtBy: Readonly<Record<string, ReadonlyArray<string>>> = {
  context_management: ["context-management-2025-06-27", "compact-2026-01-12"],
  "thinking.block_binding": ["thinking-binding-controls-2026-08-01"],
  "output_config.task_budget": ["task-budgets-2026-03-13"]
}

const valueAt = (body: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null
          ? Object.entries(value).find(([key]) => key === name)?.[1]
          : undefined,
      body
    )

/** The refusal of a field whose beta is not among the values. */
export const checkBetaFields = (body: unknown, betas: ReadonlyArray<string>): string | undefined => {
  const field = Object.keys(broughtBy).find(
    (path) => valueAt(body, path) !== undefined && !broughtBy[path]?.some((beta) => betas.includes(beta))
  )
  return field === undefined ? undefined : `${field}: Extra inputs are not permitted`
}

/** The values of the header and of the body field together. */
export const betasOf = (header: string | undefined, inBody: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(header ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== ""),
  ...inBody
]

/** The refusal of unknown values, or `undefined`. */
export const checkBetas = (betas: ReadonlyArray<string>): string | undefined => {
  const unknown = betas.filter((value) => !known.has(value))
  if (unknown.length === 0) return undefined
  const shown = unknown.map((value) => `\`${value}\``).join(", ")
  return `Unexpected value(s) ${shown} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`
}
