// Stored records of the admin API by kind and id: each change makes a new version and an entry in the audit log.
// Must not know what a kind of record means.
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { isJsonObject, parseExactJsonText } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { databaseMemory } from "./database/Migrations.ts"
import { durableTransaction, makeStoreCall, makeStoreWrite, writeRefusal, type WriteRefusal } from "./database/Sql.ts"
import {
  type Actor,
  type AuditRow,
  auditRow,
  type LogRow,
  type Page,
  RecordBroken,
  type RecordContent,
  type RecordKind,
  RecordMissing,
  type RecordName,
  recordName,
  RecordsMoved,
  RecordTaken,
  type StoredRecord
} from "./StoredRecord.ts"
import { type SealedRow, Vault } from "./Vault.ts"

/** How many versions of a record are kept: all of a prompt, some of a config, and only the newest where no older one is read. */
const versionsKept = (kind: RecordKind, { configVersions }: Kept): number =>
  kind === "prompt" ? Number.MAX_SAFE_INTEGER : kind === "config" ? configVersions : 1

type Kept = Pick<LimitValues, "auditStored" | "configVersions">

export class Records extends Context.Service<
  Records,
  {
    /** Every record of a kind, by id. A broken record is left out and logged, so that the others are served. */
    readonly list: (kind: RecordKind) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
    /** A page of a kind by id, without broken records; `cursor` is the `next` of the previous page. */
    readonly page: (
      kind: RecordKind,
      limit: number,
      cursor: string | undefined
    ) => Effect.Effect<Page<StoredRecord>, StoreUnavailable>
    readonly get: (
      kind: RecordKind,
      id: string
    ) => Effect.Effect<StoredRecord, RecordMissing | RecordBroken | StoreUnavailable>
    /** The stored versions of some records, by id and version. Only the newest has its secret. */
    readonly versions: (
      kind: RecordKind,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
    /**
     * The stored versions of all records of a kind, by id and version, without broken ones. Only the newest has its
     * secret.
     */
    readonly histories: (kind: RecordKind) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
    /** Each change with `expected` is made only at that revision: the state it was checked against still holds. */
    readonly create: (
      kind: RecordKind,
      id: string,
      content: RecordContent,
      actor: Actor,
      expected?: number
    ) => Effect.Effect<StoredRecord, RecordTaken | RecordsMoved | StoreUnavailable>
    /** Writes the next version. A broken record needs a new secret. */
    readonly update: (
      kind: RecordKind,
      id: string,
      content: RecordContent,
      actor: Actor,
      expected?: number
    ) => Effect.Effect<StoredRecord, RecordMissing | RecordsMoved | RecordBroken | StoreUnavailable>
    /** Removes the record and all its versions. */
    readonly remove: (
      kind: RecordKind,
      id: string,
      actor: Actor,
      expected?: number
    ) => Effect.Effect<void, RecordMissing | RecordsMoved | StoreUnavailable>
    /** A number that grows with every change of any record, by any process on the same store. */
    readonly revision: Effect.Effect<number, StoreUnavailable>
    /**
     * Which records changed after a revision, and the revision that this leads to. Undefined where the audit log does not
     * reach back so far, or has more changes than are worth reading one by one.
     */
    readonly changesSince: (
      revision: number
    ) => Effect.Effect<
      { readonly revision: number; readonly changes: ReadonlyArray<RecordName> } | undefined,
      StoreUnavailable
    >
    /** Writes into the audit log that content of a request was read, or which requests were deleted. It changes no record. */
    readonly note: (action: "delete" | "read", what: string, actor: Actor) => Effect.Effect<void, StoreUnavailable>
    /** The latest `auditStored` changes, the newest first. */
    readonly audit: (limit: number, cursor: string | undefined) => Effect.Effect<Page<AuditRow>, StoreUnavailable>
    /** Why the database refuses writes; undefined while it takes them. A read of memory. */
    readonly writeRefusal: () => WriteRefusal | undefined
  }
>()("gateway/store/Records") {
  /** Records in a migrated database. Each change is one transaction, on the disk once it is acknowledged. */
  static readonly layer: Layer.Layer<Records, never, SqlClient.SqlClient | Vault> = Layer.effect(
    Records,
    Effect.suspend(() => make)
  )

  /** Records in the memory of this process; they end with the process. */
  static readonly layerMemory: Layer.Layer<Records> = Records.layer.pipe(
    Layer.provide(Vault.layerMemory),
    Layer.provide(databaseMemory)
  )
}

/** More changes are not read one by one. */
const mostChanges = 500

type Service = Records["Service"]
type Within = Effect.Success<typeof makeStoreCall>

interface Row {
  readonly kind: RecordKind
  readonly id: string
  readonly version: number
  readonly created_millis: number
  readonly updated_millis: number
  readonly value: string
  readonly secret: Uint8Array | null
  readonly secret_key_id: string | null
  readonly wrapped: Uint8Array | null
  readonly master_id: string | null
}

const hasSecret = (row: Row): row is Row & SealedRow => row.secret !== null && row.secret_key_id !== null

/** The page of at most `limit` rows, out of `limit + 1` rows that were read. */
const paged = <A>(rows: ReadonlyArray<A>, limit: number, cursorOf: (row: A) => string): Page<A> => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: rows.length > limit && last !== undefined ? cursorOf(last) : undefined }
}

