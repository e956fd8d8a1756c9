// Adds to a provider's refusal whose credential or quota it is about, and the model that may have been meant.
// It must not depend on how a call is made, or on how an error is answered.
import { nearModel } from "../../catalog/models.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { ModelTable } from "../../domain/models/modelTable.ts"
import { isBuiltIn, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import { ProviderError, type Reason } from "../../domain/ProviderError.ts"

/** The call that was refused. */
interface RefusedCall {
  readonly account: Pick<ProviderAccount, "kind" | "origin" | "slug">
  readonly modelId: string
  readonly models: ModelTable
  /** The request has the key of an operator, who needs no advice to ask one. */
  readonly isOperator: boolean
}

/** What the provider's words are about, as the start of a sentence; undefined where they are about the request. */
const subjectOf = (
  reason: Reason,
  { account: { kind, origin, slug }, isOperator }: Pick<RefusedCall, "account" | "isOperator">
): string | undefined => {
  const provider = isBuiltIn(kind) ? "Google" : "its provider"
  const own = `credential for "${slug}" that came with the request`
  const isOwn = origin === "caller"
  if (isOperator && !isOwn) return undefined
  switch (reason._tag) {
    case "CredentialsRejected":
      return isOwn
        ? `The ${own} was refused by ${provider}`
        : `The gateway's credential for "${slug}" was refused by ${provider}; ask its operator`
    case "PermissionDenied":
      if (reason.code !== undefined) return undefined
      return isOwn
        ? `The ${own} may not do this at ${provider}`
        : `The gateway's credential for "${slug}" may not do this at ${provider}; ask its operator`
    case "QuotaExhausted":
      return isOwn
        ? `The quota of the ${own} is spent at ${provider}`
        : `The quota of the gateway's account "${slug}" is spent at ${provider}; ask its operator`
    default:
      return undefined
  }
}

const inWords = (reason: Reason, { account, isOperator, modelId, models }: RefusedCall): string | undefined => {
  if (reason._tag === "ModelNotFound") {
    const near = nearModel(account.kind, modelId, models)
    return near === undefined ? undefined : `${reason.message} Did you mean ${near}?`
  }
  const subject = subjectOf(reason, { account, isOperator })
  return subject === undefined ? undefined : `${subject}: ${reason.message}`
}

/** The error with a message that separates the client's own mistakes from those of the gateway's operator (W11). */
export const withFailureWords = <E extends GatewayError>(
  error: E | ProviderError,
  call: RefusedCall
): E | ProviderError => {
  if (!(error instanceof ProviderError)) return error
  const { isPartial, reason, slug, upstreamStatus } = error
  const message = inWords(reason, call)
  return message === undefined
    ? error
    : new ProviderError({
        slug,
        reason: { ...reason, message },
        ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
        ...(isPartial === undefined ? {} : { isPartial })
      })
}
