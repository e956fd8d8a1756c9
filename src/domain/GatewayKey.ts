// A gateway key's record: scopes, allowed providers and models, rate limit, budget, expiry and metadata.
// It must not know the key's text or its digest.
import type { ContentMode } from "./content/RequestContent.ts"
import type { OtherModels } from "./serve/otherModels.ts"
import { dayOf } from "./text/days.ts"

/** `inference` calls models; `admin` reads and changes the gateway's own records. */
export type KeyScope = "inference" | "admin"

/** Requests and tokens per minute; undefined means unlimited. */
export interface RateLimit {
  readonly requestsPerMinute: number | undefined
  readonly tokensPerMinute: number | undefined
  /** Most that an idle key may use together, on top of the even rate; undefined: a tenth of the limit. */
  readonly requestsBurst?: number | undefined
  readonly tokensBurst?: number | undefined
}

/** The burst of a limit that sets none: a tenth of it, and at least 1. */
export const defaultBurst = (limit: number): number => Math.max(1, Math.floor(limit / 10))

/** The most a key may spend in a UTC day or month, in millionths of a US dollar. */
export interface Budget {
  readonly micros: number
  readonly per: "day" | "month"
}

export interface GatewayKey {
  readonly id: string
  readonly name: string
  /** Slugs this key may use; undefined: all. */
  readonly providers: ReadonlyArray<string> | undefined
  /** Model ids this key may use, where a final `*` matches any rest; undefined: all. */
  readonly models: ReadonlyArray<string> | undefined
  /**
   * Ids of the configs and prompts this key may name. A listed one may use its own targets and model, whatever
   * `providers` and `models` allow. Undefined: all may be named, and the other lists apply.
   */
  readonly configs?: ReadonlyArray<string> | undefined
  readonly prompts?: ReadonlyArray<string> | undefined
  /** Id of the config for requests that name none. */
  readonly config?: string | undefined
  readonly scopes: ReadonlyArray<KeyScope>
  readonly rateLimit?: RateLimit | undefined
  readonly budget?: Budget | undefined
  /** Most requests of the key that run together, in each gateway; undefined: its fair share. */
  readonly concurrency?: number | undefined
  /** From this moment the key is refused like an unknown one; undefined: never. */
  readonly expiresMillis?: number | undefined
  /** Metadata added to every request of this key. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** True: neither a request nor a config may change the values of the key's metadata. */
  readonly metadataLocked?: boolean | undefined
  /** Dialects that serve models of other makers; undefined: what config or file state. */
  readonly otherModels?: OtherModels | undefined
  /** Whose content is kept of its requests; undefined: what the setting `log.content` states. */
  readonly logContent?: ContentMode | undefined
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
export const isLimited = ({ budget, rateLimit }: GatewayKey): boolean => rateLimit !== undefined || budget !== undefined
