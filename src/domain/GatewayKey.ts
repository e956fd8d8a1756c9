// A gateway key's record: its schema as it is written, without its text, and the checked form that requests use.
// It must not know the key's text or its digest, or where an entry is written.
import { contentModes } from "./RequestRow.ts"
import { WrittenOtherModels } from "./serving.ts"
import { dayOf, longestTimerMillis, momentMillis } from "./time.ts"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { dollars, nonEmptyText, nonEmptyTexts, refusedKeysOf, wholeNumber } from "./config/configured.ts"
import { type Fault, faultAt, type FaultPath, hint, isNamed, quoteValue } from "./faults.ts"

/** `inference` calls models; `admin` reads and changes the gateway's own records. */
export type KeyScope = "inference" | "admin"

/** The burst of a limit that sets none: a tenth of it, and at least 1. */
export const defaultBurst = (limit: number): number => Math.max(1, Math.floor(limit / 10))

/** The most a key may spend in a UTC day or month. */
export type Budget = NonNullable<WrittenKey["budget"]>

/** The record of a gateway key as it is written, with what follows from it. */
export interface GatewayKey extends WrittenKey {
  readonly id: string
  readonly scopes: ReadonlyArray<KeyScope>
  /** From this moment the key is refused like an unknown one; absent: never. */
  readonly expiresMillis?: number
}

/** The longest time that the old text of a rotated key is taken: 30 days. */
export const mostGraceSeconds = 30 * 24 * 60 * 60

/** The budget period of a UTC moment: a day as `2027-01-31`, a month as `2027-01`. */
export const periodOf = (per: Budget["per"], millis: number): string =>
  per === "day" ? dayOf(millis) : dayOf(millis).slice(0, 7)

/** The moment at which the next budget period begins. */
export const nextPeriodMillis = (per: Budget["per"], millis: number): number => {
  const at = new Date(millis)
  return per === "day"
    ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1)
    : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** True when there is no list, or when one of its patterns matches the value. */
export const allows = (patterns: ReadonlyArray<string> | undefined, value: string): boolean =>
  patterns === undefined ||
  patterns.some((pattern) => (pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value))

/** True when a list is given and one of its patterns matches the value. */
export const lists = (patterns: ReadonlyArray<string> | undefined, value: string): boolean =>
  patterns !== undefined && allows(patterns, value)

/** True for a key with limits of its own, whose requests need admission. */
export const isLimited = (key: WrittenKey): boolean => key.rate_limit !== undefined || key.budget !== undefined

// The schema of a gateway key entry without its text: scopes, allowed models, rate limit, budget, metadata.

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
        wholeNumber(1, longestTimerMillis).annotate({ description: "Most requests in a minute." })
      ),
      tokens_per_minute: Schema.optionalKey(
        wholeNumber(1, longestTimerMillis).annotate({ description: "Most tokens in a minute, in and out." })
      ),
      requests_burst: Schema.optionalKey(
        wholeNumber(1, longestTimerMillis).annotate({
          description: "Most requests together after a pause, on top of the even rate; a tenth of the limit unless set."
        })
      ),
      tokens_burst: Schema.optionalKey(
        wholeNumber(1, longestTimerMillis).annotate({
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
    wholeNumber(1, longestTimerMillis).annotate({ description: "Most requests that run together, in each gateway." })
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
export interface WrittenKey extends Schema.Schema.Type<typeof WrittenKey> {}

const recordFields = Struct.keys(WrittenKey.fields)

/** The scopes of a key that lists none. */
export const defaultScopes: ReadonlyArray<KeyScope> = ["inference"]

/** The key of a record. The other fields of an entry, such as its digest, are left out. */
export const compileKey = (id: string, written: WrittenKey): GatewayKey => {
  const { expires_at: expires, scopes = defaultScopes } = written
  return {
    ...Struct.pick(written, recordFields),
    id,
    scopes,
    // A key with an unreadable expiry counts as expired, not as valid forever.
    ...(expires === undefined ? {} : { expiresMillis: momentMillis(expires) ?? 0 })
  }
}

/** The slugs, configs and prompts that exist. */
interface KnownNames {
  readonly slugs: ReadonlyArray<string>
  readonly configs: ReadonlyArray<string>
  readonly prompts: ReadonlyArray<string>
}

/** Faults of the entries of a list that match no existing name. */
const strangers = (
  list: ReadonlyArray<string> | undefined,
  known: ReadonlyArray<string>,
  thing: string,
  at: FaultPath
): ReadonlyArray<Fault> =>
  (list ?? []).flatMap((name, place) =>
    name.endsWith("*") || isNamed(name, known)
      ? []
      : [faultAt([...at, place], `${quoteValue(name)} is no ${thing} of this configuration${hint(name, known)}`)]
  )

/** Faults of bursts without the limit that they belong to. */
const loneBursts = (limit: NonNullable<WrittenKey["rate_limit"]>, at: FaultPath): ReadonlyArray<Fault> =>
  (["requests", "tokens"] as const).flatMap((kind) =>
    limit[`${kind}_burst`] !== undefined && limit[`${kind}_per_minute`] === undefined
      ? [faultAt([...at, `${kind}_burst`], `needs a limit: set rate_limit.${kind}_per_minute too`)]
      : []
  )

/** The faults of a record. Slugs, configs and prompts in it must be among the known names. */
export const keyFaults = (written: WrittenKey, known: KnownNames, at: FaultPath = []): ReadonlyArray<Fault> => {
  const { config, configs, expires_at: expires, metadata, prompts, providers } = written
  return [
    ...refusedKeysOf(metadata ?? {}).map((name) => faultAt([...at, "metadata", name], "is no name for metadata")),
    ...loneBursts(written.rate_limit ?? {}, [...at, "rate_limit"]),
    ...(written.metadata_locked === true && metadata === undefined
      ? [faultAt([...at, "metadata_locked"], "locks nothing: the key has no metadata")]
      : []),
    ...(expires === undefined || momentMillis(expires) !== undefined
      ? []
      : [faultAt([...at, "expires_at"], `${quoteValue(expires)} is not a moment such as 2027-01-31T12:00:00Z`)]),
    ...strangers(providers, known.slugs, "provider", [...at, "providers"]),
    ...strangers(configs, known.configs, "config", [...at, "configs"]),
    ...strangers(prompts, known.prompts, "prompt", [...at, "prompts"]),
    ...(config === undefined || isNamed(config, known.configs)
      ? []
      : [
          faultAt(
            [...at, "config"],
            `${quoteValue(config)} is no config of this configuration${hint(config, known.configs)}`
          )
        ])
  ]
}

// The prefix `mgk_` that identifies a gateway key.

/**
 * Every generated key starts with this prefix. A value with it is treated as a gateway key in any header and is never
 * sent upstream.
 */
export const keyMark = "mgk_"
