// Tests versions of the store: kept stores of earlier releases are read whole, and the release before works on newer tables.
// Must not know what the statements of a release do.
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { compatibleFrom, database, lastMigration, migrate } from "../../src/store/database/Migrations.ts"
import { onSqlite, sqlClientLayer } from "../../src/store/database/Sql.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { databases } from "../support/databases.ts"
import { until } from "../support/eventually.ts"
import { dialectOf, keptReleases, keptStore, replay } from "../support/keptStores.ts"
import { packedOf, type RowFacts, rowOf } from "../support/requestRows.ts"
import { batchOf, keptServices, readStore, rowsOf } from "../support/storeScenario.ts"

/** Runs on a client of its own, as another process would. */
const onClient = (location: StoreLocation) => Effect.provide(Layer.fresh(sqlClientLayer(location)))
const onServices = (location: StoreLocation) => Effect.provide(Layer.fresh(keptServices(location)))

interface OldPage {
  readonly rows: ReadonlyArray<RowFacts>
}

/** What a release read, in the form of this version: up to migration 12 rows had other names. */
const inPresentForm = (read: unknown): unknown => {
  const old = read as { readonly requests: OldPage; readonly ofStatus: OldPage; readonly latest: RowFacts }
  const present = (page: OldPage) => ({ ...page, rows: page.rows.map(rowOf) })
  return { ...old, requests: present(old.requests), ofStatus: present(old.ofStatus), latest: rowOf(old.latest) }
}

const recorded = (release: number) => Effect.map(SqlClient.SqlClient, (sql) => keptStore(release, dialectOf(sql)))

const fill = (release: number) => Effect.flatMap(recorded(release), (kept) => replay(kept.fill))

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
}

/** The columns of all tables and views. SQLite has no types for those of views. */
const columns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = onSqlite(sql)
    ? sql<{ readonly t: string; readonly c: string; readonly type: string; readonly required: number }>`
        SELECT m.name AS t, p.name AS c, CASE m.type WHEN 'table' THEN p.type ELSE '' END AS type, p."notnull" AND p.dflt_value IS NULL AS required
        FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type IN ('table', 'view') ORDER BY t, p.cid`
    : sql<{ readonly t: string; readonly c: string; readonly type: string; readonly required: number }>`
        SELECT table_name AS t, column_name AS c, data_type AS type,
        CASE WHEN is_nullable = 'NO' AND column_default IS NULL THEN 1 ELSE 0 END AS required
        FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY t, ordinal_position`
  return (yield* rows).map(({ c: name, required, t: table, type }): Column => ({
    table,
    name,
    type,
    isRequired: required === 1
  }))
})

describe("releases", () => {
  it("store versions: the newest kept store is that of the release before this one", () => {
    expect(keptReleases().at(-1)).toBe(compatibleFrom)
  })
})

