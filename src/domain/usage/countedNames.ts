// The names under which sums count a request: its model, its client and its metadata, each from a bounded set.
// It must not know where sums are stored.
import type { RequestRow } from "../RequestRow.ts"
import { dayMillis } from "../text/days.ts"
import { memoizeBounded } from "../memoizeBounded.ts"

export interface CountedNames {
  readonly model: string
  /** Empty for a request without one. */
  readonly client: string
  /** A JSON object of texts. */
  readonly metadata: string
}

/** The name of all values beyond the bound. */
const otherName = "other"
const noMetadata = "{}"

/** A product of `user-agent` ends at a space, or at a slash and its version. */
const product = /^[!-~]{1,64}?(?=\/v?\d|\s|$)/

/** The program that sent the request, by the first product of its `user-agent` and without version. */
export const clientName: (userAgent: string) => string | undefined = (() => {
  const read = memoizeBounded((text: string): string => product.exec(text)?.[0] ?? "")
  return (userAgent) => read(userAgent) || undefined
})()

/**
 * One for each list of sums of a process. Clients choose their name and their metadata: a day counts at most so many pairs
 * of a gateway key, and the rest of its requests under `other`. `model` is of a closed set already.
 */
export const makeCountedNames = (most: number): ((row: RequestRow, model: string) => CountedNames) => {
  const known = new Map<string | undefined, Set<string>>()
  let day = 0
  const isCounted = (keyId: string | undefined, pair: string): boolean => {
    const pairs = known.get(keyId)
    if (pairs === undefined) known.set(keyId, new Set([pair]))
    else if (!pairs.has(pair)) {
      if (pairs.size >= most) return false
      pairs.add(pair)
    }
    return true
  }
  return ({ client = "", endedMillis, keyId, metadata }, model) => {
    const today = Math.floor(endedMillis / dayMillis)
    if (today !== day) {
      known.clear()
      day = today
    }
    const text = metadata === undefined ? noMetadata : JSON.stringify(metadata)
    return isCounted(keyId, `${client}\n${text}`)
      ? { model, client, metadata: text }
      : { model, client: otherName, metadata: withoutValues(metadata) }
  }
}

const withoutValues = (metadata: RequestRow["metadata"] = {}): string =>
  JSON.stringify(Object.fromEntries(Object.keys(metadata).map((name) => [name, otherName])))
