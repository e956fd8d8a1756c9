// Writes the kept stores of this version for both databases: `npm run keep-store`, once for each release.
// Must not be run for a version whose store is kept: released stores do not change.
import { mkdirSync, writeFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { databases } from "./databases.ts"
import { dialectOf, keptFile, keptFolder, type KeptStore, recordInto } from "./keptStores.ts"
import { fillStore, keptServices, readStore, useStore } from "./storeScenario.ts"

const keep = Effect.fnUntraced(function* (database: (typeof databases)[number]) {
  const location = yield* database.location
  const fill: Array<KeptStore["fill"][number]> = []
  const use: Array<KeptStore["use"][number]> = []
  yield* fillStore.pipe(Effect.provide(keptServices(location)), recordInto(fill))
  yield* Effect.gen(function* () {
    const filled = yield* readStore
    const used = yield* recordInto(use)(Effect.andThen(useStore, readStore))
    const kept: KeptStore = { fill, filled, use, used }
    const sql = yield* SqlClient.SqlClient
    const [last] = yield* sql<{ readonly id: number }>`SELECT MAX(migration_id) AS id FROM migrations`
    const file = keptFile(last?.id ?? 0, dialectOf(sql))
    writeFileSync(file, `${JSON.stringify(kept)}\n`, { flag: "wx" })
    console.log(`${database.name}: ${fill.length + use.length} statements in ${file}`)
  }).pipe(Effect.provide(keptServices(location)))
})

mkdirSync(keptFolder, { recursive: true })
const [sqlite, pglite] = databases
for (const database of [sqlite, pglite])
  if (database !== undefined)
    await Effect.runPromise(keep(database).pipe(Effect.scoped, Effect.provide(TestClock.layer())))
process.exit()
