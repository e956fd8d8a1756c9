// What an operator sets for models that name no provider: names of models, and the accounts that serve their families.
// It must not know accounts or requests.
import type { ModelAliases } from "./modelNames.ts"
import type { OtherModels } from "./otherModels.ts"

/** Slugs by family. */
export interface ServingDefaults {
  readonly claude?: string | undefined
  readonly gemini?: string | undefined
  readonly openai?: string | undefined
}

export interface ServingRules {
  readonly defaults: ServingDefaults
  readonly aliases: ModelAliases
  /** Dialects that serve models of other makers; without it none does. */
  readonly otherModels?: OtherModels | undefined
}

/** The operator sets nothing. */
export const noServing: ServingRules = { defaults: {}, aliases: {} }
