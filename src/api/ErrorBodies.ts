// Contract schemas of error answers: the OpenAI and Anthropic envelopes, and their statuses.
// It must not know individual errors; api/errorFacts.ts defines them.
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { arrivalFields, calledFields, retryFields } from "./headerFields.ts"

const opt = Schema.optionalKey

export const OpenAiError = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String.annotate({ description: "What is wrong, where, and what to do." }),
    type: Schema.Literals([
      "invalid_request_error",
      "authentication_error",
      "permission_error",
      "not_found_error",
      "rate_limit_error",
      "insufficient_quota",
      "api_error"
    ]),
    param: Schema.NullOr(Schema.String.annotate({ description: "Where in the request, as messages[0].content." })),
    code: Schema.String,
    provider: opt(Schema.String.annotate({ description: "Who failed; only with strict schema compliance off." })),
    upstream_status: opt(Schema.Number)
  })
}).annotate({ identifier: "OpenAiError" })
export interface OpenAiError extends Schema.Schema.Type<typeof OpenAiError> {}

export const AnthropicError = Schema.Struct({
  type: Schema.Literal("error"),
  error: Schema.Struct({ type: Schema.String, message: Schema.String }),
  request_id: Schema.String
}).annotate({ identifier: "AnthropicError" })
export interface AnthropicError extends Schema.Schema.Type<typeof AnthropicError> {}

/** On paths of Google's own dialects: google.rpc.Status as Google's REST APIs write it. */
export const GoogleError = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Int.annotate({ description: "The HTTP status." }),
    message: Schema.String,
    status: Schema.String.annotate({ description: "The canonical word, such as INVALID_ARGUMENT." }),
    details: opt(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
  })
}).annotate({ identifier: "GoogleError" })
export interface GoogleError extends Schema.Schema.Type<typeof GoogleError> {}

/** The description of each status, in both envelopes. */
export const statusMeanings = {
  400: "The request is wrong; the message states where and what to do.",
  401: "The gateway key, or the credential sent for the provider, is missing or wrong.",
  403: "The key, or the provider's account, may not do this.",
  404: "There is no such thing here.",
  409: "It does not fit what is there.",
  412: "It has changed since the version in If-Match.",
  413: "The body is too large.",
  415: "The body is not plain JSON in UTF-8.",
  402: "The budget of the key or the account of the provider is spent.",
  429: "Too many requests or tokens, or what is left of the budget is reserved; retry-after has the seconds to wait.",
  500: "The gateway failed; its log has the request id.",
  502: "The provider failed, or answered what cannot be read.",
  503: "The gateway or the provider is overloaded, or is leaving.",
  504: "The provider did not answer in time.",
  507: "The store takes no more writes."
} as const

/** Statuses of temporary errors, which carry retry headers. */
const passing = new Set([429, 503])

const withStatus =
  <S extends Schema.Top>(schema: S, fields: typeof arrivalFields) =>
  (status: number) =>
    HttpApiSchema.status(status)(
      HttpApiSchema.WithHeaders(schema, passing.has(status) ? { ...fields, ...retryFields } : fields)
    )

const ofKey = [401, 403, 404, 500, 503]
const ofModel = [400, 401, 402, 403, 404, 413, 415, 429, 500, 502, 503, 504]

/** Errors of a route that calls a model in OpenAI's dialect. */
export const modelErrors = ofModel.map(withStatus(OpenAiError, calledFields))
/** Errors of a route in Anthropic's dialect. */
export const messagesErrors = ofModel.map(withStatus(AnthropicError, calledFields))
/** Errors of a route that takes no body and calls no provider. */
export const keyErrors = ofKey.map(withStatus(OpenAiError, arrivalFields))
/** Errors of a route about a kept response. */
export const keptErrors = [400, ...ofKey].map(withStatus(OpenAiError, arrivalFields))
/** Errors of a route that answers nothing else. */
export const unansweredErrors = [400, 401, 403, 429, 500, 503].map(withStatus(OpenAiError, arrivalFields))
