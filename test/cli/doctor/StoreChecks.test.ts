// The checks of `doctor` on a store: they make no tables, and report a slow database as slow, not as away.
// Must not open a store that has no tables.
import * as Effect from "effect/Effect"
import { expect, it } from "@effect/vitest"
import { storeFindings } from "../../../src/cli/doctor/LocalChecks.ts"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import { describeStore, type StoreLocation } from "../../../src/domain/settings/storeLocation.ts"
import { lastMigration, readMigration } from "../../../src/store/database/Migrations.ts"
import { sqlClientLayer } from "../../../src/store/database/Sql.ts"
import { databases, directory, patiently } from "../../support/databases.ts"
import { patientLimits } from "../../support/patientLimits.ts"
import { settingsFor } from "../../support/TestGateway.ts"

const findings = (location: StoreLocation, folder: string, limits: Partial<typeof defaultLimits> = patientLimits) =>
  Effect.map(
    Effect.all(
      storeFindings({
        ...settingsFor("http://unused.invalid"),
        limits: { ...defaultLimits, ...limits },
        store: { location, secretKeys: undefined, keyFile: `${folder}/secret.key` }
      })
    ),
    (found) => found.find(({ check }) => check === "store")
  )

const migration = (location: StoreLocation) => patiently(Effect.provide(readMigration, sqlClientLayer(location)))

for (const database of databases.filter(({ name }) => name !== "SQLite"))
  it.live(`doctor: makes no tables in an empty database of ${database.name}`, () =>
    Effect.scoped(
      Effect.gen(function* () {
        const location = yield* database.empty
        expect(yield* findings(location, yield* directory)).toEqual({
          check: "store",
          status: "ok",
          detail: `${describeStore(location)} answers; its tables will be made`
        })
        expect(yield* migration(location)).toBe(undefined)
      })
    )
  )

for (const database of databases)
  it.live(`doctor: opens a database of ${database.name} with the tables of this version`, () =>
    Effect.scoped(
      Effect.gen(function* () {
        const location = yield* database.location
        const found = yield* findings(location, yield* directory)
        expect(found).toEqual({ check: "store", status: "ok", detail: `${describeStore(location)} answers` })
        expect(yield* migration(location)).toBe(lastMigration)
      })
    )
  )

for (const database of databases.filter(({ name }) => name !== "SQLite"))
  it.live(`doctor: a database of ${database.name} that answers late is slow, and not away`, () =>
    Effect.scoped(
      Effect.gen(function* () {
        const location = yield* database.location
        const found = yield* findings(location, yield* directory, { storeAnswerMillis: 0.001 })
        expect({ ...found, detail: found?.detail.replace(/after \d+ ms/, "after N ms") }).toEqual({
          check: "store",
          status: "fail",
          detail: `${describeStore(location)} is slow: it answered after N ms, and a gateway waits 0.001 ms`,
          todo: "look at the load of the database and the way to it, or raise limits.storeAnswerMillis"
        })
      })
    )
  )
