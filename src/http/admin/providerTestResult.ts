// The result of reaching a provider as text: what is wrong, and what to do.
// It must not depend on how the provider was reached.
import type { ProviderTested } from "../../admin/ProviderTest.ts"
import type { ProviderCheck } from "../../api/AdminResources.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { errorFacts } from "../../api/errorFacts.ts"

/** The remedy for an operator; undefined where the message contains it already. */
const advice = (error: GatewayError): string => {
  if (error._tag === "CredentialsMissing") return "Give the account an api_key or credentials."
  if (error._tag !== "ProviderError") return ""
  switch (error.reason._tag) {
    case "CredentialsRejected":
      return "Give the account a credential that is valid."
    case "PermissionDenied":
      return "Grant its principal the role Vertex AI User (roles/aiplatform.user), or enable the API in its project."
    case "ModelNotFound":
      return "The credential was taken; check region, project_id and models of the account."
    case "Transport":
      return "Check base_url of the account, the name service and the firewall between here and there."
    case "Timeout":
      return "Check the firewall between here and there, and base_url of the account."
    case "RateLimited":
    case "QuotaExhausted":
      return "The credential was taken; its quota is used up for now."
    case "Overloaded":
    case "Internal":
    case "CircuitOpen":
      return "The provider has trouble of its own; try again later."
    case "BadReply":
      return "What answers there is not the provider; check base_url of the account."
    default:
      return ""
  }
}

export const providerTestResult = ({ durationMillis, error, model, slug }: ProviderTested): ProviderCheck => {
  const common = { object: "provider_test" as const, slug, model, duration_ms: durationMillis }
  if (error === undefined) return { ...common, ok: true, message: "The provider answers, and takes the credential." }
  const { code, message, upstream } = errorFacts(error)
  return {
    ...common,
    ok: false,
    message: `${message} ${advice(error)}`.trim(),
    code,
    ...(upstream?.status === undefined ? {} : { upstream_status: upstream.status })
  }
}
