// Validates a messages body: betas and version first, then shape (comparable with a schema validator), then the semantic rules.
// It must not depend on sockets, routes or replies.
// Source: Anthropic's platform table of betas (M-820) and guides for 2026-10-21 (M-830), a recorded refusal of a beta.
import { isRecord } from "../shapes/open.ts"
import { readClaude } from "../shapes/claude.ts"
import type { ModelViolation } from "../shapes/modelShape.ts"
import type { CountRequest, MessagesRequest } from "./request.ts"
import { checkClaudeRules, checkCountRules } from "./rules.ts"

const knownBetas = new Set(
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
const checkBetaFields = (body: unknown, betas: ReadonlyArray<string>): string | undefined => {
  const field = Object.keys(broughtBy).find(
    (path) => valueAt(body, path) !== undefined && !broughtBy[path]?.some((beta) => betas.includes(beta))
  )
  return field === undefined ? undefined : `${field}: Extra inputs are not permitted`
}

/** The values of the header and of the body field together. */
const betasOf = (header: string | undefined, inBody: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(header ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== ""),
  ...inBody
]

/** The refusal of unknown values, or `undefined`. */
const checkBetas = (betas: ReadonlyArray<string>): string | undefined => {
  const unknown = betas.filter((value) => !knownBetas.has(value))
  if (unknown.length === 0) return undefined
  const shown = unknown.map((value) => `\`${value}\``).join(", ")
  return `Unexpected value(s) ${shown} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`
}

const firstVersion = "vertex-2023-10-16"
const firstDated = "2026-10-21"

const isDated = (body: unknown): body is Record<string, unknown> => {
  const version = isRecord(body) ? body["anthropic_version"] : undefined
  return typeof version === "string" && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= firstDated
}

/** The body as the shape of the first version knows it; a version is taken from its day on. */
const inFirstVersion = (body: unknown, day: string): unknown =>
  isDated(body) && String(body["anthropic_version"]) <= day ? { ...body, anthropic_version: firstVersion } : body

/** The refusal of a field that the named version lacks, or `undefined`. */
const checkVersionFields = (body: unknown): string | undefined => {
  const field = isDated(body) ? ["temperature", "top_p", "top_k"].find((name) => body[name] !== undefined) : undefined
  return field === undefined ? undefined : `\`${field}\` is deprecated for this model.`
}

export interface ClaudeChecking {
  readonly model: string
  /** The `anthropic-beta` header. */
  readonly betaHeader: string | undefined
  readonly acceptForeignSignatures: boolean
  /** The day of the request, `2026-12-01`; without it the service knows every version. */
  readonly day?: string
}

export type ClaudeVerdict<Body> =
  | { readonly accepted: true; readonly request: Body }
  /** The text of an `invalid_request_error`. */
  | { readonly accepted: false; readonly message: string }

const betasIn = (body: unknown): ReadonlyArray<string> => {
  const named = typeof body === "object" && body !== null && "anthropic_beta" in body ? body.anthropic_beta : []
  return Array.isArray(named) ? named.filter((value) => typeof value === "string") : []
}

/** The service's message for a violation; two kinds have a special message (publicly reported, recorded). */
const shapeMessage = ({ path, message, bound }: ModelViolation): string => {
  if (bound && path.endsWith(".text.text")) return `${path.split(".")[0]}: text content blocks must be non-empty`
  if (/^tools\.[0-9]+\.custom\.input_schema$/.test(path) && message !== "Field required")
    return `${path}: Input does not match the expected shape.`
  return path === "" ? message : `${path}: ${message}`
}

const judged = <Body>(
  entry: "MessagesRequest" | "CountRequest",
  body: unknown,
  checking: ClaudeChecking,
  breached: (request: Body, betas: ReadonlyArray<string>) => string | undefined
): ClaudeVerdict<Body> => {
  const betas = betasOf(checking.betaHeader, betasIn(body))
  const unknownBeta = checkBetas(betas)
  if (unknownBeta !== undefined) return { accepted: false, message: unknownBeta }
  const violation = readClaude(entry, inFirstVersion(body, checking.day ?? "9999-12-31"), betas.length > 0)[0]
  if (violation !== undefined) return { accepted: false, message: shapeMessage(violation) }
  const request = body as Body // The shape is checked above.
  const message = checkVersionFields(body) ?? checkBetaFields(body, betas) ?? breached(request, betas)
  return message === undefined ? { accepted: true, request } : { accepted: false, message }
}

/** Validates the body of `rawPredict` and `streamRawPredict`. */
export const validateMessages = (body: unknown, checking: ClaudeChecking): ClaudeVerdict<MessagesRequest> =>
  judged("MessagesRequest", body, checking, (request: MessagesRequest, betas) =>
    checkClaudeRules(request, { ...checking, betas })
  )

/** Validates the body of `count-tokens:rawPredict`, which contains the model. */
export const validateCountMessages = (
  body: unknown,
  checking: Omit<ClaudeChecking, "model">
): ClaudeVerdict<CountRequest> =>
  judged("CountRequest", body, { ...checking, model: "" }, (request: CountRequest, betas) =>
    checkCountRules(request, { ...checking, model: request.model, betas })
  )
