// The errors a request can end in, as tagged errors without HTTP.
// It must not know HTTP statuses, error envelopes or header names.
import * as Schema from "effect/Schema"
import { Allowance } from "./RateCounts.ts"
import type { ProviderError } from "./ProviderError.ts"

export class KeyMissing extends Schema.TaggedError<KeyMissing>()("KeyMissing", {}) {}
export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", {
  /** What the text is by its form, such as a key of OpenAI. */
  looksLike: Schema.optionalKey(Schema.String)
}) {}
/**
 * The console takes no sign-in or change from this request: its key or link is not valid, too many sign-ins failed, or
 * it may come from a page of another origin.
 */
export class SessionRefused extends Schema.TaggedError<SessionRefused>()("SessionRefused", {
  reason: Schema.Literals(["credential", "attempts", "host", "origin", "header"]),
  retryMillis: Schema.optionalKey(Schema.Number)
}) {}
/** What needs no key is read by a page of another host name or origin. */
export class PageRefused extends Schema.TaggedError<PageRefused>()("PageRefused", {
  reason: Schema.Literals(["host", "origin"])
}) {}
/** The key is valid but lacks the scope that the route needs. */
export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", {
  scope: Schema.Literals(["inference", "admin"])
}) {}
/** The key may not use this provider or model; `message` names it. */
export class ModelNotAllowed extends Schema.TaggedError<ModelNotAllowed>()("ModelNotAllowed", {
  message: Schema.String
}) {}
/** The key has a budget, and the model has no price. */
export class ModelNotPriced extends Schema.TaggedError<ModelNotPriced>()("ModelNotPriced", {
  slug: Schema.String,
  modelId: Schema.String,
  /** The known model whose name is near. */
  near: Schema.optionalKey(Schema.String)
}) {}
/** The stored credential may not read or write the object that the request names; `message` names it. */
export class ObjectNotAllowed extends Schema.TaggedError<ObjectNotAllowed>()("ObjectNotAllowed", {
  code: Schema.Literals(["object_not_allowed", "storage_not_allowed"]),
  message: Schema.String
}) {}
/**
 * The request names no provider by prefix or header, and several or none can serve its model. `known` are the slugs it
 * could name.
 */
export class ProviderMissing extends Schema.TaggedError<ProviderMissing>()("ProviderMissing", {
  known: Schema.Array(Schema.String),
  /** The operator's setting that would choose. */
  setting: Schema.optionalKey(Schema.String)
}) {}
/** The slug is not in the catalog. `param` is `model` or the header that named it. */
export class SlugUnknown extends Schema.TaggedError<SlugUnknown>()("SlugUnknown", {
  slug: Schema.String,
  param: Schema.String,
  known: Schema.Array(Schema.String)
}) {}
/** The gateway has no model, prompt, config, provider, key, request or response of this id. */
export class RecordUnknown extends Schema.TaggedError<RecordUnknown>()("RecordUnknown", {
  kind: Schema.Literals(["model", "prompt", "config", "request", "request_content", "provider", "key", "response"]),
  id: Schema.String,
  /** The gateway key names the record, not the request. */
  ofKey: Schema.optionalKey(Schema.Literal(true))
}) {}
/** A record cannot be saved. `faults` lists every fault with its path in the body. */
export class RecordInvalid extends Schema.TaggedError<RecordInvalid>()("RecordInvalid", {
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}
/** The change is valid by itself but conflicts with other records; `message` gives the reason and the fix. */
export class RecordRefused extends Schema.TaggedError<RecordRefused>()("RecordRefused", {
  code: Schema.Literals([
    "already_exists",
    "credentials_would_move",
    "declared_in_configuration",
    "in_use",
    "key_revoked",
    "last_admin_key",
    "record_unreadable",
    "request_id_ambiguous"
  ]),
  message: Schema.String
}) {}
/** The record has changed since the version in `If-Match`. */
export class RecordChanged extends Schema.TaggedError<RecordChanged>()("RecordChanged", {
  /** The current version. */
  version: Schema.Number
}) {}
/** Neither the request nor the account holds a credential; `message` names the one to send. */
export class CredentialsMissing extends Schema.TaggedError<CredentialsMissing>()("CredentialsMissing", {
  message: Schema.String
}) {}
/** The Authorization header of the request cannot be a provider credential. */
export class CredentialsInvalid extends Schema.TaggedError<CredentialsInvalid>()("CredentialsInvalid", {
  message: Schema.String
}) {}
export class ContentTypeUnsupported extends Schema.TaggedError<ContentTypeUnsupported>()("ContentTypeUnsupported", {
  code: Schema.Literals(["unsupported_content_type", "unsupported_charset", "unsupported_content_encoding"]),
  message: Schema.String
}) {}
/** The body, or the part of it that `param` names, exceeds a limit in bytes. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {
  limitBytes: Schema.Number,
  param: Schema.NullOr(Schema.String)
}) {}
/** The request is invalid. `param` is the path, `code` a stable word, `message` the fault and its fix. */
export class BodyInvalid extends Schema.TaggedError<BodyInvalid>()("BodyInvalid", {
  code: Schema.String,
  param: Schema.NullOr(Schema.String),
  message: Schema.String
}) {}
/** The parameter has no equivalent upstream, and the client asked to reject such parameters. */
export class UnsupportedParameter extends Schema.TaggedError<UnsupportedParameter>()("UnsupportedParameter", {
  param: Schema.String,
  message: Schema.String
}) {}
/** The model's family or provider has no such operation. */
export class UnsupportedOperation extends Schema.TaggedError<UnsupportedOperation>()("UnsupportedOperation", {
  message: Schema.String
}) {}
export class RouteUnknown extends Schema.TaggedError<RouteUnknown>()("RouteUnknown", {
  method: Schema.String,
  path: Schema.String
}) {}
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  method: Schema.String,
  allow: Schema.Array(Schema.String)
}) {}
/** The request asks for a WebSocket, which no route has. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {}) {}
/** The in-flight limit is reached, or the gateway is shutting down. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {
  code: Schema.Literals(["overloaded", "server_shutting_down"]),
  retryAfterMillis: Schema.Number
}) {}
/**
 * The running requests of the key hold all slots or memory they may. `limit` is set when the key has a limit of its
 * own.
 */
