// What an operator sets for models that name no provider, and whether a dialect of one maker serves models of others.
// It must not know accounts, bodies or routes. Rules: D103, D104.
import * as Schema from "effect/Schema"
import type { LabelSources } from "./settings/attribution.ts"

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
  /** Labels on calls to Vertex AI; without it there are none. */
  readonly labels?: LabelSources | undefined
}

/** The operator sets nothing. */
export const noServing: ServingRules = { defaults: {}, aliases: {} }

// Names of models that clients write in other words: an operator's aliases, and the suffix by which Claude Code asks for a long context.

/** Operator's names of models, such as `sonnet` for `@vertex-ai/claude-sonnet-5-5`. */
export type ModelAliases = Readonly<Record<string, string>>

const aliasGrammar = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/

/** True for text that may be a name of a model. */
export const isAliasName = (text: string): boolean => aliasGrammar.test(text)

/** The flag that `[1m]` stands for. Source: Anthropic's page on context windows. */
const longContextBeta = "context-1m-2025-08-07"

const longContext = /\[1m\]$/i

export interface NamedModel {
  readonly model: string
  /** Flags that the name itself asks for. */
  readonly betas: ReadonlyArray<string>
}

const noBetas: ReadonlyArray<string> = []

/** A path of Claude's has the publisher of a name that is not known to be Claude. */
const publisher = /^anthropic[./]/

/** The model of the field `model`: the suffix is cut first, then the name is looked up once, so that an alias may not lead to an alias. */
export const resolveModelName = (written: string, aliases: ModelAliases): NamedModel => {
  const isLong = longContext.test(written)
  const name = isLong ? written.replace(longContext, "") : written
  const alias = [name, name.replace(publisher, "")].find((one) => Object.hasOwn(aliases, one))
  const target = alias === undefined ? undefined : aliases[alias]
  const isAliasLong = target !== undefined && longContext.test(target)
  const model = target === undefined ? name : target.replace(longContext, "")
  return { model, betas: isLong || isAliasLong ? [longContextBeta] : noBetas }
}

// Whether a dialect of a model's maker serves models of others, by translation: the rules of key, config and operator.

export const otherModelsRules = ["refuse", "translate"] as const
export type OtherModelsRule = (typeof otherModelsRules)[number]

/** By dialect; a dialect that is absent is not decided here. */
export const WrittenOtherModels = Schema.Struct({
  messages: Schema.optionalKey(
    Schema.Literals(otherModelsRules).annotate({
      description: "Whether POST /v1/messages serves models that are not Claude."
    })
  )
})
export type OtherModels = typeof WrittenOtherModels.Type

/** What follows the refusal of a model of another maker. */
export const otherModelsHint = "An operator allows it with messages.other_models: translate."

/** The first rule that is set decides; without one such models are refused. */
export const servesOtherModels = (dialect: keyof OtherModels, rules: ReadonlyArray<OtherModels | undefined>): boolean =>
  rules.map((rule) => rule?.[dialect]).find((rule) => rule !== undefined) === "translate"
