// The models that a key may call, in OpenAI's list format.
// It must not depend on HTTP or where accounts come from.
import * as Result from "effect/Result"
import { listedModels } from "../../catalog/models.ts"
import { allows, type GatewayKey } from "../../domain/GatewayKey.ts"
import { modelIdOf, parseFamily } from "../../domain/ModelRef.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import { isBuiltIn, type CatalogView, type ProviderKind } from "../../domain/ProviderAccount.ts"
import type { Model } from "../../api/answers.ts"

/** The publisher of a model by its name; for the provider of an application the name of the provider. */
const owner = (model: string, kind: ProviderKind): string => {
  if (!isBuiltIn(kind)) return kind
  const read = parseFamily(model)
  if (Result.isFailure(read)) return "unknown"
  switch (read.success.family) {
    case "gemini":
      return "google"
    case "claude":
      return "anthropic"
    case "openai":
      return read.success.modelId.split("/")[0] ?? "unknown"
    case "endpoint":
      return "self-deployed"
  }
}

/** Seconds of the day of release; 0 for a day that is not known. */
const createdOf = ({ release }: ModelRecord): number => (release === undefined ? 0 : Date.parse(release) / 1000)

/** What OpenAI's model has no field for; a fact that is not known is left out. */
const extensions = (record: ModelRecord, kind: ProviderKind) => {
  const { context, effort, input, max_output, output, price, shutdown, stage, successor, thinking } = record
  const levels = effort ?? thinking?.levels ?? []
  const end = shutdown?.[kind] ?? shutdown?.["claude-api"]
  return {
    ...(context === undefined ? {} : { context_length: context }),
    ...(max_output === undefined ? {} : { max_output_tokens: max_output }),
    ...(input === undefined ? {} : { input_modalities: input }),
    ...(output === undefined ? {} : { output_modalities: output }),
    ...(levels.length === 0 ? {} : { thinking_levels: levels }),
    ...(price === undefined ? {} : { pricing: price }),
    ...(stage === undefined ? {} : { stage }),
    ...(end === undefined ? {} : { shutdown_date: end }),
    ...(successor === undefined ? {} : { successor })
  }
}

/** `strict`: only OpenAI's own fields. */
export const modelList = (
  { list, models }: Pick<CatalogView, "list" | "models">,
  key: GatewayKey,
  strict: boolean
): ReadonlyArray<Model> =>
  list()
    .filter((account) => allows(key.providers, account.slug))
    .flatMap((account) =>
      (
        account.models ?? [
          ...(isBuiltIn(account.kind) ? listedModels(account.kind, models) : []),
          ...Object.keys(account.endpoints).map((id) => `endpoints.${id}`)
        ]
      )
        .filter((model) => !model.endsWith("*") && allows(key.models, model))
        .map((model) => {
          const found = models.find(modelIdOf(model))
          const isKnown = isBuiltIn(account.kind) && !model.startsWith("endpoints.") && found.source !== "inherited"
          return {
            id: `@${account.slug}/${model}`,
            object: "model" as const,
            created: isKnown ? createdOf(found.record) : 0,
            owned_by: owner(model, account.kind),
            ...(isKnown && !strict ? extensions(found.record, account.kind) : {})
          }
        })
    )
