// Model ids: the default model list of each provider, and the closed set of known ids for metric labels.
// It must not know which models an account may call; the upstream decides that.
import { modelIdOf } from "../domain/ModelRef.ts"
import { type BuiltInKind, isBuiltIn, type ProviderKind } from "../domain/ProviderAccount.ts"
import { listedImagen } from "../domain/models/modelLife.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { builtInModels, isKnownModel, type ModelTable } from "../domain/models/modelTable.ts"
import { nearest } from "../domain/faults.ts"

const operations: ReadonlySet<string | undefined> = new Set([
  "generateContent",
  "rawPredict",
  "openapi",
  "predict",
  "embedContent"
])

/** Chat, then embeddings, then pictures. */
const families: ReadonlyArray<ModelRecord["family"]> = ["gemini", "gemma", "claude", "open", "embedding", "imagen"]

/** Current models, then those whose end is announced, then those that have ended (M-731). */
const rankOf = ({ family, stage }: ModelRecord): number =>
  (stage === "shut_down" ? 2 : stage === "deprecated" ? 1 : 0) * families.length + families.indexOf(family)

const isListed = ({ id, operation, providers = [], stage }: ModelRecord, kind: BuiltInKind): boolean =>
  providers.includes(kind) && operations.has(operation) && (stage !== "shut_down" || listedImagen.has(id))

/** The id as the model field of a request spells it. */
const spelled = ({ family, id }: ModelRecord): string => (family === "claude" ? `anthropic.${id}` : id)

/** The models of a provider, as the model field of a request spells them. */
export const listedModels = (kind: BuiltInKind, models: ModelTable = builtInModels): ReadonlyArray<string> =>
  models.ids
    .map((id) => ({ ...models.find(id).record, id }))
    .filter((record) => isListed(record, kind))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map(spelled)

/** The served model whose id is nearest to one that no facts are about; undefined for a known id. */
export const nearModel = (kind: ProviderKind, modelId: string, models: ModelTable): string | undefined =>
  isKnownModel(models.find(modelId)) || !isBuiltIn(kind)
    ? undefined
    : nearest(
        modelId,
        listedModels(kind, models).map((id) => modelIdOf(id).replace(/@.*$/, ""))
      )

/** Ids of models that Google serves or has served. They are labels of metrics and sums; an id outside the closed set is `other`. */
export const knownModels: ReadonlyArray<string> = builtInModels.ids
