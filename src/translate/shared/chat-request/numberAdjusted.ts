// The adjustment of a number that was moved into the range of its model.
// Must not depend on a parameter or a model.
import type { Adjustment } from "../../Translator.ts"

export const numberAdjusted = (param: string, asked: number | string, sent: number, range: string): Adjustment => ({
  param,
  asked: String(asked),
  sent: String(sent),
  takes: [range],
  refusal: {
    code: "unsupported_parameter",
    param,
    message: `"${param}" takes ${range} at this model, and the request asked for refusal of other values.`
  }
})
