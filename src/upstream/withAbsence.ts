// Adds what the facts know to the refusal of a model that the upstream does not have: its end, or its locations (M-723, M-800).
// Must not depend on dialects or on how a call is made.
import { absenceText } from "../domain/models/modelLife.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { dayOf } from "../domain/text/days.ts"

/** The model of a call; `createdSeconds` is the time of the request. */
interface Asked {
  readonly kind: ProviderKind
  readonly record: ModelRecord
  readonly createdSeconds: number
}

/** The same reason where the facts are silent. */
export const withAbsence = (reason: Reason, { createdSeconds, kind, record }: Asked): Reason => {
  if (reason._tag !== "ModelNotFound") return reason
  const location = /\blocations\/([a-z0-9-]{1,40})\//.exec(reason.message)?.[1]
  const text = absenceText(record, kind, location, dayOf(createdSeconds * 1000))
  return text === undefined ? reason : { ...reason, message: `${reason.message} ${text}` }
}
