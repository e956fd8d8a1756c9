// Where each fact of the record in force comes from: the operator, the data file, or another model (M-103).
// It must not know what facts are used for.
import { normaliseModelId } from "./modelName.ts"
import type { ModelRecord } from "./ModelRecord.ts"
import { builtInModels, type ModelTable } from "./modelTable.ts"

/** The record of an id, and the origin of each of its fields. */
export interface ExplainedModel {
  readonly object: "model_facts"
  readonly model: string
  /** The id or pattern whose record it is. */
  readonly from: string
  readonly record: ModelRecord
  /** By field: `user`, `file`, or `inherited from ID`. */
  readonly origins: Readonly<Record<string, string>>
}

const builtInOrigin = (id: string): string => {
  const { from, source } = builtInModels.find(id)
  return source === "file" ? "file" : `inherited from ${from}`
}

/** `model` is the id, without a slug. */
export const explainModel = ({ find, overlays }: ModelTable, model: string): ExplainedModel => {
  const id = normaliseModelId(model)
  const { from, record, source } = find(id)
  const own = source === "user" ? overlays[from] : undefined
  const inherits = own?.inherits
  const rest = inherits === undefined ? builtInOrigin(id) : `inherited from ${normaliseModelId(inherits)}`
  const stated = new Set(Object.keys(own ?? {}))
  return {
    object: "model_facts",
    model: id,
    from,
    record,
    origins: Object.fromEntries(Object.keys(record).map((name) => [name, stated.has(name) ? "user" : rest]))
  }
}
