// Wire schema of predict on Vertex AI and the Gemini API: instances and predictions, whose shape depends on the model.
// It must not know OpenAI's field names. Field names come from Google's public API descriptions.
import * as Schema from "effect/Schema"
import { type JsonObject, JsonValue, maybe } from "../json.ts"

/** The gateway builds the request without a schema; tests check it against the published schema. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<JsonObject>
  readonly parameters?: JsonObject
  readonly labels?: Readonly<Record<string, string>>
}

export const PredictReply = Schema.Struct({ predictions: maybe(Schema.Array(JsonValue)) })
export type PredictReply = typeof PredictReply.Type
