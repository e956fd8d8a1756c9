// The schema of a gateway key entry without its text: scopes, allowed models, rate limit, budget, metadata.
// It must not know the text of a key, or where an entry is stored.
import * as Schema from "effect/Schema"
import { contentModes } from "../content/RequestContent.ts"
import { WrittenOtherModels } from "../serve/otherModels.ts"
import { dollars, mostMillis, nonEmptyText, nonEmptyTexts, wholeNumber } from "../config/configured.ts"

/** The sum of spending in millionths of a dollar must stay a safe integer. */
const mostBudget = 1_000_000_000

const scope = Schema.Literals(["inference", "admin"])

/** A gateway key entry of the configuration file or the store, without its text. */
export const WrittenKey = Schema.Struct({
  name: nonEmptyText.annotate({ description: "Name of the key, in logs and lists." }),
  providers: Schema.optionalKey(nonEmptyTexts.annotate({ description: "Slugs this key may use; all unless set." })),
  models: Schema.optionalKey(nonEmptyTexts.annotate({ description: "Model ids this key may use; all unless set." })),
  configs: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Configs this key may name; all unless set. A listed one may use its own targets, whatever providers and models allow."
    })
  ),
  prompts: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Prompts this key may name; all unless set. A listed one may use its own model, whatever providers and models allow."
    })
  ),
  config: Schema.optionalKey(nonEmptyText.annotate({ description: "Config of requests that name none." })),
  scopes: Schema.optionalKey(
    Schema.Array(scope).annotate({ description: "What the key is for: inference unless set, admin for /admin/v1." })
  ),
  expires_at: Schema.optionalKey(
    nonEmptyText.annotate({ description: "From this moment on the key is refused, as 2027-01-31T12:00:00Z." })
  ),
  rate_limit: Schema.optionalKey(
    Schema.Struct({
      requests_per_minute: Schema.optionalKey(
        wholeNumber(1, mostMillis).annotate({ description: "Most requests in a minute." })
      ),
      tokens_per_minute: Schema.optionalKey(
        wholeNumber(1, mostMillis).annotate({ description: "Most tokens in a minute, in and out." })
      ),
      requests_burst: Schema.optionalKey(
        wholeNumber(1, mostMillis).annotate({
          description: "Most requests together after a pause, on top of the even rate; a tenth of the limit unless set."
        })
      ),
      tokens_burst: Schema.optionalKey(
        wholeNumber(1, mostMillis).annotate({
          description: "Most tokens together after a pause, on top of the even rate; a tenth of the limit unless set."
        })
      )
    }).annotate({ description: "Most that it may ask for." })
  ),
  budget: Schema.optionalKey(
    Schema.Struct({
      usd: dollars(mostBudget).annotate({ description: "US dollars, to the millionth." }),
      per: Schema.Literals(["day", "month"]).annotate({ description: "Of UTC." })
    }).annotate({ description: "Most that it may spend." })
  ),
  concurrency: Schema.optionalKey(
    wholeNumber(1, mostMillis).annotate({ description: "Most requests that run together, in each gateway." })
  ),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "Metadata added to requests of this key."
    })
  ),
  metadata_locked: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "true: neither a request nor a config gives the key's metadata other values; other names may be added."
    })
  ),
  other_models: Schema.optionalKey(
    WrittenOtherModels.annotate({
      description:
        "Whether dialects serve models of other makers for this key; what its config or the file states unless set."
    })
  ),
  log_content: Schema.optionalKey(
    Schema.Literals(contentModes).annotate({
      description: "Whose bodies and answers are kept of its requests; what log.content states unless set."
    })
  )
})
export type WrittenKey = typeof WrittenKey.Type
