// Builds adjustments whose refusal needs words of its own: prefills, forced calls, schemas.
// Must not depend on the translation that adjusts.
import type { Adjustment } from "../Translator.ts"

/** A user turn asks the model to continue its last message (M-300). `path` is the position of that message. */
export const prefillAdjusted = (model: string, path: string): Adjustment => ({
  param: "messages",
  asked: "prefill",
  sent: "continue",
  takes: [],
  refusal: { code: "unsupported_value", param: path, message: `${model} takes no assistant prefill.` }
})

/** The model decides on calls by itself (M-420). */
export const choiceAdjusted = (param: "tool_choice" | "function_call"): Adjustment => ({
  param,
  asked: "required",
  sent: "auto",
  takes: ["auto", "none"],
  refusal: {
    code: "unsupported_value",
    param,
    message: `${param} takes auto and none at this model, and no demanded call.`
  }
})

/** A schema that the model's own structured output cannot enforce, or only in part (M-421). */
export const schemaAdjusted = (asked: "schema" | "bounds", sent: "tool" | "description"): Adjustment => ({
  param: "response_format",
  asked,
  sent,
  takes: [],
  refusal: {
    code: "unsupported_parameter",
    param: "response_format",
    message:
      "response_format takes a schema without recursion, open maps and bounds, and with at most 10 optional members at this model."
  }
})