/** Columns and tables of current records, each with the key of its secret. */
const selecting = (sql: SqlClient.SqlClient) => ({
  columns: sql.literal(
    "r.kind, r.id, r.version, r.created_millis, r.updated_millis, r.value, r.secret, r.secret_key_id, k.wrapped, k.master_id"
  ),
  source: sql.literal("records r LEFT JOIN vault_keys k ON k.id = r.secret_key_id")
})

const byName = (sql: SqlClient.SqlClient, kind: RecordKind, id: string) => {
  const { columns, source } = selecting(sql)
  return Effect.map(sql<Row>`SELECT ${columns} FROM ${source} WHERE r.kind = ${kind} AND r.id = ${id}`, ([row]) => row)
}

const secretOf = (vault: Vault["Service"], row: Row): Effect.Effect<StoredRecord["secret"], RecordBroken> =>
  hasSecret(row)
    ? Effect.mapError(vault.open(row, row), ({ why }) => new RecordBroken({ kind: row.kind, id: row.id, why }))
    : Effect.succeed(undefined)

const recordOf = (vault: Vault["Service"], row: Row): Effect.Effect<StoredRecord, RecordBroken> =>
  Effect.flatMap(secretOf(vault, row), (secret) => {
    const { created_millis: createdMillis, id, kind, updated_millis: updatedMillis, version } = row
    const value = parseExactJsonText(row.value)
    return Result.isSuccess(value) && isJsonObject(value.success)
      ? Effect.succeed({ kind, id, version, createdMillis, updatedMillis, value: value.success, secret })
      : Effect.fail(new RecordBroken({ kind, id, why: "its value is no JSON object" }))
  })

