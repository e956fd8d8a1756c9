// The three envelopes an error can go out in.
// It must not know which errors exist; it words facts.
import type { ErrorFacts } from "../../api/errorFacts.ts"

/** Which dialect the caller speaks; decided by the path alone. */
export type Envelope = "openai" | "anthropic" | "problem"

export const envelopeOf = (path: string): Envelope => {
  if (path.startsWith("/v1/messages")) return "anthropic"
  return path.startsWith("/admin/") ? "problem" : "openai"
}

/** The answer's body as JSON text; `strict` leaves out what OpenAI's schema does not have. */
export const errorBody = (facts: ErrorFacts, envelope: Envelope, strict: boolean, requestId: string): string => {
  switch (envelope) {
    case "openai":
      return JSON.stringify({ error: openAiError(facts, strict) })
    case "anthropic":
      return JSON.stringify({
        type: "error",
        error: { type: anthropicType(facts), message: facts.message },
        request_id: requestId
      })
    case "problem":
      return JSON.stringify({
        type: `urn:model-gateway:error:${facts.code}`,
        title: facts.code.replaceAll("_", " "),
        status: facts.status,
        detail: facts.message,
        instance: requestId,
        errors: facts.faults
      })
  }
}

export const contentTypeOf = (envelope: Envelope): string =>
  envelope === "problem" ? "application/problem+json" : "application/json"

const openAiError = (facts: ErrorFacts, strict: boolean) => {
  const published = { message: facts.message, type: facts.type, param: facts.param, code: facts.code }
  return strict || facts.upstream === undefined
    ? published
    : {
        ...published,
        provider: facts.upstream.provider,
        upstream_status: facts.upstream.status,
        ...(facts.upstream.quotaId === undefined ? {} : { details: { quota_id: facts.upstream.quotaId } })
      }
}

/** Anthropic's words where they differ from OpenAI's (table 14, last column). */
const anthropicType = (facts: ErrorFacts): string => {
  if (facts.type === "insufficient_quota") return "billing_error"
  switch (facts.code) {
    case "request_too_large":
      return "request_too_large"
    case "overloaded":
    case "server_shutting_down":
    case "dependency_unavailable":
    case "upstream_overloaded":
      return "overloaded_error"
    case "upstream_timeout":
      return "timeout_error"
    default:
      return facts.type
  }
}
