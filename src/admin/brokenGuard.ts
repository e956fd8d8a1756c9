// Refuses a change of a record that would break other stored records, such as a key that names a removed config.
// Must not know what the change is, nor whether HTTP or the command line asks for it.
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { heldAccounts } from "../catalog/heldAccounts.ts"
import { readHeldConfig } from "../catalog/heldConfigs.ts"
import { promptFaults } from "../catalog/heldPrompts.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ConfigState } from "../store/ConfigSnapshot.ts"
import { newestIn, newestOf } from "../store/readRecord.ts"
import type { RecordKind } from "../store/StoredRecord.ts"
import type { Kind } from "./Managed.ts"

/** Stored keys that name one of these configs. */
const keysOf = (state: ConfigState, configs: ReadonlySet<unknown>): ReadonlyArray<string> =>
  newestOf(state.records.key)
    .filter(({ value: { config, revoked_at: revoked } }) => revoked === undefined && configs.has(config))
    .map(({ id }) => `key ${id}`)
    .toSorted()

/** The stored configs and prompts that may depend on a changed record. The smaller it is, the less a change costs. */
export interface Reach {
  readonly configs: Iterable<string>
  readonly prompts: Iterable<string>
}

/** All of a state, for a change of a provider. */
export const everything = ({ records }: ConfigState): Reach => ({
  configs: HashMap.keys(records.config),
  prompts: HashMap.keys(records.prompt)
})

/** The configs within reach that can be used, and the configs and prompts that cannot, as `config fast`. */
const readable = (state: ConfigState, { configs, prompts }: Reach, limits: LimitValues) => {
  const usable = new Set<string>()
  const ids = promptFaults(state, prompts, limits).map(({ id }) => id.replace(/@\d+$/, ""))
  const { accounts } = heldAccounts(state)
  for (const id of configs) {
    const record = newestIn(state.records.config, id)
    const isRead = record !== undefined && Result.isSuccess(readHeldConfig(record, accounts, limits))
    if (record !== undefined && !isRead) ids.push(`config ${id}`)
    if (isRead || state.declared.configs?.[id] !== undefined) usable.add(id)
  }
  return { ids: new Set(ids), usable }
}

/** The largest number of records that the message names. */
const mostNamed = 10

export const brokenGuard =
  (
    kind: RecordKind,
    limits: LimitValues,
    reach: (state: ConfigState, changed: string) => Reach
  ): Kind<unknown>["guard"] =>
  (before, after, changed) => {
    const within = reach(before, changed)
    const [configs, prompts] = [[...within.configs], [...within.prompts]]
    const were = readable(before, { configs, prompts }, limits)
    const are = readable(after, { configs, prompts }, limits)
    const lost = new Set([...were.usable].filter((id) => !are.usable.has(id)))
    // Keys may be many; they are read only where a config is lost.
    const keys = lost.size === 0 ? [] : keysOf(after, lost)
    const broken = [...[...are.ids].toSorted(), ...keys].filter(
      (id) => !were.ids.has(id) && id !== `${kind} ${changed}`
    )
    const named = broken.slice(0, mostNamed).join(", ") + (broken.length > mostNamed ? ", ..." : "")
    return broken.length === 0
      ? undefined
      : new RecordRefused({
          code: "in_use",
          message: `Without the ${kind} "${changed}" as it is these would stop working: ${named}. Change them first.`
        })
  }