const reads = (sql: SqlClient.SqlClient, vault: Vault["Service"], within: Within) => {
  const { columns, source } = selecting(sql)
  /** Leaves broken records out and logs each of them. */
  const readable = (rows: ReadonlyArray<Row>): Effect.Effect<ReadonlyArray<StoredRecord>> =>
    Effect.map(
      Effect.forEach(rows, (row) =>
        Effect.catch(recordOf(vault, row), ({ message }) => Effect.as(Effect.logError(`store: ${message}`), undefined))
      ),
      (records) => records.filter((record) => record !== undefined)
    )
  const list: Service["list"] = (kind) =>
    Effect.flatMap(within(sql<Row>`SELECT ${columns} FROM ${source} WHERE r.kind = ${kind} ORDER BY r.id`), readable)

  const page: Service["page"] = Effect.fnUntraced(function* (kind, limit, cursor) {
    const rows = yield* within(sql<Row>`SELECT ${columns} FROM ${source}
      WHERE r.kind = ${kind} AND r.id > ${cursor ?? ""} ORDER BY r.id LIMIT ${limit + 1}`)
    const { next, rows: records } = paged(rows, limit, ({ id }) => id)
    return { rows: yield* readable(records), next }
  })

  const get: Service["get"] = (kind, id) =>
    Effect.flatMap(within(byName(sql, kind, id)), (row): Effect.Effect<StoredRecord, RecordMissing | RecordBroken> =>
      row === undefined ? Effect.fail(new RecordMissing({ kind, id })) : recordOf(vault, row)
    )

  const past = sql.literal(`v.kind, v.id, v.version, v.created_millis, v.updated_millis, v.value,
    r.secret, r.secret_key_id, k.wrapped, k.master_id FROM record_versions v
    LEFT JOIN records r ON r.kind = v.kind AND r.id = v.id AND r.version = v.version
    LEFT JOIN vault_keys k ON k.id = r.secret_key_id`)
  const versions: Service["versions"] = (kind, ids) =>
    Effect.flatMap(
      within(sql<Row>`SELECT ${past} WHERE v.kind = ${kind} AND ${sql.in("v.id", ids)} ORDER BY v.id, v.version`),
      readable
    )
  const histories: Service["histories"] = (kind) =>
    Effect.flatMap(within(sql<Row>`SELECT ${past} WHERE v.kind = ${kind} ORDER BY v.id, v.version`), readable)

  const revision: Service["revision"] = Effect.map(
    within(sql<{ readonly number: number }>`SELECT number FROM revision`),
    ([row]) => row?.number ?? 0
  )
  const changesSince: Service["changesSince"] = (since) =>
    Effect.map(
      within(sql<Pick<LogRow, "revision" | "kind" | "id">>`SELECT revision, kind, id FROM audit_log
        WHERE revision > ${since} ORDER BY revision LIMIT ${mostChanges + 1}`),
      (rows) => {
        const last = rows.at(-1)?.revision ?? since
        const isWhole = rows.length > 0 && rows.length <= mostChanges && last - since === rows.length
        return isWhole ? { revision: last, changes: rows.flatMap(recordName) } : undefined
      }
    )
  const audit: Service["audit"] = (limit, cursor) => {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0
    return Effect.map(
      within(sql<LogRow>`SELECT * FROM audit_log WHERE revision < ${before} ORDER BY revision DESC LIMIT ${limit + 1}`),
      (rows) => {
        const { next, rows: entries } = paged(rows, limit, (row) => String(row.revision))
        return { rows: entries.map(auditRow), next }
      }
    )
  }
  return { list, page, get, versions, histories, revision, changesSince, audit }
}

interface Change {
  readonly action: AuditRow["action"]
  readonly kind: AuditRow["kind"]
  readonly id: string
  readonly actor: Actor
  readonly expected: number | undefined
}

/**
 * Runs a change under the next revision. The update of the revision is the lock that orders the changes of all
 * processes.
 */
const changing =
  (sql: SqlClient.SqlClient, within: Within, auditStored: number) =>
  <A extends { readonly version: number }, E>(
    { action, actor, expected, id, kind }: Change,
    work: (now: number) => Effect.Effect<A, E | SqlError>
  ) =>
    within(
      durableTransaction(sql)(
        Effect.gen(function* () {
          const [next] = yield* sql<{
            readonly number: number
          }>`UPDATE revision SET number = number + 1 RETURNING number`
          const revision = next?.number ?? 0
          if (expected !== undefined && revision !== expected + 1) return yield* new RecordsMoved()
          const now = yield* Clock.currentTimeMillis
          const done = yield* work(now)
          const { version } = done
          const entry = {
            revision,
            at_millis: now,
            actor: actor.id,
            request_id: actor.requestId ?? null,
            action,
            kind,
            id,
            version
          }
          yield* sql`INSERT INTO audit_log ${sql.insert(entry)}`
          yield* sql`DELETE FROM audit_log WHERE revision <= ${revision - auditStored}`
          return done
        })
      )
    )

/** The public columns of a record's row. */
const publicColumns = ({ createdMillis, updatedMillis, value, version }: StoredRecord) => ({
  version,
  created_millis: createdMillis,
  updated_millis: updatedMillis,
  value: JSON.stringify(value)
})

