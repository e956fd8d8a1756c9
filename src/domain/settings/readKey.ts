// Turns a gateway key entry of the configuration file or the store into its record, or lists its faults.
// It must not know the key's text or where the entry was written.
import { type Fault, faultAt, type FaultPath, quoteValue } from "../faults.ts"
import type { GatewayKey, KeyScope, RateLimit } from "../GatewayKey.ts"
import { momentMillis } from "../text/moments.ts"
import { hint, isNamed } from "../text/nearest.ts"
import { refusedKeysOf } from "../text/refusedKeys.ts"
import type { WrittenKey } from "./WrittenKey.ts"

/** The scopes of a key that lists none. */
export const defaultScopes: ReadonlyArray<KeyScope> = ["inference"]

/** Dollars to millionths: whole numbers add up without rounding errors. */
const microsOf = (usd: number): number => Math.round(usd * 1e6)

/** The slugs, configs and prompts that exist. */
export interface KnownNames {
  readonly slugs: ReadonlyArray<string>
  readonly configs: ReadonlyArray<string>
  readonly prompts: ReadonlyArray<string>
}

/** For stored keys, which were checked when they were saved. */
export const noNames: KnownNames = { slugs: [], configs: [], prompts: [] }

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

type WrittenLimit = NonNullable<WrittenKey["rate_limit"]>

const rateLimitOf = (limit: WrittenLimit): RateLimit => ({
  requestsPerMinute: limit.requests_per_minute,
  tokensPerMinute: limit.tokens_per_minute,
  ...(limit.requests_burst === undefined ? {} : { requestsBurst: limit.requests_burst }),
  ...(limit.tokens_burst === undefined ? {} : { tokensBurst: limit.tokens_burst })
})

/** Faults of bursts without the limit that they belong to. */
const loneBursts = (limit: WrittenLimit, at: FaultPath): ReadonlyArray<Fault> =>
  (["requests", "tokens"] as const).flatMap((kind) =>
    limit[`${kind}_burst`] !== undefined && limit[`${kind}_per_minute`] === undefined
      ? [faultAt([...at, `${kind}_burst`], `needs a limit: set rate_limit.${kind}_per_minute too`)]
      : []
  )

/** The record of the key and its faults. Slugs, configs and prompts in it must be among the known names. */
export const readKey = (
  id: string,
  written: WrittenKey,
  known: KnownNames,
  at: FaultPath = []
): { readonly key: GatewayKey; readonly faults: ReadonlyArray<Fault> } => {
  const {
    budget,
    concurrency,
    config,
    configs,
    expires_at: expires,
    log_content: logContent,
    metadata,
    metadata_locked: metadataLocked,
    models,
    name,
    other_models: otherModels,
    prompts,
    providers,
    rate_limit: limit,
    scopes = defaultScopes
  } = written
  const expiresMillis = expires === undefined ? undefined : momentMillis(expires)
  return {
    key: {
      id,
      name,
      providers,
      models,
      configs,
      prompts,
      config,
      scopes,
      rateLimit: limit === undefined ? undefined : rateLimitOf(limit),
      budget: budget === undefined ? undefined : { micros: microsOf(budget.usd), per: budget.per },
      concurrency,
      // A key with an unreadable expiry counts as expired, not as valid forever.
      expiresMillis: expires === undefined ? undefined : (expiresMillis ?? 0),
      metadata,
      metadataLocked,
      otherModels,
      logContent
    },
    faults: [
      ...refusedKeysOf(metadata ?? {}).map((name) => faultAt([...at, "metadata", name], "is no name for metadata")),
      ...loneBursts(limit ?? {}, [...at, "rate_limit"]),
      ...(metadataLocked === true && metadata === undefined
        ? [faultAt([...at, "metadata_locked"], "locks nothing: the key has no metadata")]
        : []),
      ...(expires === undefined || expiresMillis !== undefined
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
}
