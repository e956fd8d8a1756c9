// Refuses a change of a record that would break other stored records, such as a key that names a removed config.
// Must not know what the change is, nor whether HTTP or the command line asks for it.
import { heldConfigs } from "../catalog/heldConfigs.ts"
import { heldPrompts } from "../catalog/heldPrompts.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ConfigState } from "../store/ConfigSnapshot.ts"
import { newestOf } from "../store/readRecord.ts"
import type { RecordKind } from "../store/StoredRecord.ts"
import type { Kind } from "./Managed.ts"

/** Stored keys whose config does not exist. */
const lostKeys = (state: ConfigState, configs: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  newestOf(state.records.key).flatMap(({ id, value: { config, revoked_at: revoked } }) =>
    typeof config === "string" && revoked === undefined && !Object.hasOwn(configs, config) ? [`key ${id}`] : []
  )

/** Records that cannot be used, as `config fast`. */
const unusable = (state: ConfigState, limits: LimitValues): ReadonlyArray<string> => {
  const { configs, faults } = heldConfigs(state, limits)
  const ids = [...faults, ...heldPrompts(state, limits).faults].map(({ id }) => id.replace(/@\d+$/, ""))
  return [...ids, ...lostKeys(state, configs)]
}

/** The largest number of records that the message names. */
const mostNamed = 10

export const brokenGuard =
  (kind: RecordKind, limits: LimitValues): Kind<unknown>["guard"] =>
  (before, after, changed) => {
    const were = unusable(before, limits)
    const broken = [...new Set(unusable(after, limits))].filter(
      (id) => !were.includes(id) && id !== `${kind} ${changed}`
    )
    const named = broken.slice(0, mostNamed).join(", ") + (broken.length > mostNamed ? ", ..." : "")
    return broken.length === 0
      ? undefined
      : new RecordRefused({
          code: "in_use",
          message: `Without the ${kind} "${changed}" as it is these would stop working: ${named}. Change them first.`
        })
  }
