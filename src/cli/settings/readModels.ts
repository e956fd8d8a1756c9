// Reads what the operator states of models: their facts, their names, and the providers of models without a slug.
// It must not know how facts are used or how a model is served.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultAt, type FaultPath, faultsOfIssue, hint, isNamed, quoteValue } from "../../domain/faults.ts"
import { normaliseModelId } from "../../domain/models/modelName.ts"
import { ModelOverlay } from "../../domain/models/ModelRecord.ts"
import { builtInModels, isKnownModel, type ModelOverlays } from "../../domain/models/modelTable.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { parseSettingsText } from "./SettingsText.ts"
import type { FileText } from "./environment.ts"
import { parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import { isAliasName, type ModelAliases, resolveModelName } from "../../domain/serving.ts"

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

// Checks what the operator sets for models without a slug: default providers, and names of models.

/** Providers of the store come and go without a reading of the file, so the file names its own alone. */
const slugFault = (slug: string, slugs: ReadonlyArray<string>, at: FaultPath): ReadonlyArray<Fault> =>
  isNamed(slug, slugs)
    ? []
    : [
        faultAt(
          at,
          `${quoteValue(slug)} is no provider of this file, and one of the store cannot be named here${hint(slug, slugs)}`
        )
      ]

/** A model that can be called, not another alias. */
const targetFaults = (
  name: string,
  aliases: ModelAliases,
  slugs: ReadonlyArray<string>,
  at: FaultPath
): ReadonlyArray<Fault> => {
  const { model } = resolveModelName(name, aliases)
  if (model !== name && Object.hasOwn(aliases, model))
    return [faultAt(at, `${quoteValue(model)} is an alias itself; name the model`)]
  const read = Result.flatMap(parseModelRef(model), (ref) => Result.map(parseFamily(ref.rest), () => ref))
  if (Result.isFailure(read)) return [faultAt(at, `is no model: ${read.failure.message}`)]
  const { slug } = read.success
  return slug === undefined ? [] : slugFault(slug, slugs, at)
}

/** The faults of both settings. */
export const servingFaults = (
  { aliases = {}, defaults = {} }: SettingsFile,
  slugs: ReadonlyArray<string>
): ReadonlyArray<Fault> => [
  ...Object.entries(defaults).flatMap(([family, slug]) => slugFault(slug, slugs, ["defaults", family])),
  ...Object.keys(aliases).flatMap((name) =>
    isAliasName(name)
      ? targetFaults(name, aliases, slugs, ["aliases", name])
      : [faultAt(["aliases", name], `${quoteValue(name)} is not a name: letters, digits and "._:/-", at most 128`)]
  )
]
