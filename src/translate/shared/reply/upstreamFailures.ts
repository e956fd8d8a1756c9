// Maps error responses of Google and of OpenAI-compatible upstreams to the gateway's error reasons.
// Must not depend on the gateway's own error responses; all special error texts of Google are matched here.
import type { Reason } from "../../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import {
  errorInfoReasons,
  readUpstreamError,
  reasonOfStatus,
  retryAfterOf,
  type ReadFailure,
  statusInside,
  type UpstreamError
} from "./upstreamError.ts"

export const failureFromGoogle: ReadFailure = (status, headers, body, origin) => {
  const error = readUpstreamError(status, headers, body)
  const special = status === 400 || status === 422 ? specialOf(error, origin) : undefined
  return (
    special ??
    endpointReason(status, headers, error) ??
    reasonOfStatus(status, headers, error, origin, hintOf(status, error))
  )
}

/** Maps an error inside a 200 response. Its origin is unknown there; "stored" blames no caller's credential. */
export const googleFailureInside = (error: Json): Reason =>
  failureFromGoogle(statusInside(error), {}, { error }, "stored")

const signatureTexts =
  /missing a thought_?signature|corrupted thought signature|invalid signature in thinking block|thought_?signature[^.]{0,40}(invalid|not valid)/i
const googleContextTexts =
  /input token count[^.]{0,80}exceeds|prompt is too long|exceeds the maximum number of (input )?tokens/i
const mixTexts =
  /multiple tools are supported only when they are all search tools|tool_type[^.]{0,80}more than one initialized field|only one tool|at most one tool is supported/i
const sizeTexts = /(payload|request) size exceeds|request (entity|payload) (is )?too large/i
const prefillTexts = /(requests?|conversation|contents?) (must )?ends? with a user (role|turn|message)|prefill/i

/** The reason of a 400 whose text matches a known error text of Google. */
const specialOf = (error: UpstreamError, origin: "caller" | "stored"): Reason | undefined => {
  const { text, message } = error
  if (errorInfoReasons(error).includes("API_KEY_INVALID") || /api key not valid|api key expired/i.test(text)) {
    return { _tag: "CredentialsRejected", origin, message }
  }
  if (signatureTexts.test(text)) {
    return {
      _tag: "SignatureRejected",
      message: `${message} Send back function.thought_signature as it came, or start a new turn.`
    }
  }
  if (googleContextTexts.test(text)) return { _tag: "ContextTooLong", message }
  if (mixTexts.test(text)) {
    return { _tag: "ToolMixRejected", message: `${message} Send grounding tools and functions in separate requests.` }
  }
  if (sizeTexts.test(text)) return { _tag: "PayloadTooLarge", message: `${message} ${sizeHint}` }
  return undefined
}

const dedicatedTexts = /dedicated (endpoint|dns|domain)|shared (vertex ai )?domain/i
const unreadyTexts = /not (yet )?ready|scal(ed|ing) (down )?(to|from) zero/i

/** Errors of self-deployed endpoints in any dialect: the endpoint has a dedicated host, or is not ready. */
const endpointReason = (
  status: number,
  headers: Readonly<Record<string, string>>,
  { details, message, text }: UpstreamError
): Reason | undefined => {
  if (status >= 400 && status < 500 && dedicatedTexts.test(text)) {
    return {
      _tag: "InvalidRequest",
      code: "upstream_failed_precondition",
      message: `${message} Set the endpoint's host in the provider's endpoints to its dedicated host name.`
    }
  }
  return status === 429 && unreadyTexts.test(text)
    ? { _tag: "Overloaded", code: "upstream_unavailable", message, ...retryAfterOf(headers, details) }
    : undefined
}

const sizeHint = "Use gs:// or the Files API for large media."

const hintOf = (status: number, error: UpstreamError): string | undefined => {
  if (status === 413) return sizeHint
  if (status === 401) {
    const reasons = errorInfoReasons(error)
    return reasons.includes("ACCESS_TOKEN_TYPE_UNSUPPORTED") || reasons.includes("CREDENTIALS_MISSING")
      ? "vertex-ai takes an OAuth access token; API keys work in express mode only."
      : undefined
  }
  if (status === 404) {
    const location = /\blocations\/([a-z0-9-]{1,40})\//.exec(error.text)?.[1]
    return location === undefined || location === "global"
      ? undefined
      : `It may be not available in location ${location}; newest models are served in global or multi-regions only.`
  }
  return status === 400 && prefillTexts.test(error.text) ? "This model takes no assistant prefill." : undefined
}

const retentionTexts = /must have data retention enabled/i

/** The refusal of a model that needs data retention, a setting of the organisation (M-831); undefined for another error. */
export const retentionRefusal = ({ message, text }: UpstreamError): Reason | undefined =>
  retentionTexts.test(text)
    ? {
        _tag: "PermissionDenied",
        code: "model_not_permitted",
        message: `${message} Enable 30 days of data retention for the organisation, or use another model.`
      }
    : undefined

// OpenAI-compatible upstreams, and Google in front of them.

/** Errors without a model server's marks are mapped as Google's. */
export const failureFromOpenAi: ReadFailure = (status, headers, body, origin) => {
  const error = readUpstreamError(status, headers, body)
  const { text, message } = error
  const code = error.code === undefined ? {} : { upstreamCode: error.code }
  if (status === 413) return { _tag: "PayloadTooLarge", message, ...code }
  if (
    (status === 400 || status === 422) &&
    (error.code === "context_length_exceeded" || openAiContextTexts.test(text))
  ) {
    return { _tag: "ContextTooLong", message }
  }
  if (status === 404 && servedTexts.test(text))
    return { _tag: "ModelNotFound", message: `${message} ${servedHint}`, ...code }
  return failureFromGoogle(status, headers, body, origin)
}

const openAiContextTexts = /maximum (context|model) length|context (length|window) (is |has been )?exceeded/i

const servedTexts = /\bmodel\b.{0,200}\bdoes not exist/i
const servedHint = "Set the endpoint's model in the provider's endpoints to the name under which it serves the model."

/** An error sent with status 200, as a body or an event; undefined when there is none. */
export const openAiFailureInside = (given: JsonObject): Reason | undefined => {
  const error = given["object"] === "error" ? given : given["error"]
  if (error === undefined || error === null || error === false) return undefined
  return failureFromOpenAi(statusInside(error), {}, isJsonObject(error) ? error : { error }, "stored")
}
