// Gateway configs of the admin API: reads and changes them, and shows the credentials of their targets as masks.
// Must not know how a config is used.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Config, WrittenConfigBody } from "../api/AdminResources.ts"
import { heldAccounts } from "../catalog/heldAccounts.ts"
import { ConfigEntry } from "../catalog/heldConfigs.ts"
import { faultAt } from "../domain/faults.ts"
import { jsonObjectOf } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { holdsSecrets, maskedConfig, unmaskedConfig } from "../domain/config/maskedConfig.ts"
import { readConfigs } from "../domain/config/readConfigs.ts"
import type { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { recordReader } from "../store/readRecord.ts"
import type { Records } from "../store/Records.ts"
import type { StoredRecord } from "../store/StoredRecord.ts"
import { brokenGuard } from "./brokenGuard.ts"
import { type Judge, type Managed, managed, type RunInTurn } from "./Managed.ts"
import { momentOf, resourceReader } from "./readBody.ts"

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

const judging =
  (limits: LimitValues): Judge =>
  (written, before, state) =>
    Result.flatMap(
      bodyReader(before === undefined ? written : { id: before.id, ...written }),
      ({ config: masked, id, name }) => {
        const stored = before === undefined ? undefined : Result.getOrUndefined(entryReader(before))
        const { config, faults: maskFaults } = unmaskedConfig(masked, stored?.config, ["config"])
        // `readConfigs` reports paths as `configs.<id>`; this body has the field `config`.
        const faults = readConfigs({ [id]: config }, heldAccounts(state).accounts, limits).faults.map(
          ({ at = [], message }) =>
            faultAt(
              at.length > 2 ? ["config", ...at.slice(2)] : [message.startsWith("is not an id") ? "id" : "config"],
              message
            )
        )
        const all = [
          ...(before === undefined || id === before.id
            ? []
            : [faultAt(["id"], "is another than that of the URL; an id cannot be changed")]),
          ...maskFaults,
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
      }
    )

export const configRecords = (turn: RunInTurn): Effect.Effect<Managed<Config>, never, Records | ConfigSnapshot> =>
  Effect.flatMap(Limits, (limits) =>
    managed<Config>(
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
        guard: brokenGuard("config", limits)
      },
      judging(limits),
      turn
    )
  )
