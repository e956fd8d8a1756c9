// A gateway key's record: who may call, and what.
// It must not know the key's text; only its digest is kept elsewhere.
import { dayOf } from "./text/days.ts"

/** `inference` calls models, `admin` reads and changes the gateway itself. */
export type KeyScope = "inference" | "admin"

/** How much a key may ask for in any minute; undefined: as much as it likes. */
export interface RateLimit {
  readonly requestsPerMinute: number | undefined
  readonly tokensPerMinute: number | undefined
}

/** What a key may spend in a day or month of UTC, in millionths of a US dollar. */
export interface Budget {
  readonly micros: number
  readonly per: "day" | "month"
}

export interface GatewayKey {
  readonly id: string
  readonly name: string
  /** Slugs this key may use; undefined: all. */
  readonly providers: ReadonlyArray<string> | undefined
  /** Model ids this key may use, `*` at the end stands for any rest; undefined: all. */
  readonly models: ReadonlyArray<string> | undefined
  /** Ids of the configs and prompts this key may name, and whose targets its other lists do not bind; undefined: all, and bound by those lists. */
  readonly configs?: ReadonlyArray<string> | undefined
  readonly prompts?: ReadonlyArray<string> | undefined
  /** Id of the config of requests that name none. */
  readonly config?: string | undefined
  readonly scopes: ReadonlyArray<KeyScope>
  readonly rateLimit?: RateLimit | undefined
  readonly budget?: Budget | undefined
  /** How many of its requests may run at once, in each gateway process; undefined: its fair share. */
  readonly concurrency?: number | undefined
  /** From this moment on the key is refused as if unknown; undefined: never. */
  readonly expiresMillis?: number | undefined
  /** What requests of this key carry besides their own metadata. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** True: neither a request nor a config gives these members of metadata another value. */
  readonly metadataLocked?: boolean | undefined
}

/** The period of a budget that a moment of UTC is in: a day as `2027-01-31`, a month as `2027-01`. */
export const periodOf = (per: Budget["per"], millis: number): string =>
  per === "day" ? dayOf(millis) : dayOf(millis).slice(0, 7)

/** When the period behind that one begins. */
export const nextPeriodMillis = (per: Budget["per"], millis: number): number => {
  const at = new Date(millis)
  return per === "day"
    ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1)
    : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** True when the list is open or one of its patterns fits. */
export const allows = (patterns: ReadonlyArray<string> | undefined, value: string): boolean =>
  patterns === undefined ||
  patterns.some((pattern) => (pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value))

/** True when the list names the value; a list that is not there names none. */
export const lists = (patterns: ReadonlyArray<string> | undefined, value: string): boolean =>
  patterns !== undefined && allows(patterns, value)
