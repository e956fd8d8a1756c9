// Gateway configs of the admin API: reads and changes them, and shows the credentials of their targets as masks.
// Must not know how a config is used.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Config, WrittenConfigBody } from "../api/AdminResources.ts"
import { ConfigEntry, mergedAccounts } from "../catalog/mergedRecords.ts"
import { type Fault, faultAt, renderPath } from "../domain/faults.ts"
import { RecordUnknown } from "../domain/GatewayError.ts"
import { jsonObjectOf, type JsonObject } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { type GatewayConfig, holdsSecrets, maskedConfig, unmaskedConfig } from "../domain/config/GatewayConfig.ts"
import { readConfigs } from "../domain/config/readConfigs.ts"
import { modelNotices, type PlacedNotice } from "../domain/models/modelLife.ts"
import { ConfigSnapshot, type ConfigState } from "../store/ConfigSnapshot.ts"
import { newestIn, recordReader, type StoredRecord } from "../store/StoredRecord.ts"
import { Records } from "../store/Records.ts"
import { brokenGuard } from "./guards.ts"
import { type Judge, type Managed, managed, type RunInTurn } from "./Managed.ts"
import { longestId, momentOf, resourceReader } from "./resourceReader.ts"

const entryReader = recordReader(ConfigEntry)

const shownStored = (record: StoredRecord): Result.Result<Config, string> =>
  Result.map(entryReader(record), ({ config, name }) => ({
    object: "config",
    id: record.id,
    ...(name === undefined ? {} : { name }),
    config: maskedConfig(config),
    source: "store",
    version: record.version,
    created_at: momentOf(record.createdMillis),
    updated_at: momentOf(record.updatedMillis)
  }))

const bodyReader = resourceReader(WrittenConfigBody)

/** A config of a body: its credentials in the places of their masks, compiled, with its faults as the body has them. */
const compiled = (
  { config: masked, id }: WrittenConfigBody,
  before: StoredRecord | undefined,
  state: ConfigState,
  limits: LimitValues
) => {
  const stored = before === undefined ? undefined : Result.getOrUndefined(entryReader(before))
  const { config, faults: maskFaults } = unmaskedConfig(masked, stored?.config, ["config"])
  const { configs, faults } = readConfigs({ [id]: config }, mergedAccounts(state).accounts, limits)
  // `readConfigs` reports paths as `configs.<id>`; this body has the field `config`.
  const placed = faults.map(({ at = [], message }) =>
    faultAt(
      at.length > 2 ? ["config", ...at.slice(2)] : [message.startsWith("is not an id") ? "id" : "config"],
      message
    )
  )
  return { config, compiled: configs[id], faults: [...maskFaults, ...placed] }
}

const judging =
  (limits: LimitValues): Judge =>
  (written, before, state) =>
    Result.flatMap(bodyReader(before === undefined ? written : { id: before.id, ...written }), (body) => {
      const { id, name } = body
      const { config, faults } = compiled(body, before, state, limits)
      const all = [
        ...(before === undefined || id === before.id
          ? []
          : [faultAt(["id"], "is another than that of the URL; an id cannot be changed")]),
        ...faults
      ]
      if (all.length > 0) return Result.fail(all)
      const shown = { ...(name === undefined ? {} : { name }), config: maskedConfig(config) }
      return Result.succeed({
        id,
        content: {
          value: jsonObjectOf(shown),
          secret: holdsSecrets(config) ? Redacted.make(jsonObjectOf({ config })) : null
        }
      })
    })

export interface ConfigRecords extends Managed<Config> {
  /** The newest version of `id`, or the version that `id@3` names. */
  readonly get: Managed<Config>["get"]
  /** What saving a body of `id` and `config` would report, without saving it. `today` as 2027-01-31. */
  readonly check: (written: JsonObject, today: string) => CheckedConfig
}

export interface CheckedConfig {
  readonly faults: ReadonlyArray<Fault>
  /** Models of its targets that end, have ended or are not known. */
  readonly notices: ReadonlyArray<PlacedNotice>
  /** Undefined for a config with faults. */
  readonly config: GatewayConfig | undefined
}

/** What the operator should know of the models of each target. */
const targetNotices = (config: GatewayConfig, state: ConfigState, today: string): ReadonlyArray<PlacedNotice> => {
  const accounts = mergedAccounts(state).accounts.map((account) => ({ ...account, models: undefined }))
  const { models } = state.declared
  return config.targets.flatMap((target) =>
    modelNotices(
      {
        accounts,
        configs: { one: { ...config, targets: [target] } },
        keys: [],
        ...(models === undefined ? {} : { models })
      },
      today
    ).map((notice) => ({ ...notice, at: renderPath(["config", ...target.at]) }))
  )
}

const checking =
  (snapshot: ConfigSnapshot["Service"], limits: LimitValues): ConfigRecords["check"] =>
  (written, today) => {
    const body = bodyReader(written)
    if (Result.isFailure(body)) return { faults: body.failure, notices: [], config: undefined }
    const state = snapshot.current()
    const { compiled: config, faults } = compiled(
      body.success,
      newestIn(state.records.config, body.success.id),
      state,
      limits
    )
    return faults.length > 0 || config === undefined
      ? { faults, notices: [], config: undefined }
      : { faults, notices: targetNotices(config, state, today), config }
  }

const unknown = (id: string) => new RecordUnknown({ kind: "config", id: id.slice(0, longestId) })

/** Reads one config with the numbers of its stored versions. What is declared needs no store. */
const gettingVersion = (records: Records["Service"], get: Managed<Config>["get"]): Managed<Config>["get"] =>
  Effect.fnUntraced(function* (reference) {
    const at = reference.indexOf("@")
    const id = at < 0 ? reference : reference.slice(0, at)
    const newest = yield* get(id)
    if (newest.source === "file") return at < 0 ? newest : yield* unknown(reference)
    const stored = yield* records.versions("config", [id])
    const versions = stored.map(({ version }) => version)
    if (at < 0) return { ...newest, versions }
    const record = stored.find(({ version }) => String(version) === reference.slice(at + 1))
    const shown = record === undefined ? undefined : Result.getOrUndefined(shownStored(record))
    return shown === undefined ? yield* unknown(reference) : { ...shown, versions }
  })

export const configRecords = (turn: RunInTurn): Effect.Effect<ConfigRecords, never, Records | ConfigSnapshot> =>
  Effect.gen(function* () {
    const limits = yield* Limits
    const changing = yield* managed<Config>(
      {
        kind: "config",
        declared: ({ declared }) =>
          new Map(
            Object.entries(declared.configs ?? {}).map(([id, { shown }]) => [
              id,
              { object: "config", id, config: shown, source: "file", managed: "file" }
            ])
          ),
        shown: shownStored,
        guard: brokenGuard("config", limits, (_state, changed) => ({ configs: [changed], prompts: [] }))
      },
      judging(limits),
      turn
    )
    return {
      ...changing,
      get: gettingVersion(yield* Records, changing.get),
      check: checking(yield* ConfigSnapshot, limits)
    }
  })
