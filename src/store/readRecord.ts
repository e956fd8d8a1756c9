// What a stored record says in the words of a schema: what may be shown of it and its secret, put together.
// It must not know what kinds of records mean.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { faultsOfIssue, inOneLine } from "../domain/faults.ts"
import type { StoredRecord } from "./Records.ts"

/**
 * The whole of a record, or in one line why it cannot be used; the line holds no value. A record is read once, for those who
 * judge a change look at all there are.
 */
export const recordReader = <A>(schema: Schema.Codec<A>): ((record: StoredRecord) => Result.Result<A, string>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "first" })
  const known = new WeakMap<StoredRecord, Result.Result<A, string>>()
  return (record) => {
    const before = known.get(record)
    if (before !== undefined) return before
    const whole = { ...record.value, ...(record.secret === undefined ? {} : Redacted.value(record.secret)) }
    const read = Result.mapError(decode(whole), ({ issue }) => inOneLine(faultsOfIssue(issue, whole)))
    known.set(record, read)
    return read
  }
}

/** The newest version of each record, of the versions in their order. */
export const newestOf = (records: ReadonlyArray<StoredRecord>): ReadonlyArray<StoredRecord> => [
  ...new Map(records.map((record) => [record.id, record])).values()
]
