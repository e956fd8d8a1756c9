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

/** Stored keys that name one of these configs. */
const keysOf = (state: ConfigState, configs: ReadonlySet<unknown>): ReadonlyArray<string> =>
  newestOf(state.records.key)
    .filter(({ value: { config, revoked_at: revoked } }) => revoked === undefined && configs.has(config))
    .map(({ id }) => `key ${id}`)
    .toSorted()

/** The configs that can be used, and the configs and prompts that cannot, as `config fast`. */
const readable = (state: ConfigState, limits: LimitValues) => {
  const { configs, faults } = heldConfigs(state, limits)
  const ids = [...faults, ...heldPrompts(state, limits).faults].map(({ id }) => id.replace(/@\d+$/, ""))
  return { ids, configs }
}

/** The largest number of records that the message names. */
const mostNamed = 10

export const brokenGuard =
  (kind: RecordKind, limits: LimitValues): Kind<unknown>["guard"] =>
  (before, after, changed) => {
    const were = readable(before, limits)
    const are = readable(after, limits)
    const lost = new Set(Object.keys(were.configs).filter((id) => !Object.hasOwn(are.configs, id)))
    // Keys may be many; they are read only where a config is lost.
    const keys = lost.size === 0 ? [] : keysOf(after, lost)
    const broken = [...new Set([...are.ids, ...keys])].filter(
      (id) => !were.ids.includes(id) && id !== `${kind} ${changed}`
    )
    const named = broken.slice(0, mostNamed).join(", ") + (broken.length > mostNamed ? ", ..." : "")
    return broken.length === 0
      ? undefined
      : new RecordRefused({
          code: "in_use",
          message: `Without the ${kind} "${changed}" as it is these would stop working: ${named}. Change them first.`
        })
  }
