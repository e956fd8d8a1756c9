// The circuit of a target: its name, and the verdict of the end of a call.
// It must not depend on how a circuit opens or where it is kept.
import type * as Option from "effect/Option"
import { renderPath } from "../../domain/faults.ts"
import type { CircuitRule } from "../../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import { modelIdOf } from "../../domain/ModelRef.ts"
import { isStaleSocket, ProviderError } from "../../domain/ProviderError.ts"
import type { Refused, Verdict } from "../../state/Breakers.ts"
import type { Circuit } from "../../state/Circuits.ts"
import { failureOf } from "./failures.ts"
import type { Planned } from "../plan/plan.ts"

/**
 * One circuit per caller, so that a caller cannot open it for others (TH20). Targets with the same account, place, model and rule share it,
 * but for those with credentials of their own.
 */
export const circuitOf = ({ account, modelId: written, target }: Planned, key: GatewayKey): Circuit | undefined => {
  if (target?.circuit === undefined) return undefined
  const modelId = modelIdOf(written)
  const own = target.credentials === undefined ? "" : renderPath(target.at) || "own"
  const parts = [key.id, account.slug, account.projectId ?? "", account.region ?? "", modelId, own, target.circuit.id]
  return { name: JSON.stringify(parts), owner: key.id, slug: account.slug, modelId, rule: target.circuit }
}

const leastFailing = 500

/** The gateway itself gave up the call, or sent it on a socket that had been closed. */
const isOurs = ({ reason }: ProviderError): boolean =>
  reason._tag === "CircuitOpen" || reason._tag === "NoRoom" || isStaleSocket(reason)

/** Only an answer of the target itself, or its silence, counts for or against the target. */
export const verdictOf = ({ codes }: CircuitRule, failed: Option.Option<GatewayError>): Verdict => {
  if (failed._tag === "None" || failed.value._tag !== "ProviderError" || isOurs(failed.value)) return "Ignored"
  const failure = failureOf(failed.value)
  if (
    codes === undefined
      ? failure.codes.some((code) => code >= leastFailing)
      : failure.codes.some((code) => codes.has(code))
  )
    return "Failure"
  return failed.value.upstreamStatus === undefined ? "Ignored" : "Success"
}

/** The failure of a call that was not made. */
export const refusedBy = (slug: string, { retryAfterMillis }: Refused): ProviderError =>
  new ProviderError({
    slug,
    reason: {
      _tag: "CircuitOpen",
      message: "The upstream was not called: it failed too often of late.",
      ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
    }
  })
