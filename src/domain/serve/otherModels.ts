// Whether a dialect of a model's maker serves models of others, by translation: the rules of key, config and operator.
// It must not know bodies or routes. Rules: D103, D104.
import * as Schema from "effect/Schema"

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
