// Checks the values of the `anthropic-beta` header against those Vertex AI accepts.
// It must not depend on bodies.
// Source: Anthropic's list of beta headers, a recorded refusal of a value that only Anthropic's own service accepts.

const known = new Set(
  (
    "advanced-tool-use-2025-11-20 claude-code-20250219 compact-2026-01-12 computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24 " +
    "context-1m-2025-08-07 context-management-2025-06-27 dev-full-thinking-2025-05-14 effort-2025-11-24 extended-cache-ttl-2025-04-11 " +
    "fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14 model-context-window-exceeded-2025-08-26 output-128k-2025-02-19 " +
    "output-300k-2026-03-24 pdfs-2024-09-25 prompt-caching-2024-07-31 structured-outputs-2025-11-13 task-budgets-2026-03-13 " +
    "thinking-binding-controls-2026-08-01 token-counting-2024-11-01 token-efficient-tools-2025-02-19 tool-examples-2025-10-29 " +
    "tool-search-tool-2025-10-19 tools-2024-04-04 tools-2024-05-16 web-search-2025-03-05"
  ).split(" ")
)

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
