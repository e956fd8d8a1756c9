// From the JSON of a resource to the fields an operator may write, or to every fault in it.
// It must not know any kind of resource.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultsOfIssue } from "../domain/faults.ts"
import type { JsonObject } from "../domain/text/json.ts"

/** Set by the gateway; what was read may be written back with them. */
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
  "revoked_at"
])

/** A reader of one schema. A field of null is one left out; a field nobody knows is a fault, for it would be passed over in silence. */
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

/** Milliseconds as RFC 3339 has them. */
export const momentOf = (millis: number): string => new Date(millis).toISOString()
