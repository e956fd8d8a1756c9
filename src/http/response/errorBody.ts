// An error as the body of an answer: the envelope of each dialect, Google's details, and the status each dialect has for it.
// It must not depend on which errors exist; it renders facts. Rules of Google's envelope: N1001-N1004.
import type { ErrorFacts } from "../../api/errorFacts.ts"
import { dialectOfUnknown } from "../../api/clientRequests.ts"
import type { HeaderRecord } from "../../api/Headers.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { isClaudeVerb, type NativePath, servedVerbs } from "../../domain/native/nativePath.ts"
import { type Dialect, dialectOf, operationPaths } from "../../domain/operations.ts"

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

// The HTTP status of an error in the dialect of the client.

/** Anthropic's status of an overloaded model: its SDKs wait longer for 529 than for 503. */
const overloadedStatus = 529

/** Google has no 402. Its clients stop at the QuotaFailure in the body. */
const spentStatus = 402

/** The Messages API keeps 529, Google's has 429 for spent money; else every dialect gets the status of the table. */
export const statusFor = (
  { code, status }: Pick<ErrorFacts, "code" | "status">,
  envelope: "openai" | "anthropic" | "problem" | "google"
): number => {
  if (envelope === "google") return status === spentStatus ? 429 : status
  return envelope === "anthropic" && code === "upstream_overloaded" ? overloadedStatus : status
}

// An error in Google's envelope: google.rpc.Status with the details that Google's own clients decide by.

const rpcType = (name: string): string => `type.googleapis.com/google.rpc.${name}`

const statusWords: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [405, "UNIMPLEMENTED"],
  [409, "ABORTED"],
  [412, "FAILED_PRECONDITION"],
  [413, "INVALID_ARGUMENT"],
  [415, "INVALID_ARGUMENT"],
  [429, "RESOURCE_EXHAUSTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
  [507, "UNAVAILABLE"]
])

const preconditions: ReadonlySet<string> = new Set(["unsupported_operation", "upstream_failed_precondition"])

/** The canonical word of a status; refusals that no change of the body mends are preconditions. */
export const statusWord = ({ code, status }: Pick<ErrorFacts, "code" | "status">): string =>
  status === 400 && preconditions.has(code) ? "FAILED_PRECONDITION" : (statusWords.get(status) ?? "INTERNAL")

type Detail = Readonly<Record<string, unknown>>

/** The failure itself, where it is the last of several. */
const rootOf = (error: GatewayError): GatewayError => (error._tag === "AllTargetsFailed" ? error.last : error)

const quotaFailureOf = (description: string, quotaIds: ReadonlyArray<string>): ReadonlyArray<Detail> => [
  { "@type": rpcType("QuotaFailure"), violations: quotaIds.map((quotaId) => ({ quotaId, description })) }
]

/**
 * A quota that does not return within minutes. gemini-cli retries for minutes unless a `quotaId` contains `PerDay`, so
 * a spent month names its day as well.
 */
const quotaFailure = (error: GatewayError | undefined): ReadonlyArray<Detail> => {
  const root = error === undefined ? undefined : rootOf(error)
  if (root?._tag === "BudgetSpent" && !root.isReserved)
    return quotaFailureOf("The budget of the gateway key does not cover the request.", [
      ...(root.per === "month" ? ["GatewayBudgetPerMonth"] : []),
      "GatewayBudgetPerDay"
    ])
  return root?._tag === "ProviderError" && root.reason._tag === "QuotaExhausted"
    ? quotaFailureOf("The quota of the provider's account is spent.", ["ProviderQuotaPerDay"])
    : []
}

const retryInfo = ({ headers }: ErrorFacts): ReadonlyArray<Detail> => {
  const millis = headers["retry-after-ms"]
  return millis === undefined ? [] : [{ "@type": rpcType("RetryInfo"), retryDelay: `${Number(millis) / 1000}s` }]
}

const violation = ({ code, message, param }: ErrorFacts): ReadonlyArray<Detail> =>
  param === null || preconditions.has(code)
    ? []
    : [{ "@type": rpcType("BadRequest"), fieldViolations: [{ field: param, description: message }] }]

/** Of a failure of ours: its code as the reason. */
const ownDetails = (error: GatewayError | undefined, facts: ErrorFacts, requestId: string): ReadonlyArray<Detail> => [
  {
    "@type": rpcType("ErrorInfo"),
    reason: facts.code.toUpperCase(),
    domain: "model-gateway",
    metadata: { requestId }
  },
  ...violation(facts),
  ...quotaFailure(error),
  ...retryInfo(facts)
]

/** Of an upstream's failure: its own details, and the delay where it gave one elsewhere. */
const upstreamDetails = (
  details: ReadonlyArray<Detail>,
  facts: ErrorFacts,
  requestId: string
): ReadonlyArray<Detail> => [
  ...details,
  ...(details.some((detail) => detail["@type"] === rpcType("RetryInfo")) ? [] : retryInfo(facts)),
  { "@type": rpcType("RequestInfo"), requestId }
]

const googleMessage = ({ code, message }: ErrorFacts): string =>
  code === "unknown_url"
    ? `There is no such path here. Served are ${servedVerbs.join(", ")} of models, and lists of models.`
    : message

/** The answer's body as JSON text, also the object that ends a stream (N404). */
export const googleErrorBody = (error: GatewayError | undefined, facts: ErrorFacts, requestId: string): string => {
  const details = facts.upstream?.details
  const status = statusFor(facts, "google")
  return JSON.stringify({
    error: {
      code: status,
      message: googleMessage(facts),
      status: statusWord({ ...facts, status }),
      details: details === undefined ? ownDetails(error, facts, requestId) : upstreamDetails(details, facts, requestId)
    }
  })
}
