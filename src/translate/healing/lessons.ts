// Types of self-healing: the lesson of a refusal, the call that it changes, and the change.
// Must not depend on an upstream's wording.
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Adjustment } from "../Translator.ts"

/** The refusals that are healed or answered in the gateway's own words. Each has a row in docs/internals/cases.md. */
export const healRows = [
  "H1",
  "H2",
  "H3",
  "H4",
  "H5",
  "H6",
  "H7",
  "H8",
  "H9",
  "H10",
  "H11",
  "H12",
  "H13",
  "H14",
  "H15",
  "H16",
  "H17",
  "H18",
  "H19",
  "H20",
  "H21",
  "H23",
  "H24",
  "H30"
] as const
export type HealRow = (typeof healRows)[number]

/** What a model refuses: the row of the refusal, and the value it names; `""` for a field that is refused with any value. */
export interface Lesson {
  readonly row: HealRow
  readonly value: string
}

/** An upstream call that may be changed. Its body is the upstream's, not the client's. */
export interface HealableCall {
  readonly record: ModelRecord
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
  /** The request parameter by which the client asked for thinking. */
  readonly thinkingParam: string
}

/** The changed parts of a call, and their names for the client. */
export interface CallChange {
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
  readonly ignored?: ReadonlyArray<string>
  readonly adjusted?: ReadonlyArray<Adjustment>
}

/**
 * The change of a call by a lesson: undefined when the call has nothing that the lesson is about, a fault when the
 * request has to be refused. `values` are all refused values of the row.
 */
export type Remedy = (
  call: HealableCall,
  value: string,
  values: ReadonlyArray<string>
) => CallChange | BodyInvalid | undefined
