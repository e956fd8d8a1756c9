// The ignored and adjusted parameters of a request as its row keeps them.
// Must not keep a text that a client chose: parameters that are not known here have no names.
import type { ObservedAdjustment } from "../domain/RequestContext.ts"
import { adjustmentText } from "../translate/Translator.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesParameters } from "../wire/openai/Images.ts"

/** Names of native paths, and of fields and headers of Claude's clients. */
const native = [
  "anthropic-beta",
  "cache_control",
  "context_management",
  "location",
  "output_config",
  "project",
  "safeguards",
  "x-gateway-vertex-project-id",
  "x-gateway-vertex-region"
]

const known: ReadonlySet<string> = new Set([
  ...[ChatParameters, EmbeddingsParameters, ImagesParameters].flatMap(({ fields }) => Object.keys(fields)),
  ...native
])

/** Stands for every parameter that is not known here. */
const other = "other"

/** The parameter of a path such as `tools[0].strict`. */
const parameterOf = (path: string): string => {
  const [name = ""] = path.split(/[.[]/, 1)
  return known.has(name) ? name : other
}

/** Undefined for none. */
export const keptIgnored = (ignored: ReadonlyArray<string> = []): ReadonlyArray<string> | undefined =>
  ignored.length === 0 ? undefined : [...new Set(ignored.map(parameterOf))]

/** Undefined for none. Both values of an adjustment are words or numbers of the gateway. */
export const keptAdjusted = (adjusted: ReadonlyArray<ObservedAdjustment> = []): ReadonlyArray<string> | undefined =>
  adjusted.length === 0 ? undefined : adjusted.map(adjustmentText)
