// The thinking configuration of a model, and what of the request it changes.
// Must not depend on levels or budgets.
import type { JsonObject } from "../../../domain/text/json.ts"
import type { Adjustment } from "../../Translator.ts"

export interface BentThinking {
  readonly config: JsonObject
  /** Undefined: the model does as asked, or an equivalent of it. */
  readonly bent: Omit<Adjustment, "param"> | undefined
}