export class ConcurrencyReached extends Schema.TaggedError<ConcurrencyReached>()("ConcurrencyReached", {
  resource: Schema.Literals(["requests", "bytes"]),
  limit: Schema.UndefinedOr(Schema.Number)
}) {}
/** The key has used its requests or tokens of this minute. The error carries what is left of both limits. */
export class RateLimitReached extends Schema.TaggedError<RateLimitReached>()("RateLimitReached", {
  kind: Schema.Literals(["requests", "tokens"]),
  /** Requests or tokens per minute, by `kind`. */
  limit: Schema.Number,
  retryMillis: Schema.Number,
  requests: Schema.UndefinedOr(Allowance),
  tokens: Schema.UndefinedOr(Allowance)
}) {}
/** The budget of the key does not cover the request. */
export class BudgetSpent extends Schema.TaggedError<BudgetSpent>()("BudgetSpent", {
  usd: Schema.Number,
  per: Schema.Literals(["day", "month"]),
  /** What the request may cost at most, and what is left of the budget, in US dollars. */
  estimateUsd: Schema.Number,
  leftUsd: Schema.Number,
  /** The moment the next period begins; `retryMillis` is the time until then. */
  resets: Schema.String,
  retryMillis: Schema.Number,
  /** The rest of the budget would cover the request, but running requests have reserved it. */
  isReserved: Schema.Boolean,
  /** Where it is reserved: the time after which the reserve of a gateway that was killed is free again. */
  reclaimMillis: Schema.optionalKey(Schema.Number)
}) {}
/** The store or the shared Redis is unavailable, and this process does not hold enough state to go on. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** `full`: the store answers reads but refuses writes. */
  reason: Schema.Literals(["unreachable", "full"])
}) {}
/** A defect of the gateway. Only the outermost error handler makes this error. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {}) {}

/** Every error except `AllTargetsFailed`, which wraps one of these. */
export type SingleError =
  | KeyMissing
  | KeyInvalid
  | SessionRefused
  | PageRefused
  | ScopeMissing
  | ModelNotAllowed
  | ModelNotPriced
  | ObjectNotAllowed
  | ProviderMissing
  | SlugUnknown
  | RecordUnknown
  | RecordInvalid
  | RecordRefused
  | RecordChanged
  | CredentialsMissing
  | CredentialsInvalid
  | ContentTypeUnsupported
  | BodyTooLarge
  | BodyInvalid
  | UnsupportedParameter
  | UnsupportedOperation
  | RouteUnknown
  | MethodNotAllowed
  | UpgradeRequired
  | Busy
  | ConcurrencyReached
  | RateLimitReached
  | BudgetSpent
  | StoreUnavailable
  | Unexpected
  | ProviderError

const isError = (value: unknown): value is SingleError => value instanceof Error

/** Every target of the config failed; `last` is the error of the last one. */
export class AllTargetsFailed extends Schema.TaggedError<AllTargetsFailed>()("AllTargetsFailed", {
  last: Schema.declare(isError),
  /** How many targets were tried. */
  targets: Schema.Number,
  /** The index of the last target in the config. */
  optionIndex: Schema.Number,
  /** How often the last target was retried. */
  retryCount: Schema.Number,
  /** The cache status of the last attempt. */
  cache: Schema.Literals(["DISABLED", "MISS", "REFRESH"])
}) {}

/** The errors with which a pure translator may refuse a request. */
export type RequestFault = BodyInvalid | BodyTooLarge | UnsupportedParameter | UnsupportedOperation

/** Every error a handler can see. */
export type GatewayError = SingleError | AllTargetsFailed
