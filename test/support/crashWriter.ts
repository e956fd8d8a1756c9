// A process that writes records, or rotates keys, until it is killed, and prints each acknowledgement.
// Must not know when it will be killed. Arguments: directory, name, `write` or `rotate`.
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { masterKeysFile } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import * as Store from "../../src/store/Store.ts"

/** Waits for the lock as long as a busy machine takes. */
const patiently = Effect.provideService(Limits, { ...defaultLimits, storeLockMillis: 60_000 })
const [, , folder = "", name = "", task = ""] = process.argv
const masters = masterKeysFile(join(folder, "secret.key"))
const actor = { id: name, requestId: undefined }

const write = Effect.gen(function* () {
  const records = yield* Records
  for (let round = 0; ; round++) {
    const id = `${name}-${round % 7}`
    const content = { value: { round }, secret: Redacted.make({ round }) }
    const { version } = yield* Effect.catchTag(records.update("prompt", id, content, actor), "RecordMissing", () =>
      records.create("prompt", id, content, actor)
    )
    writeSync(1, `${id} ${version} ${round}\n`)
  }
})

const rotate = Effect.gen(function* () {
  for (;;) {
    yield* rotateSecret(masters)
    writeSync(1, "rotated\n")
  }
})

// A killed process keeps no compiled code.
flushCompileCache()
const store = Store.layer({ kind: "sqlite", path: join(folder, "gateway.db") }, masters)
await Effect.runPromise(patiently(task === "rotate" ? Effect.provide(rotate, store) : Effect.provide(write, store)))
