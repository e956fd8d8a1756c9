// predict of both Google products: instances in, predictions out, their shape up to the model.
// It must not know OpenAI words. Field names verbatim from the public API descriptions.
import * as Schema from "effect/Schema"
import { type JsonObject, JsonValue, maybe } from "../json.ts"

/** Built by hand, checked in tests against the published schema. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<JsonObject>
  readonly parameters?: JsonObject
  readonly labels?: Readonly<Record<string, string>>
}

export const PredictReply = Schema.Struct({ predictions: maybe(Schema.Array(JsonValue)) })
export type PredictReply = typeof PredictReply.Type
