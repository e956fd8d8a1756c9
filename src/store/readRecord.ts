// Reads a stored record with a schema: its public value and its secret, merged.
// Must not know what kinds of records mean.
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

/** The newest version of each record; `records` has the versions of one id in their order. */
export const newestOf = (records: ReadonlyArray<StoredRecord>): ReadonlyArray<StoredRecord> => [
  ...new Map(records.map((record) => [record.id, record])).values()
]
