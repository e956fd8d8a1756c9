// Validates a messages body: betas first, then shape (comparable with a schema validator), then the semantic rules.
// Must not depend on sockets, routes or replies.

import { readClaude } from "../shapes/claude.ts"
import type { ModelViolation } from "../shapes/modelShape.ts"
import { betasOf, checkBetaFields, checkBetas } from "./betas.ts"
import type { CountRequest, MessagesRequest } from "./request.ts"
import { checkClaudeRules, checkCountRules } from "./rules.ts"
import { checkVersionFields, inFirstVersion } from "./versions.ts"

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