describe.each(databases)("versions of the store on $name", ({ empty, name }) => {
  it.effect.each(keptReleases())("store versions: reads all that the release of migration %i wrote", (release) =>
    Effect.gen(function* () {
      const at = yield* empty
      const { filled } = yield* onClient(at)(Effect.tap(recorded(release), fill(release)))
      expect(yield* onServices(at)(readStore)).toEqual(inPresentForm(filled))
    }).pipe(Effect.scoped)
  )

  it.effect("store versions: migrations since the release before this one only add", () =>
    Effect.gen(function* () {
      const at = yield* empty
      yield* onClient(at)(
        Effect.gen(function* () {
          yield* fill(compatibleFrom)
          const before = yield* columns
          yield* migrate
          const after = yield* columns
          expect(after).toEqual(expect.arrayContaining(before))
          const tables = new Set(before.map(({ table }) => table))
          const isNew = ({ name: column, table }: Column) =>
            tables.has(table) && !before.some((one) => one.table === table && one.name === column)
          expect(after.filter((column) => isNew(column) && column.isRequired)).toEqual([])
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("store versions: the release before this one reads and writes the newer tables, and nothing is lost", () =>
    Effect.gen(function* () {
      const at = yield* empty
      const { use, used } = yield* onClient(at)(Effect.tap(recorded(compatibleFrom), fill(compatibleFrom)))
      yield* onServices(at)(Effect.void)
      const onNewer = yield* onClient(at)(replay(use))
      expect(yield* onServices(at)(readStore)).toEqual(inPresentForm(used))
      // PGlite has one database for all tests.
      if (name === "PGlite") return
      const onOwn = yield* onClient(yield* empty)(Effect.andThen(fill(compatibleFrom), replay(use)))
      // A newer release may add columns to what is read, and its own rows to the table of migrations.
      const isData = (_: unknown, at: number) => !/\bmigrations\b/.test(use[at]?.[0] ?? "")
      expect(onNewer.filter(isData)).toMatchObject(onOwn.filter(isData))
    }).pipe(Effect.scoped)
  )

  it.effect("store versions: two releases on one store at a time count every request", () =>
    Effect.gen(function* () {
      const at = yield* empty
      const { use } = yield* onClient(at)(Effect.tap(recorded(compatibleFrom), fill(compatibleFrom)))
      const counts = yield* Effect.provide(
        Effect.gen(function* () {
          const { requests, series, usage, write } = yield* RequestTable
          yield* write(batchOf(rowsOf("newer", 1)))
          yield* onClient(at)(replay(use))
          yield* write(batchOf(rowsOf("newest", 1)))
          const limit = 100
          const groups = [[], ["key"], ["provider", "model"], ["config", "client"]] as const
          return {
            listed: (yield* requests({ limit })).rows.length,
            summed: yield* Effect.forEach(groups, (groupBy) =>
              Effect.map(usage({ groupBy, limit }), (page) => page.groups.reduce((sum, one) => sum + one.requests, 0))
            ),
            series: (yield* series({ bucket: "day", scope: "all", limit })).points.map(({ sums }) => sums.requests)
          }
        }),
        // Without the sweeps of other services, whose transactions the replay would wait for.
        RequestTable.layer.pipe(Layer.provide(Layer.fresh(database(at))))
      )
      expect(counts).toEqual({ listed: 10, summed: [10, 10, 10, 10], series: [2, 8] })
    }).pipe(Effect.scoped)
  )

  it.live.runIf(name === "PostgreSQL")(
    "store versions: a batch that the release before commits during the migration is listed as well",
    () =>
      Effect.gen(function* () {
        const at = yield* empty
        yield* onClient(at)(fill(compatibleFrom))
        const packed = JSON.stringify(rowsOf("meanwhile", 1).map(packedOf))
        const isAwaited = Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.map(
            sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = CAST('request_batches' AS REGCLASS)`,
            (rows) => rows.length > 0
          )
        )
        const migration = yield* onClient(at)(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            return yield* sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`INSERT INTO request_batches (rows_number, packed) VALUES (2, ${packed})`
                const running = yield* Effect.forkDetach(onClient(at)(migrate))
                const context = yield* Effect.context<SqlClient.SqlClient>()
                yield* Effect.promise(() => until(() => Effect.runPromise(Effect.provide(isAwaited, context))))
                return running
              })
            )
          })
        )
        yield* Fiber.join(migration)
        const { rows } = yield* Effect.provide(
          Effect.flatMap(RequestTable, ({ requests }) => requests({ limit: 2 })),
          RequestTable.layer.pipe(Layer.provide(Layer.fresh(database(at))))
        )
        expect(rows).toEqual(rowsOf("meanwhile", 1).toReversed())
      }).pipe(Effect.scoped)
  )

  it.effect("store versions: a store two releases ahead is refused with what to do, and stays as it is", () =>
    Effect.gen(function* () {
      const at = yield* empty
      const mark = (migration: number) =>
        Effect.scoped(
          Effect.provide(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE compatibility SET from_migration = ${migration}`),
            Layer.fresh(database(at))
          )
        )
      yield* mark(lastMigration)
      yield* mark(lastMigration + 1)
      const { message } = yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(database(at)))))
      expect(message.replace(/^the store \S+/, "the store X")).toBe(
        `the store X is of a version too far ahead: it needs migration ${lastMigration + 1}, and this version has ${lastMigration}; start the version that used it last or the one before that, or restore a backup from before the upgrade`
      )
    }).pipe(Effect.scoped)
  )
})
