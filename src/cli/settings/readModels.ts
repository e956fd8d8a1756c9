// From what the operator states of models, in the configuration and in a file of their own, to overlays.
// It must not know how facts are used.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultAt, type FaultPath, faultsOfIssue, quoteValue } from "../../domain/faults.ts"
import { normaliseModelId } from "../../domain/models/modelName.ts"
import { ModelOverlay } from "../../domain/models/ModelRecord.ts"
import { builtInModels, isKnownModel, type ModelOverlays } from "../../domain/models/modelTable.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { hint } from "../../domain/text/nearest.ts"
import { parseSettingsText } from "./SettingsText.ts"
import type { FileText } from "./substitute.ts"

export interface ReadModels {
  /** Undefined: the operator states nothing. */
  readonly models: ModelOverlays | undefined
  readonly faults: ReadonlyArray<Fault>
}

const idGrammar = /^[A-Za-z0-9*][A-Za-z0-9*._@/-]{0,127}$/

const overlayFaults = (models: ModelOverlays, at: FaultPath): ReadonlyArray<Fault> =>
  Object.entries(models).flatMap(([key, { inherits }]) => [
    ...(idGrammar.test(key)
      ? []
      : [faultAt([...at, key], `${quoteValue(key)} is not a model id, with * for any part`)]),
    ...(inherits === undefined || isKnownModel(builtInModels.find(inherits))
      ? []
      : [
          faultAt(
            [...at, key, "inherits"],
            `${quoteValue(inherits)} is not a known model${hint(inherits, builtInModels.ids)}`
          )
        ])
  ])

const decode = Schema.decodeUnknownResult(Schema.Record(Schema.String, ModelOverlay), {
  errors: "all",
  onExcessProperty: "error"
})

/** A fault of that file, at the place that names the file. */
const inFile =
  (path: string) =>
  (fault: Fault): Fault =>
    faultAt(["models_file"], [path, fault.path, fault.message].filter((part) => part !== "").join("  "))

const readFile = (path: string, fileText: FileText): ReadModels => {
  const fault = (message: string): ReadModels => ({ models: undefined, faults: [faultAt(["models_file"], message)] })
  const text = fileText(path, "file")
  if (Result.isFailure(text)) return fault(text.failure)
  const parsed = parseSettingsText(path, text.success)
  if (Result.isFailure(parsed)) {
    const { line, message } = parsed.failure
    return fault(`${path}${line === undefined ? "" : `:${line}`}  cannot be read: ${message}`)
  }
  const value = parsed.success.value ?? {}
  const models = decode(value)
  if (Result.isFailure(models))
    return { models: undefined, faults: faultsOfIssue(models.failure.issue, value).map(inFile(path)) }
  return { models: models.success, faults: overlayFaults(models.success, []).map(inFile(path)) }
}

const normalised = (models: ModelOverlays): ModelOverlays =>
  Object.fromEntries(Object.entries(models).map(([key, overlay]) => [normaliseModelId(key), overlay]))

/** An id of the configuration replaces the same id of the file in whole. */
export const readModels = ({ models = {}, models_file: path }: SettingsFile, fileText: FileText): ReadModels => {
  const apart = path === undefined ? undefined : readFile(path, fileText)
  const all = { ...normalised(models), ...normalised(apart?.models ?? {}), ...normalised(models) }
  return {
    models: Object.keys(all).length === 0 ? undefined : all,
    faults: [...overlayFaults(models, ["models"]), ...(apart?.faults ?? [])]
  }
}
