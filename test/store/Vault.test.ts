// Tests secrets at rest (TH24): flipped, swapped or foreign ciphertexts never open, and keys rotate during use.
// Must not know what a secret is for.
import { existsSync, chmodSync, readdirSync, rmSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { masterKeysFile, masterKeysGiven, randomMasterText } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import { type Actor, RecordBroken } from "../../src/store/StoredRecord.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import * as Store from "../../src/store/Store.ts"
import { lockStore, Vault } from "../../src/store/Vault.ts"
import { databases, directory, patiently, someMasters, storeOn } from "../support/databases.ts"

const actor: Actor = { id: "cli", requestId: undefined }
const secret = (text: string) => Redacted.make({ text })
const textOf = (record: { readonly secret: Redacted.Redacted<unknown> | undefined }) =>
  record.secret === undefined ? undefined : Redacted.value(record.secret)
const some = () => Redacted.make(randomMasterText())
const changed = "it was changed in the store"
const broken = (kind: "key" | "provider", id: string, why = changed) => new RecordBroken({ kind, id, why })

interface SecretRow {
  readonly id: string
  readonly secret: Uint8Array
  readonly secret_key_id: string
}
const secretRows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<SecretRow>`SELECT id, secret, secret_key_id FROM records ORDER BY id`
)
const keyIds = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly id: string }>`SELECT id FROM vault_keys`, (rows) => rows.map(({ id }) => id))
)
const put = (id: string, bytes: Uint8Array) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE records SET secret = ${bytes} WHERE id = ${id}`)

describe.each(databases)("secrets on $name", (database) => {
  it.effect("secrets: those with a flipped bit are reported by kind and id, and the others load (TH24)", () =>
    Effect.gen(function* () {
      const records = yield* Records
      for (const id of ["a", "b", "c"]) yield* records.create("key", id, { value: {}, secret: secret(id) }, actor)
      const [, middle] = yield* secretRows
      const bytes = middle?.secret ?? new Uint8Array()
      const bits = bytes.length * 8
      for (let sample = 0; sample < 64; sample++) {
        const bit = Math.floor((sample * bits) / 64)
        const flipped = Uint8Array.from(bytes)
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        yield* put("b", flipped)
        expect(yield* Effect.flip(records.get("key", "b"))).toEqual(broken("key", "b"))
        expect((yield* records.list("key")).map(textOf)).toEqual([{ text: "a" }, { text: "c" }])
      }
      yield* put("b", bytes.subarray(0, 20))
      expect(yield* Effect.flip(records.get("key", "b"))).toEqual(broken("key", "b"))
      expect((yield* records.page("key", 2, undefined)).next).toBe("b")
      expect(yield* Effect.flip(records.update("key", "b", { value: {} }, actor))).toEqual(broken("key", "b"))
      expect(textOf(yield* records.update("key", "b", { value: {}, secret: secret("new") }, actor))).toEqual({
        text: "new"
      })
      expect((yield* records.list("key")).map(textOf)).toEqual([{ text: "a" }, { text: "new" }, { text: "c" }])
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.effect("secrets: open in no other record, kind or version (TH24)", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.create("provider", "a", { value: {}, secret: secret("a") }, actor)
      yield* records.create("provider", "b", { value: {}, secret: secret("b") }, actor)
      const [a, b] = yield* secretRows
      yield* put("a", b?.secret ?? new Uint8Array())
      yield* put("b", a?.secret ?? new Uint8Array())
      expect(yield* records.list("provider")).toEqual([])
      expect(yield* Effect.flip(records.get("provider", "a"))).toEqual(broken("provider", "a"))
      expect(yield* Effect.flip(records.get("provider", "b"))).toEqual(broken("provider", "b"))
      yield* put("b", b?.secret ?? new Uint8Array())
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE records SET version = 2 WHERE id = 'b'`
      expect(yield* Effect.flip(records.get("provider", "b"))).toEqual(broken("provider", "b"))
      yield* sql`UPDATE records SET version = 1, kind = 'key' WHERE id = 'b'`
      expect(yield* Effect.flip(records.get("key", "b"))).toEqual(broken("key", "b"))
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.effect("secrets: never have the same ciphertext twice (TH24)", () =>
    Effect.gen(function* () {
      const records = yield* Records
      for (const id of ["a", "b"]) yield* records.create("key", id, { value: {}, secret: secret("same") }, actor)
      const [a, b] = yield* secretRows
      expect(Buffer.from(a?.secret ?? []).equals(Buffer.from(b?.secret ?? []))).toBe(false)
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.live.runIf(database.takesSeveral)(
    "secrets: survive a rotation while two processes read and write, and old keys are forgotten (TH24)",
    () =>
      Effect.gen(function* () {
        const location = yield* database.location
        const [old, fresh] = [some(), some()]
        const both = masterKeysGiven([fresh, old], "GATEWAY_SECRET_KEY")
        const one = yield* Layer.build(Store.layer(location, masterKeysGiven([old], "GATEWAY_SECRET_KEY")))
        const first = yield* Effect.provideContext(Records, one)
        for (let n = 0; n < 120; n++)
          yield* first.create("provider", `p${n}`, { value: { n }, secret: secret(`s${n}`) }, actor)
        const before = yield* Effect.provideContext(keyIds, one)
        const two = yield* Layer.build(Store.layer(location, both))
        const three = yield* Layer.build(Store.layer(location, both))
        const others = yield* Effect.forEach([two, three], (context) => Effect.provideContext(Records, context))
        const work = Effect.forEach(
          others,
          (records, at) =>
            Effect.forEach(
              Array.from({ length: 20 }, (_, n) => n),
              (n) =>
                Effect.gen(function* () {
                  const id = `p${(n * 37 + at) % 120}`
                  yield* records.update("provider", id, { value: { n } }, actor)
                  expect((yield* records.list("provider")).length).toBe(120)
                  expect(textOf(yield* records.get("provider", id))).toEqual({ text: `s${id.slice(1)}` })
                })
            ),
          { concurrency: 2 }
        )
        const running = yield* Effect.forkChild(work)
        const rotated = yield* Effect.provideContext(rotateSecret(both), two)
        yield* Fiber.join(running)
        expect([rotated.broken, rotated.keysRetired]).toEqual([[], 1])
        const after = yield* Effect.provideContext(keyIds, one)
        expect([after.length, before.includes(after[0] ?? "")]).toEqual([1, false])
        expect((yield* Effect.provideContext(secretRows, one)).filter((row) => row.secret_key_id !== after[0])).toEqual(
          []
        )
        const last = yield* Layer.build(Store.layer(location, masterKeysGiven([fresh], "GATEWAY_SECRET_KEY")))
        const all = yield* Effect.flatMap(Effect.provideContext(Records, last), (records) => records.list("provider"))
        expect(all.map(textOf)).toEqual(all.map(({ id }) => ({ text: `s${id.slice(1)}` })))
        const peppers = yield* Effect.forEach([one, two, three, last], (context) =>
          Effect.provideContext(Vault, context)
        )
        expect(new Set(peppers.map(({ pepper }) => Redacted.value(pepper))).size).toBe(1)
      }).pipe(Effect.scoped, patiently)
  )

  it.effect(
    "secrets: stay readable after a rotation that stops anywhere, and the next rotation finishes it (TH24)",
    () =>
      Effect.gen(function* () {
        const masters = someMasters()
        const context = yield* Layer.build(storeOn(database, masters))
        const records = yield* Effect.provideContext(Records, context)
        for (let n = 0; n < 4; n++) yield* records.create("key", `k${n}`, { value: {}, secret: secret(`s${n}`) }, actor)
        const whole = Effect.map(records.list("key"), (all) => all.map(textOf))
        const expected = yield* whole
        const sql = yield* Effect.provideContext(SqlClient.SqlClient, context)
        const vault = yield* Effect.provideContext(Vault, context)
        yield* sql.withTransaction(Effect.andThen(lockStore(sql), vault.renew))
        expect(yield* whole).toEqual(expected)
        yield* records.update("key", "k1", { value: {}, secret: secret("s1") }, actor)
        const ids = (yield* Effect.provideContext(secretRows, context)).map((row) => row.secret_key_id)
        expect(new Set(ids).size).toBe(2)
        expect(yield* whole).toEqual(expected)
        expect(yield* Effect.provideContext(rotateSecret(masters), context)).toEqual({
          records: 4,
          broken: [],
          keysRetired: 2
        })
        expect(yield* whole).toEqual(expected)
        yield* put("k2", Uint8Array.of(1, 2, 3)).pipe(Effect.provideContext(context))
        expect(yield* Effect.provideContext(rotateSecret(masters), context)).toEqual({
          records: 3,
          broken: ["key k2"],
          keysRetired: 0
        })
        expect(yield* whole).toEqual(expected.filter((_, n) => n !== 2))
      }).pipe(Effect.scoped)
  )

  it.effect("secrets: are refused under other master keys, with the source of the keys in the message (TH24)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      yield* Layer.build(Store.layer(location, someMasters()))
      const refused = yield* Effect.flip(
        Layer.build(Store.layer(location, masterKeysGiven([some()], "GATEWAY_SECRET_KEY")))
      )
      expect(refused.message).toMatch(
        /^the secrets of the store cannot be decrypted: its data key is wrapped by the master key [0-9a-f]{16}, which is not in GATEWAY_SECRET_KEY$/
      )
    }).pipe(Effect.scoped)
  )
})

