// Measures what a change of a key costs in a store of many keys: `node test/bench/keys.ts`. No sockets, a SQLite file.
// Must not be read as throughput: each change waits for the disk. The CPU time is that of one gateway.
import "effect/schema/SchemaJITCompiler/enable"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { Administration } from "../../src/admin/Administration.ts"
import { Catalog, Configs, Prompts } from "../../src/catalog/Catalog.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import { databases, patiently, storeOn } from "../support/databases.ts"

const [sqlite] = databases
if (sqlite === undefined) throw new Error("no database")
const actor = { id: "bench", requestId: undefined }
const changes = 50

const layer = Administration.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(Catalog.layer, Configs.layer, Prompts.layer, GatewayKeys.layer(Redacted.make("p")))
  ),
  Layer.provideMerge(ConfigSnapshot.layer({ accounts: [], keys: [] })),
  Layer.provideMerge(storeOn(sqlite))
)

/** Keys straight into the tables, as the admin API would have made them. */
const fill = Effect.fnUntraced(function* (from: number, to: number) {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* GatewayKeys
  const row = (at: number) => ({
    kind: "key",
    id: `key_${at}`,
    version: 1,
    created_millis: 0,
    updated_millis: 0,
    value: JSON.stringify({ name: `team ${at}`, digest: keys.digest(`mgk_${at}`), prefix: "mgk_" })
  })
  for (let at = from; at < to; at += 1_000) {
    const [first, ...rest] = Array.from({ length: Math.min(1_000, to - at) }, (_, place) => row(at + place))
    if (first === undefined) continue
    yield* sql`INSERT INTO record_versions ${sql.insert([first, ...rest])}`
    yield* sql`INSERT INTO records ${sql.insert([first, ...rest])}`
  }
  // Without an entry of the audit log all is read again.
  yield* sql`UPDATE revision SET number = number + 2`
  yield* (yield* ConfigSnapshot).refresh
})

const run = Effect.gen(function* () {
  const { keys } = yield* Administration
  const timed = Effect.fnUntraced(function* <E>(
    name: string,
    times: number,
    change: (at: number) => Effect.Effect<unknown, E>
  ) {
    const before = process.cpuUsage()
    const started = performance.now()
    for (let at = 0; at < times; at++) yield* change(at)
    const { system, user } = process.cpuUsage(before)
    const each = (millis: number): string => `${(millis / times).toFixed(2)} ms`
    console.log(`  ${name}: ${each(performance.now() - started)}, CPU ${each((system + user) / 1000)}`)
  })
  let made = 0
  for (const size of [200, 10_000, 100_000]) {
    yield* fill(made, size)
    made = size
    console.log(`${size} keys`)
    yield* timed("update", changes, (at) => keys.update(`key_${size - 1 - at}`, { name: "other" }, actor))
    yield* timed("create", 1_000, (at) => keys.create({ name: `new ${at}` }, actor))
    yield* timed("revoke", changes, (at) => keys.remove(`key_${size - 101 - at}`, actor))
  }
})

await Effect.runPromise(Effect.scoped(patiently(run).pipe(Effect.provide(layer))))
process.exit()
