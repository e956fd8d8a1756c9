// Whether entries of the store would stop working by a change of another one.
// It must not know what the change is or who asks for it.
import { heldConfigs } from "../catalog/heldConfigs.ts"
import { heldPrompts } from "../catalog/heldPrompts.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { Held } from "../store/Holdings.ts"
import { newestOf } from "../store/readRecord.ts"
import type { RecordKind } from "../store/Records.ts"
import type { Kind } from "./Managed.ts"

/** Stored keys whose requests would name a config that is not there. */
const lostKeys = (held: Held, configs: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  newestOf(held.records.key).flatMap(({ id, value: { config, revoked_at: revoked } }) =>
    typeof config === "string" && revoked === undefined && !Object.hasOwn(configs, config) ? [`key ${id}`] : []
  )

/** What cannot be used of what is held, as `config fast`. */
const unusable = (held: Held, limits: LimitValues): ReadonlyArray<string> => {
  const { configs, faults } = heldConfigs(held, limits)
  const ids = [...faults, ...heldPrompts(held, limits).faults].map(({ id }) => id.replace(/@\d+$/, ""))
  return [...ids, ...lostKeys(held, configs)]
}

/** As many as a message has room for. */
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