describe("the key file", () => {
  const opened = (location: StoreLocation, path: string) => Layer.build(Store.layer(location, masterKeysFile(path)))

  it.effect("key file: is made readable for its owner only, and refused when others can read it (TH24)", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const path = join(folder, "inner", "secret.key")
      const location: StoreLocation = { kind: "sqlite", path: join(folder, "gateway.db") }
      yield* Effect.scoped(opened(location, path))
      expect((statSync(path).mode & 0o777).toString(8)).toBe("600")
      expect((statSync(join(folder, "gateway.db")).mode & 0o777).toString(8)).toBe("600")
      yield* Effect.scoped(opened(location, path))
      chmodSync(path, 0o640)
      expect((yield* Effect.flip(opened(location, path))).message).toBe(
        `the key file ${path} can be read by others (mode 0640): chmod 600 ${path}`
      )
      chmodSync(path, 0o600)
      writeFileSync(path, "c2hvcnQ=\n")
      expect((yield* Effect.flip(opened(location, path))).message).toBe(
        `the key file ${path} must hold 32 bytes in base64, as \`openssl rand -base64 32\` makes them`
      )
      writeFileSync(path, "\n")
      expect((yield* Effect.flip(opened(location, path))).message).toBe(`the key file ${path} holds no key`)
    }).pipe(Effect.scoped)
  )

  it.effect("key file: a lost one is reported and not made again, because a new key opens nothing (TH24)", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const path = join(folder, "secret.key")
      const location: StoreLocation = { kind: "sqlite", path: join(folder, "gateway.db") }
      const records = yield* Effect.flatMap(opened(location, path), (context) =>
        Effect.provideContext(Records, context)
      )
      yield* records.create("key", "k", { value: {}, secret: secret("s") }, actor)
      const kept = readFileSync(path, "utf8")
      rmSync(path)
      expect((yield* Effect.flip(opened(location, path))).message).toBe(
        `the key file ${path} is missing, and the store has secrets that no other key opens: put its copy back, or set GATEWAY_SECRET_KEY`
      )
      expect(existsSync(path)).toBe(false)
      writeFileSync(path, kept, { mode: 0o600 })
      const again = yield* Effect.flatMap(opened(location, path), (context) => Effect.provideContext(Records, context))
      expect(textOf(yield* again.get("key", "k"))).toEqual({ text: "s" })
    }).pipe(Effect.scoped)
  )

  it.effect("key file: is replaced by a rotation and read again by a running process (TH24)", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const path = join(folder, "secret.key")
      const location: StoreLocation = { kind: "sqlite", path: join(folder, "gateway.db") }
      const running = yield* opened(location, path)
      const records = yield* Effect.provideContext(Records, running)
      yield* records.create("key", "k", { value: {}, secret: secret("s") }, actor)
      const before = readFileSync(path, "utf8")
      const verb = yield* opened(location, path)
      expect(yield* Effect.provideContext(rotateSecret(masterKeysFile(path)), verb)).toEqual({
        records: 1,
        broken: [],
        keysRetired: 1
      })
      const after = readFileSync(path, "utf8")
      expect([after === before, after.split("\n").length]).toEqual([false, 2])
      expect(textOf(yield* records.get("key", "k"))).toEqual({ text: "s" })
      expect(textOf(yield* records.update("key", "k", { value: {}, secret: secret("t") }, actor))).toEqual({
        text: "t"
      })
      expect(readdirSync(folder).filter((name) => name.startsWith("secret"))).toEqual(["secret.key"])
    }).pipe(Effect.scoped)
  )

  it.effect("key file: keeps a master key that another unfinished rotation needs (TH24)", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const path = join(folder, "secret.key")
      const location: StoreLocation = { kind: "sqlite", path: join(folder, "gateway.db") }
      const masters = masterKeysFile(path)
      const verb = yield* opened(location, path)
      const records = yield* Effect.provideContext(Records, verb)
      yield* records.create("key", "k", { value: {}, secret: secret("s") }, actor)
      // The other rotation wrote its key to the file and stopped before the database had it.
      const disturbed = {
        ...masters,
        retire: (used: ReadonlySet<string>) => Effect.andThen(masters.renew, masters.retire(used))
      }
      yield* Effect.provideContext(rotateSecret(disturbed), verb)
      expect(readFileSync(path, "utf8").split("\n").length).toBe(3)
      const later = yield* opened(location, path)
      expect(
        textOf(yield* Effect.flatMap(Effect.provideContext(Records, later), ({ get }) => get("key", "k")))
      ).toEqual({ text: "s" })
      yield* Effect.provideContext(rotateSecret(masters), later)
      expect(readFileSync(path, "utf8").split("\n").length).toBe(2)
    }).pipe(Effect.scoped)
  )

  it.effect("key file: keeps secret and pepper out of the database, its log and a copy (TH24)", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const location: StoreLocation = { kind: "sqlite", path: join(folder, "gateway.db") }
      const canary = "canary-5f3c9a71"
      const context = yield* opened(location, join(folder, "secret.key"))
      const records = yield* Effect.provideContext(Records, context)
      const { pepper } = yield* Effect.provideContext(Vault, context)
      yield* records.create(
        "provider",
        "marker-in-the-open",
        { value: { shown: "seen" }, secret: secret(canary) },
        actor
      )
      yield* records.update("provider", "marker-in-the-open", { value: {} }, actor)
      const sql = yield* Effect.provideContext(SqlClient.SqlClient, context)
      const copy = join(folder, "backup.db")
      yield* sql`VACUUM INTO ${copy}`
      const files = readdirSync(folder).filter((name) => name.includes(".db"))
      expect(files.sort()).toEqual(["backup.db", "gateway.db", "gateway.db-shm", "gateway.db-wal"])
      const holding = (text: string) => files.filter((name) => readFileSync(join(folder, name)).includes(text))
      expect([holding(canary), holding(Redacted.value(pepper))]).toEqual([[], []])
      expect(holding("marker-in-the-open")).toEqual(["backup.db", "gateway.db-wal"])
    }).pipe(Effect.scoped)
  )
})
