// Administration of providers, keys, configs, prompts and the audit log, for the admin API and the command line.
// Must not know HTTP or terminals.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type { Change, Provider } from "../api/AdminResources.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { GatewayKeys } from "../keys/GatewayKeys.ts"
import type { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { Records } from "../store/Records.ts"
import type { Actor, AuditRow, Page } from "../store/StoredRecord.ts"
import { type ConfigRecords, configRecords } from "./ConfigRecords.ts"
import { type KeyRecords, keyRecords } from "./KeyRecords.ts"
import type { Managed } from "./Managed.ts"
import { type PromptRecords, promptRecords } from "./PromptRecords.ts"
import { providerRecords } from "./ProviderRecords.ts"
import { momentOf } from "./resourceReader.ts"

const shownChange = ({ action, actor, atMillis, id, kind, requestId, version }: AuditRow): Change => ({
  object: "audit_entry",
  at: momentOf(atMillis),
  actor,
  ...(requestId === undefined ? {} : { request_id: requestId }),
  action,
  kind,
  id,
  version
})

export class Administration extends Context.Service<
  Administration,
  {
    /** The id of a provider is its slug. */
    readonly providers: Managed<Provider>
    readonly keys: KeyRecords
    readonly configs: ConfigRecords
    readonly prompts: PromptRecords
    /** The audit log, the newest change first. */
    readonly audit: (limit: number, cursor?: string) => Effect.Effect<Page<Change>, StoreUnavailable>
    /** Writes into the audit log that the captured content of a request was read. */
    readonly noteRead: (requestId: string, actor: Actor) => Effect.Effect<void, StoreUnavailable>
    /** Writes into the audit log that requests were deleted, and which. */
    readonly noteDeletion: (which: string, actor: Actor) => Effect.Effect<void, StoreUnavailable>
  }
>()("gateway/admin/Administration") {
  static readonly layer: Layer.Layer<Administration, never, Records | ConfigSnapshot | GatewayKeys> = Layer.effect(
    Administration,
    Effect.gen(function* () {
      const records = yield* Records
      const turn = Semaphore.makeUnsafe(1).withPermits(1)
      return {
        providers: yield* providerRecords(turn),
        keys: yield* keyRecords(turn),
        configs: yield* configRecords(turn),
        prompts: yield* promptRecords(turn),
        noteRead: (id, actor) => records.note("read", id, actor),
        noteDeletion: (which, actor) => records.note("delete", which, actor),
        audit: (limit, cursor) =>
          Effect.map(records.audit(limit, cursor), ({ next, rows }) => ({ rows: rows.map(shownChange), next }))
      }
    })
  )
}
