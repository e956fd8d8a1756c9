// Every failure a request can end in, as facts without HTTP.
// It must not know statuses, error envelopes or header names of answers.
import * as Schema from "effect/Schema"
import { Allowance } from "./LimitState.ts"
import type { ProviderError } from "./ProviderError.ts"

export class KeyMissing extends Schema.TaggedError<KeyMissing>()("KeyMissing", {}) {}
export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", {}) {}
/** The key is good, but not for this. */
export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", {
  scope: Schema.Literals(["inference", "admin"])
}) {}
/** The key may not use this provider or model; `message` names which. */
export class ModelNotAllowed extends Schema.TaggedError<ModelNotAllowed>()("ModelNotAllowed", {
  message: Schema.String
}) {}
/** The key has a budget, and the model has no price. */
export class ModelNotPriced extends Schema.TaggedError<ModelNotPriced>()("ModelNotPriced", {
  slug: Schema.String,
  modelId: Schema.String
}) {}
/** The request names an object that the stored credential may not read or write for it; `message` names which. */
export class ObjectNotAllowed extends Schema.TaggedError<ObjectNotAllowed>()("ObjectNotAllowed", {
  code: Schema.Literals(["object_not_allowed", "storage_not_allowed"]),
  message: Schema.String
}) {}
/** No slug by prefix, header or single provider; `known` are the slugs this key could have named. */
export class ProviderMissing extends Schema.TaggedError<ProviderMissing>()("ProviderMissing", {
  known: Schema.Array(Schema.String)
}) {}
/** The slug is not in the catalog. `param` is `model` or the header that named it. */
export class SlugUnknown extends Schema.TaggedError<SlugUnknown>()("SlugUnknown", {
  slug: Schema.String,
  param: Schema.String,
  known: Schema.Array(Schema.String)
}) {}
/** A model, prompt, config, provider, key or request id that does not exist here. */
export class RecordUnknown extends Schema.TaggedError<RecordUnknown>()("RecordUnknown", {
  kind: Schema.Literals(["model", "prompt", "config", "request", "provider", "key"]),
  id: Schema.String,
  /** It is the gateway key that names it, not the request. */
  ofKey: Schema.optionalKey(Schema.Literal(true))
}) {}
/** What is to be kept cannot be: everything that is wrong with it, each with its place in what was sent. */
export class RecordInvalid extends Schema.TaggedError<RecordInvalid>()("RecordInvalid", {
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}
/** The change is sound by itself, but does not fit what is there; `message` says why and what to do. */
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
/** The record is no longer the one the change was made from. */
export class RecordChanged extends Schema.TaggedError<RecordChanged>()("RecordChanged", {
  /** The version there is now. */
  version: Schema.Number
}) {}
/** Neither the request nor the slug holds a credential; `message` says which to send. */
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
/** The body, or a part of it, is over a limit in bytes. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {
  limitBytes: Schema.Number,
  param: Schema.NullOr(Schema.String)
}) {}
/** Something in the request is wrong: `param` is where, `code` a stable word, `message` what and how to mend it. */
export class BodyInvalid extends Schema.TaggedError<BodyInvalid>()("BodyInvalid", {
  code: Schema.String,
  param: Schema.NullOr(Schema.String),
  message: Schema.String
}) {}
/** A parameter without an equivalent, while the client asked for refusal instead of silence. */
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
/** Over the in-flight limit, or shutting down. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {
  code: Schema.Literals(["overloaded", "server_shutting_down"]),
  retryAfterMillis: Schema.Number
}) {}
/** The running requests of the key hold as many slots, or as much memory, as they may; `limit` is set where the key has one of its own. */
export class ConcurrencyReached extends Schema.TaggedError<ConcurrencyReached>()("ConcurrencyReached", {
  resource: Schema.Literals(["requests", "bytes"]),
  limit: Schema.UndefinedOr(Schema.Number)
}) {}
/** The key has asked for as much as a minute allows; what is left of each of its limits, and when to ask again. */
export class RateLimitReached extends Schema.TaggedError<RateLimitReached>()("RateLimitReached", {
  kind: Schema.Literals(["requests", "tokens"]),
  /** What a minute allows of that kind. */
  limit: Schema.Number,
  retryMillis: Schema.Number,
  requests: Schema.UndefinedOr(Allowance),
  tokens: Schema.UndefinedOr(Allowance)
}) {}
/** The budget of the key does not cover the request. */
export class BudgetSpent extends Schema.TaggedError<BudgetSpent>()("BudgetSpent", {
  usd: Schema.Number,
  per: Schema.Literals(["day", "month"]),
  /** The moment the next period begins, and how far off that is. */
  resets: Schema.String,
  retryMillis: Schema.Number,
  /** The rest would cover it, but is set aside for requests that are running, and may come back. */
  isReserved: Schema.Boolean
}) {}
/** The store or the shared memory of several gateways cannot be used right now, and what is kept in this process does not suffice. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** `full`: it answers, but takes no more writes. */
  reason: Schema.Literals(["unreachable", "full"])
}) {}
/** A defect of ours, met at the outermost boundary only. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {}) {}

/** An error that is not made of others. */
export type SingleError =
  | KeyMissing
  | KeyInvalid
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
  | Busy
  | ConcurrencyReached
  | RateLimitReached
  | BudgetSpent
  | StoreUnavailable
  | Unexpected
  | ProviderError

const isError = (value: unknown): value is SingleError => value instanceof Error

/** No attempt was answered; the last one tells why. */
export class AllTargetsFailed extends Schema.TaggedError<AllTargetsFailed>()("AllTargetsFailed", {
  last: Schema.declare(isError),
  /** How many targets were tried. */
  targets: Schema.Number,
  /** The place of the last one in the config. */
  optionIndex: Schema.Number,
  /** How often the last one was called again. */
  retryCount: Schema.Number,
  /** Whether the last one was asked for want of a kept answer, or for a new one. */
  cache: Schema.Literals(["DISABLED", "MISS", "REFRESH"])
}) {}

/** What a pure translator may refuse a request with. */
export type RequestFault = BodyInvalid | BodyTooLarge | UnsupportedParameter | UnsupportedOperation

/** The whole union a handler can see. */
export type GatewayError = SingleError | AllTargetsFailed
