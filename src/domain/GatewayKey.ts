// A gateway key's record: who may call, and what.
// It must not know the key's text; only its digest is kept elsewhere.

/** `inference` calls models, `admin` reads and changes the gateway itself. */
export type KeyScope = "inference" | "admin"

export interface GatewayKey {
  readonly id: string
  readonly name: string
  /** Slugs this key may use; undefined: all. */
  readonly providers: ReadonlyArray<string> | undefined
  /** Model ids this key may use, `*` at the end stands for any rest; undefined: all. */
  readonly models: ReadonlyArray<string> | undefined
  /** Id of the config of requests that name none. */
  readonly config?: string | undefined
  readonly scopes: ReadonlyArray<KeyScope>
}

/** True when the list is open or one of its patterns fits. */
export const allows = (patterns: ReadonlyArray<string> | undefined, value: string): boolean =>
  patterns === undefined ||
  patterns.some((pattern) => (pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value))
