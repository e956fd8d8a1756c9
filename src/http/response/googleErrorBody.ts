// An error in Google's envelope: google.rpc.Status with the details that Google's own clients decide by.
// It must not know which errors exist beyond their facts. Rules: N1001-N1004.
import { servedVerbs } from "../../domain/native/nativePath.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { ErrorFacts } from "../../api/errorFacts.ts"
import { statusFor } from "./statusFor.ts"

const type = (name: string): string => `type.googleapis.com/google.rpc.${name}`

const words: ReadonlyMap<number, string> = new Map([
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
  status === 400 && preconditions.has(code) ? "FAILED_PRECONDITION" : (words.get(status) ?? "INTERNAL")

type Detail = Readonly<Record<string, unknown>>

/** The failure itself, where it is the last of several. */
const rootOf = (error: GatewayError): GatewayError => (error._tag === "AllTargetsFailed" ? error.last : error)

const quotaFailureOf = (description: string, quotaIds: ReadonlyArray<string>): ReadonlyArray<Detail> => [
  { "@type": type("QuotaFailure"), violations: quotaIds.map((quotaId) => ({ quotaId, description })) }
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
  return millis === undefined ? [] : [{ "@type": type("RetryInfo"), retryDelay: `${Number(millis) / 1000}s` }]
}

const violation = ({ code, message, param }: ErrorFacts): ReadonlyArray<Detail> =>
  param === null || preconditions.has(code)
    ? []
    : [{ "@type": type("BadRequest"), fieldViolations: [{ field: param, description: message }] }]

/** Of a failure of ours: its code as the reason. */
const ownDetails = (error: GatewayError | undefined, facts: ErrorFacts, requestId: string): ReadonlyArray<Detail> => [
  {
    "@type": type("ErrorInfo"),
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
  ...(details.some((detail) => detail["@type"] === type("RetryInfo")) ? [] : retryInfo(facts)),
  { "@type": type("RequestInfo"), requestId }
]

const messageOf = ({ code, message }: ErrorFacts): string =>
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
      message: messageOf(facts),
      status: statusWord({ ...facts, status }),
      details: details === undefined ? ownDetails(error, facts, requestId) : upstreamDetails(details, facts, requestId)
    }
  })
}