/** The columns of a record's secret. */
const secretColumns = (vault: Vault["Service"], record: StoredRecord) =>
  record.secret === undefined
    ? Effect.succeed({ secret: null, secret_key_id: null })
    : vault.seal(record, record.secret).pipe(
        Effect.map(({ bytes, keyId }) => ({ secret: bytes, secret_key_id: keyId })),
        Effect.catchTag("SecretBroken", ({ why }) =>
          Effect.andThen(
            Effect.logError(`store: nothing can be encrypted: ${why}`),
            new StoreUnavailable({ reason: "unreachable" })
          )
        )
      )

const writes = (sql: SqlClient.SqlClient, vault: Vault["Service"], within: Within, limits: Kept) => {
  const change = changing(sql, within, limits.auditStored)
  const addVersion = (record: StoredRecord) =>
    sql`INSERT INTO record_versions ${sql.insert({ kind: record.kind, id: record.id, ...publicColumns(record) })}`
  const forgetVersionsTo = (kind: RecordKind, id: string, last: number) =>
    sql`DELETE FROM record_versions WHERE kind = ${kind} AND id = ${id} AND version <= ${last}`

  /** The row that a change starts from. */
  const changeable = Effect.fnUntraced(function* (kind: RecordKind, id: string) {
    const row = yield* byName(sql, kind, id)
    return row === undefined ? yield* new RecordMissing({ kind, id }) : row
  })

  const create: Service["create"] = (kind, id, { secret, value }, actor, expected) =>
    change(
      { action: "create", kind, id, actor, expected },
      Effect.fnUntraced(function* (now) {
        if ((yield* byName(sql, kind, id)) !== undefined) return yield* new RecordTaken({ kind, id })
        const record: StoredRecord = {
          kind,
          id,
          version: 1,
          createdMillis: now,
          updatedMillis: now,
          value,
          secret: secret ?? undefined
        }
        yield* sql`INSERT INTO records ${sql.insert({ kind, id, ...publicColumns(record), ...(yield* secretColumns(vault, record)) })}`
        yield* addVersion(record)
        return record
      })
    )

  const update: Service["update"] = (kind, id, { action, secret, value }, actor, expected) =>
    change(
      { action: action ?? "update", kind, id, actor, expected },
      Effect.fnUntraced(function* (now) {
        const row = yield* changeable(kind, id)
        const secretText = secret === undefined ? yield* secretOf(vault, row) : (secret ?? undefined)
        const record: StoredRecord = {
          kind,
          id,
          version: row.version + 1,
          createdMillis: row.created_millis,
          updatedMillis: now,
          value,
          secret: secretText
        }
        yield* sql`UPDATE records SET ${sql.update({ ...publicColumns(record), ...(yield* secretColumns(vault, record)) })}
        WHERE kind = ${kind} AND id = ${id}`
        yield* forgetVersionsTo(kind, id, record.version - versionsKept(kind, limits))
        yield* addVersion(record)
        return record
      })
    )

  const remove: Service["remove"] = (kind, id, actor, expected) =>
    Effect.asVoid(
      change(
        { action: "delete", kind, id, actor, expected },
        Effect.fnUntraced(function* () {
          const row = yield* changeable(kind, id)
          yield* sql`DELETE FROM records WHERE kind = ${kind} AND id = ${id}`
          yield* forgetVersionsTo(kind, id, row.version)
          return row
        })
      )
    )
  return { create, update, remove }
}

const noting = (sql: SqlClient.SqlClient, within: Within, auditStored: number): Service["note"] => {
  const change = changing(sql, within, auditStored)
  return (action, id, actor) =>
    change({ action, kind: "request", id, actor, expected: undefined }, () => Effect.succeed({ version: 1 })).pipe(
      Effect.catchTag("RecordsMoved", Effect.die),
      Effect.asVoid
    )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const within = yield* makeStoreCall
  const written = yield* makeStoreWrite
  const limits = yield* Limits
  return Records.of({
    ...reads(sql, vault, within),
    ...writes(sql, vault, written, limits),
    note: noting(sql, written, limits.auditStored),
    writeRefusal: () => writeRefusal(sql)
  })
})
