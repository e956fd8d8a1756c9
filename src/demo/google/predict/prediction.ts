// Declares the types of predict: the checked outer body, and a model's predictions or refusal.
// Must not depend on any particular model.

import type { GoogleError } from "../shared/errors.ts"
import type { Call } from "../shared/operation.ts"

/** The checked outer shape; each model reads instances and parameters differently. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<unknown>
  readonly parameters?: unknown
}

/** The body that a model returns, or its refusal. */
export type Prediction = { readonly body: Readonly<Record<string, unknown>> } | { readonly error: GoogleError }

export type Predict = (request: PredictRequest, call: Call) => Prediction
