// Writes the kept stores of this version for both databases: `npm run keep-store`, once for each release.
// Must not be run for a version whose store is kept: released stores do not change.
import { mkdirSync, writeFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { lastMigration } from "../../src/store/database/Migrations.ts"
import { databases } from "./databases.ts"
import { dialectOf, keptFile, keptFolder, type KeptStore, recordInto } from "./keptStores.ts"
import { fillStore, keptServices, readStore, useStore } from "./storeScenario.ts"

const keep = Effect.fnUntraced(function* (database: (typeof databases)[number]) {
  const location = yield* database.empty
  const fill: Array<KeptStore["fill"][number]> = []
  const use: Array<KeptStore["use"][number]> = []
  /** A process of its own. */
  const onProcess = Effect.provide(keptServices(location))
  yield* recordInto(fill)(onProcess(fillStore))
  const filled = yield* onProcess(readStore)
  const used = yield* recordInto(use)(onProcess(Effect.andThen(useStore, readStore)))
  const kept: KeptStore = { fill, filled, use, used }
  const file = yield* onProcess(Effect.map(SqlClient.SqlClient, (sql) => keptFile(lastMigration, dialectOf(sql))))
  writeFileSync(file, `${JSON.stringify(kept)}\n`, { flag: "wx" })
  console.log(`${database.name}: ${fill.length + use.length} statements in ${file}`)
})

mkdirSync(keptFolder, { recursive: true })
const [sqlite, pglite] = databases
for (const database of [sqlite, pglite])
  if (database !== undefined)
    await Effect.runPromise(keep(database).pipe(Effect.scoped, Effect.provide(TestClock.layer())))
process.exit()
