// What a key may call, as OpenAI lists models.
// It must not know HTTP or where accounts come from.
import * as Result from "effect/Result"
import { listedModels } from "../../catalog/models.ts"
import { allows, type GatewayKey } from "../../domain/GatewayKey.ts"
import { parseFamily } from "../../domain/ModelRef.ts"
import { isBuiltIn, type ProviderAccount, type ProviderKind } from "../../domain/ProviderAccount.ts"

/** A row of GET /v1/models; `id` is what the model field of a request takes. */
export interface ListedModel {
  readonly id: string
  readonly object: "model"
  /** The catalog does not know when a model was made. */
  readonly created: 0
  readonly owned_by: string
}

/** The publisher a model's name tells; of a provider that is not ours its own name. */
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

export const modelList = (accounts: ReadonlyArray<ProviderAccount>, key: GatewayKey): ReadonlyArray<ListedModel> =>
  accounts
    .filter((account) => allows(key.providers, account.slug))
    .flatMap((account) =>
      (
        account.models ?? [
          ...(isBuiltIn(account.kind) ? listedModels[account.kind] : []),
          ...Object.keys(account.endpoints).map((id) => `endpoints.${id}`)
        ]
      )
        .filter((model) => !model.endsWith("*") && allows(key.models, model))
        .map((model) => ({
          id: `@${account.slug}/${model}`,
          object: "model" as const,
          created: 0 as const,
          owned_by: owner(model, account.kind)
        }))
    )
