// The flags of `usage` and `requests` as the query of the admin API, and its faults by the names of the flags.
// Must not know what a query asks for.
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { type Failure, usageFailure } from "../Failure.ts"

/** Fields of the query by their names; those of absent flags are undefined. */
export type QueryFields = Readonly<Record<string, string | undefined>>

export const searchOf = (fields: QueryFields): URLSearchParams =>
  new URLSearchParams(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The flag that gives a field of the query. */
const flagOf = (field: string): string =>
  field === "group_by"
    ? "--by"
    : field === "config"
      ? "--use-config"
      : field.startsWith("metadata.")
        ? "--metadata"
        : `--${field.replaceAll("_", "-")}`

/** The checked query of these fields. `metadata` has the names by which requests are counted. */
export const checkedQuery = <A>(
  read: (url: string, metadata: ReadonlyArray<string>) => Result.Result<A, BodyInvalid>,
  search: URLSearchParams,
  metadata: ReadonlyArray<string>
): Effect.Effect<A, Failure> => {
  const unknown = [...search.keys()].find(
    (field) => field.startsWith("metadata.") && !metadata.includes(field.slice("metadata.".length))
  )
  return unknown === undefined
    ? Effect.mapError(Effect.fromResult(read(`?${search}`, metadata)), (error) =>
        usageFailure(error.message.replace(error.param ?? "", flagOf(error.param ?? "")))
      )
    : Effect.fail(
        usageFailure(
          `--metadata has a name that is not counted: add "${unknown.slice("metadata.".length)}" to telemetry.usage_metadata.`
        )
      )
}
