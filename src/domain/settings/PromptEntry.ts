// The schema of a prompt entry, in the configuration file and in the store: one version of a prompt, or a partial.
// It must not know templates, or how a prompt is served.
import * as Schema from "effect/Schema"
import { nonEmptyText, wholeNumber } from "../config/configured.ts"

/** One version of a prompt, or a partial, as it is written down. */
export const PromptEntry = Schema.Struct({
  id: nonEmptyText.annotate({ description: "Name of the prompt or partial; entries of one id are its versions." }),
  name: Schema.optionalKey(nonEmptyText.annotate({ description: "Title for people." })),
  version: Schema.optionalKey(
    wholeNumber(1, 999_999_999).annotate({ description: "One more than the version before, unless set." })
  ),
  model: Schema.optionalKey(nonEmptyText.annotate({ description: "Model of the chat; may carry @slug/." })),
  messages: Schema.optionalKey(
    Schema.Array(Schema.JsonObject).annotate({
      description: "Messages of the chat, with {{variables}} and {{>partials}} in their texts."
    })
  ),
  parameters: Schema.optionalKey(
    Schema.JsonObject.annotate({ description: "Any other parameter of the chat, with variables as well." })
  ),
  text: Schema.optionalKey(
    Schema.String.annotate({ description: "In place of model and messages: a partial that prompts put in by {{>id}}." })
  ),
  labels: Schema.optionalKey(
    Schema.Record(Schema.String, wholeNumber(1, 999_999_999)).annotate({
      description: "Versions by name; the one named production is served where none is asked for."
    })
  )
})

export type PromptEntry = typeof PromptEntry.Type
