// Tests that a deletion of requests ends while requests of the same key go on.
// Must not know HTTP or tables.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Administration } from "../../src/admin/Administration.ts"
import { deleteRequests } from "../../src/admin/RequestDeletion.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import { ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import { ContentStore } from "../../src/store/ContentStore.ts"
import { removedRows } from "../../src/store/database/Retention.ts"
import { Records } from "../../src/store/Records.ts"

/** The numbers of rows that the steps of a deletion find, and 1 for every later step: requests go on. */
const steps = (numbers: ReadonlyArray<number>): Effect.Effect<number> => {
  const left = [...numbers]
  return Effect.sync(() => left.shift() ?? 1)
}

const found = steps([removedRows, removedRows, 3])
const older = steps([removedRows, 2])

const services = Layer.mergeAll(
  Administration.layer,
  Layer.effect(
    UsageLog,
    Effect.map(UsageLog, (log) => ({
      ...log,
      remove: () => Effect.map(found, (length) => Array.from({ length }, (_, at) => `id-${at}`))
    }))
  ).pipe(Layer.provide(UsageLog.layerMemory)),
  Layer.effect(
    ContentStore,
    Effect.map(ContentStore, (contents) => ({
      ...contents,
      remove: (ids: ReadonlyArray<string>) => Effect.succeed(ids.length === removedRows ? 1 : 0),
      removeOlder: () => older
    }))
  ).pipe(Layer.provide(ContentStore.layerMemory))
).pipe(
  Layer.provideMerge(GatewayKeys.layer(Redacted.make("pepper"))),
  Layer.provideMerge(ConfigSnapshot.layer({ accounts: [], keys: [], configs: {}, prompts: [] })),
  Layer.provideMerge(Records.layerMemory)
)

it.effect("request deletion: ends with the first step that finds less than it may remove", () =>
  Effect.gen(function* () {
    expect(yield* deleteRequests({ key: "busy" }, { id: "cli", requestId: undefined })).toEqual({
      object: "requests_deleted",
      requests: 2 * removedRows + 3,
      contents: 2 + removedRows + 2
    })
  }).pipe(Effect.provide(services))
)
