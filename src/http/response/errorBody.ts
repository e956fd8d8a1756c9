// The envelopes of an error, one for each dialect of a client.
// It must not depend on which errors exist; it renders facts.
import type { ErrorFacts } from "../../api/errorFacts.ts"
import { dialectOfUnknown } from "../../api/clients/clientDialect.ts"
import type { HeaderRecord } from "../../api/Headers.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { isClaudeVerb, type NativePath } from "../../domain/native/nativePath.ts"
import { type Dialect, dialectOf, operationPaths } from "../../domain/operations.ts"
import { googleErrorBody } from "./googleErrorBody.ts"

/** Which dialect the caller speaks. */
export type Envelope = Dialect | "problem"

/** The dialect of a path of Google's; Claude's clients read errors of Anthropic, on paths that nothing serves as well. */
export const nativeEnvelope = (native: NativePath, path: string, headers: HeaderRecord): Envelope => {
  const isClaude =
    native._tag === "Call"
      ? isClaudeVerb(native.verb)
      : native._tag !== "Models" && dialectOfUnknown(path, headers) === "anthropic"
  return isClaude ? "anthropic" : "google"
}

/** Paths that OpenAI's dialect alone has. On others, such as the model list and unknown ones, the client decides. */
const isOpenAi = (path: string): boolean => operationPaths.includes(path) || path.startsWith("/v1/prompts/")

/** By the path where one dialect has it, else by the client. */
export const envelopeOf = (path: string, headers: HeaderRecord): Envelope => {
  if (path.startsWith("/admin/")) return "problem"
  const dialect = dialectOf(path)
  if (dialect !== "openai" || isOpenAi(path)) return dialect
  return dialectOfUnknown(path, headers) === "anthropic" ? "anthropic" : "openai"
}

/** The answer's body as JSON text; `strict` leaves out what OpenAI's schema does not have. */
export const errorBody = (
  facts: ErrorFacts,
  envelope: Envelope,
  strict: boolean,
  requestId: string,
  error?: GatewayError
): string => {
  switch (envelope) {
    case "google":
      return googleErrorBody(error, facts, requestId)
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
