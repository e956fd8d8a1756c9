// The result of reading another gateway's configuration: settings of this one, and what was left out.
// Must not know any other gateway.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"

export interface LeftOut {
  /** Its place in the other configuration, as `model_list[2]`. */
  readonly path: string
  readonly why: string
}

export interface Imported {
  /** A configuration file of this gateway. */
  readonly settings: JsonObject
  readonly left: ReadonlyArray<LeftOut>
}

/** Accounts without repeats: the same account under two names gets one slug. */
export class Accounts {
  readonly #slugs = new Map<string, string>()
  readonly #entries = new Map<string, JsonObject>()

  get entries(): ReadonlyArray<JsonObject> {
    return [...this.#entries.values()]
  }

  /** The slug of this account: `wanted`, with a number where another account has it. */
  slug(wanted: string, account: JsonObject): string {
    const known = this.#slugs.get(JSON.stringify(account))
    if (known !== undefined) return known
    const taken = new Set(this.#slugs.values())
    let slug = wanted
    for (let number = 2; taken.has(slug); number++) slug = `${wanted}-${number}`
    this.#slugs.set(JSON.stringify(account), slug)
    this.#entries.set(slug, { slug, ...account })
    return slug
  }

  /** A deployed endpoint of the account. */
  addEndpoint(slug: string, id: string, endpoint: JsonObject): void {
    const entry = this.#entries.get(slug)
    const endpoints = entry?.["endpoints"]
    if (entry !== undefined)
      this.#entries.set(slug, {
        ...entry,
        endpoints: { ...(isJsonObject(endpoints) ? endpoints : {}), [id]: endpoint }
      })
  }
}

/** The members that have a value. */
export const present = (members: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((pair): pair is [string, Json] => pair[1] !== undefined))
