// A process that writes batches of requests and changes of records to a store until its input ends.
// Must not know what reads the store meanwhile. Argument: the data directory, which has a key file.
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { masterKeysFile } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import * as Store from "../../src/store/Store.ts"
import { batchOf, rowsOf } from "./storeScenario.ts"

const folder = process.argv[2] ?? ""
let isEnding = false
process.stdin.resume().once("end", () => {
  isEnding = true
})

const write = Effect.gen(function* () {
  const records = yield* Records
  const table = yield* RequestTable
  for (let round = 0; !isEnding; round++) {
    const value = { config: { override_params: { user: `u${round}` } } }
    const content = { value, secret: Redacted.make(value) }
    yield* records.create("config", `c${round}`, content, { id: "cli", requestId: undefined })
    yield* table.write(batchOf(rowsOf(`load-${round}`, 0)))
    writeSync(1, ".")
    // The event that ends the loop needs a turn.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

// A killed process keeps no compiled code.
flushCompileCache()
const store = Store.layer(
  { kind: "sqlite", path: join(folder, "gateway.db") },
  masterKeysFile(join(folder, "secret.key"))
)
await Effect.runPromise(
  write.pipe(
    Effect.provide(RequestTable.layer.pipe(Layer.provideMerge(store))),
    Effect.provideService(Limits, { ...defaultLimits, storeLockMillis: 60 * 1000 })
  )
)
process.exit()
