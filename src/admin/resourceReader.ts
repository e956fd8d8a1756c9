// Reads what a change of an admin resource has written: its fields, or every fault in them; and texts that cannot be an id.
// Must not know any kind of resource.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultsOfIssue } from "../domain/faults.ts"
import type { JsonObject } from "../domain/text/json.ts"

/** Fields that the gateway sets. They are ignored, so that a resource can be sent back as it was read. */
const serverSet = new Set([
  "object",
  "source",
  "managed",
  "version",
  "versions",
  "created_at",
  "updated_at",
  "credential",
  "prefix",
  "spent_usd",
  "last_used_at",
  "revoked_at",
  "previous_until"
])

/**
 * A reader for one schema. A null field counts as absent. An unknown field is a fault, because it would have no effect.
 */
export const resourceReader = <A>(
  schema: Schema.Codec<A, unknown>
): ((written: JsonObject) => Result.Result<A, ReadonlyArray<Fault>>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (written) => {
    const fields = Object.fromEntries(
      Object.entries(written).filter(([name, value]) => value !== null && value !== undefined && !serverSet.has(name))
    )
    return Result.mapError(decode(fields), ({ issue }) => faultsOfIssue(issue, fields))
  }
}

/** Milliseconds as an RFC 3339 timestamp. */
export const momentOf = (millis: number): string => new Date(millis).toISOString()

// Recognizes texts that cannot be the id of a record, so that the store is not queried for them.

/** The longest id of any kind. */
export const longestId = 256

/** Control characters: PostgreSQL refuses NUL in a text. */
// oxlint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u001f\u007f]/

/** True for a text that cannot be an id. */
export const isNoId = (text: string): boolean => text.length > longestId || controlCharacters.test(text)
