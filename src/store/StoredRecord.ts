// A stored record, its changes, its audit log entry and its errors; sets of versions, and reading a record with a schema.
// Must not know the database, or what kinds of records mean.
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../domain/text/json.ts"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { faultsOfIssue, joinFaults } from "../domain/faults.ts"

export const recordKinds = ["provider", "key", "config", "prompt"] as const
export type RecordKind = (typeof recordKinds)[number]

export interface RecordName {
  readonly kind: RecordKind
  readonly id: string
}

export interface StoredRecord extends RecordName {
  /** 1 when created, one more with each update. */
  readonly version: number
  readonly createdMillis: number
  readonly updatedMillis: number
  /** The public part. */
  readonly value: JsonObject
  /** The secret part; it is stored encrypted. */
  readonly secret: Redacted.Redacted<JsonObject> | undefined
}

/** The content that a change writes. `secret` undefined keeps the stored one; null removes it. */
export interface RecordContent {
  readonly value: JsonObject
  readonly secret?: Redacted.Redacted<JsonObject> | null | undefined
  /** The action in the audit log, for an update with a name of its own. */
  readonly action?: "revoke" | "rotate"
}

/** The author of a change and its request, for the audit log. */
export interface Actor {
  /** Id of an admin key, or `cli`. */
  readonly id: string
  readonly requestId: string | undefined
}

/** A record with the id exists already. */
export class RecordTaken extends Schema.TaggedError<RecordTaken>()("RecordTaken", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String
}) {}

/** The id has no record. */
export class RecordMissing extends Schema.TaggedError<RecordMissing>()("RecordMissing", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String
}) {}

/** A record has changed since the revision against which the change was checked. */
export class RecordsMoved extends Schema.TaggedError<RecordsMoved>()("RecordsMoved", {}) {}

/** The stored record is damaged: its secret does not open. An update with a new secret, or a removal, repairs it. */
export class RecordBroken extends Schema.TaggedError<RecordBroken>()("RecordBroken", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String,
  why: Schema.String
}) {
  override get message(): string {
    return `the ${this.kind} ${this.id} cannot be decrypted: ${this.why}; store its secret again, or remove it`
  }
}

export interface AuditRow {
  readonly atMillis: number
  readonly actor: string
  readonly requestId: string | undefined
  /** `read` is of captured content, whose kind is `request`; `delete` of that kind is of requests, whose filter is the id. */
  readonly action: "create" | "update" | "delete" | "read" | NonNullable<RecordContent["action"]>
  readonly kind: RecordKind | "request"
  readonly id: string
  readonly version: number
}

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  /** The cursor of the next page; undefined on the last page. */
  readonly next: string | undefined
}

// Reads a stored record with a schema: its public value and its secret, merged.

/**
 * The whole record, or in one line the reason why it cannot be used; the line contains no value. Results are cached by
 * record, because each change is checked against all records.
 */
export const recordReader = <A>(schema: Schema.Codec<A>): ((record: StoredRecord) => Result.Result<A, string>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "first" })
  const results = new WeakMap<StoredRecord, Result.Result<A, string>>()
  return (record) => {
    const cached = results.get(record)
    if (cached !== undefined) return cached
    const whole = { ...record.value, ...(record.secret === undefined ? {} : Redacted.value(record.secret)) }
    const read = Result.mapError(decode(whole), ({ issue }) => joinFaults(faultsOfIssue(issue, whole)))
    results.set(record, read)
    return read
  }
}

/** The records of one kind: by id their versions, the oldest first. A change costs the same in a small and a large set. */
export type RecordSet = HashMap.HashMap<string, ReadonlyArray<StoredRecord>>

/** `records` has the versions of one id in their order. */
export const recordSet = (records: ReadonlyArray<StoredRecord>): RecordSet =>
  HashMap.fromIterable(Map.groupBy(records, ({ id }) => id))

/** The set with these versions of a record; without any the record leaves. */
export const withVersions = (set: RecordSet, id: string, versions: ReadonlyArray<StoredRecord>): RecordSet =>
  versions.length > 0 ? HashMap.set(set, id, versions) : HashMap.remove(set, id)

export const versionsOf = (set: RecordSet, id: string): ReadonlyArray<StoredRecord> =>
  Option.getOrElse(HashMap.get(set, id), () => [])

export const newestIn = (set: RecordSet, id: string): StoredRecord | undefined => versionsOf(set, id).at(-1)

/** The newest version of each record, in no order: a large set need not be sorted. */
export const newestOf = (set: RecordSet): ReadonlyArray<StoredRecord> =>
  HashMap.toValues(set).flatMap((versions) => versions.slice(-1))

/** The newest version of each record, by id. */
export const newestById = (set: RecordSet): ReadonlyArray<StoredRecord> =>
  newestOf(set).toSorted((one, other) => (one.id < other.id ? -1 : 1))

/** All versions, by id and version. */
export const allVersions = (set: RecordSet): ReadonlyArray<StoredRecord> =>
  newestById(set).flatMap(({ id }) => versionsOf(set, id))

// Rows of the audit log as the database has them, and what they mean.

/** A row of the audit log. */
export interface LogRow {
  readonly revision: number
  readonly at_millis: number
  readonly actor: string
  readonly request_id: string | null
  readonly action: AuditRow["action"]
  readonly kind: AuditRow["kind"]
  readonly id: string
  readonly version: number
}

/** The record of an entry; none for content that was read. */
export const recordName = ({ id, kind }: Pick<LogRow, "kind" | "id">): ReadonlyArray<RecordName> =>
  kind === "request" ? [] : [{ kind, id }]

export const auditRow = (row: LogRow): AuditRow => ({
  atMillis: row.at_millis,
  actor: row.actor,
  requestId: row.request_id ?? undefined,
  action: row.action,
  kind: row.kind,
  id: row.id,
  version: row.version
})
