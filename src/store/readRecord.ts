// Reads a stored record with a schema: its public value and its secret, merged.
// Must not know what kinds of records mean.
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { faultsOfIssue, joinFaults } from "../domain/faults.ts"
import type { StoredRecord } from "./StoredRecord.ts"

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
