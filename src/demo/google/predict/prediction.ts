// What one model makes of a predict call: the checked outer body in, predictions or a refusal out.
// It must not depend on any particular model.

import type { GoogleError } from "../shared/errors.ts"
import type { Call } from "../shared/operation.ts"

/** The checked outer shape; each model reads the rest its own way. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<unknown>
  readonly parameters?: unknown
}

/** What a model makes of a call: its body, or why it refuses. */
export type Prediction = { readonly body: Readonly<Record<string, unknown>> } | { readonly error: GoogleError }

export type Predict = (request: PredictRequest, call: Call) => Prediction
