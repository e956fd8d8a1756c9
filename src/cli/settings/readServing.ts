// Checks what the operator sets for models without a slug: default providers, and names of models.
// It must not know how a model is served.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, quoteValue } from "../../domain/faults.ts"
import { parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import { isAliasName, type ModelAliases, resolveModelName } from "../../domain/serve/modelNames.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { hint, isNamed } from "../../domain/text/nearest.ts"

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
