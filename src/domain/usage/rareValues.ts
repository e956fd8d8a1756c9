// The values that few requests have in common, ids and metadata: a batch of requests is searched for them by hash.
// Must not know SQL. The hashes are stored, so the same value has the same hash in every version.
import type { RequestRow } from "../RequestRow.ts"
import type { RequestFilter } from "./usageSums.ts"

const hashBytes = 4
const dash = 0x2d
const hashBasis = 0x811c9dc5
const hashPrime = 0x01000193

/**
 * FNV-1a over UTF-16, of 32 bits (http://www.isthe.com/chongo/tech/comp/fnv). It passes over dashes: the gateway makes
 * a trace id of the request id without them, so that both have one hash.
 */
const hashOf = (value: string): number => {
  let hash = hashBasis
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at)
    if (unit !== dash) hash = Math.imul(hash ^ unit, hashPrime)
  }
  return hash | 0
}

const metadataValue = (name: string, value: string): string => `${name}=${value}`

type RareFacts = Pick<RequestRow, "id" | "metadata" | "requestId" | "traceId">

/** Adds the hashes of what a list can search for in this row and few requests have in common. */
export const addRareHashes = (hashes: Set<number>, { id, metadata, requestId, traceId }: RareFacts): void => {
  hashes.add(hashOf(requestId)).add(hashOf(traceId))
  if (id !== undefined) hashes.add(hashOf(id))
  if (metadata !== undefined)
    for (const name of Object.keys(metadata)) hashes.add(hashOf(metadataValue(name, metadata[name] ?? "")))
}

/** The stored form: the bytes of each hash, one after the other. */
export const joinHashes = (hashes: ReadonlySet<number>): Buffer => {
  const bytes = Buffer.allocUnsafe(hashes.size * hashBytes)
  let at = 0
  for (const hash of hashes) at = bytes.writeInt32BE(hash, at)
  return bytes
}

export interface RareValue {
  /** The bytes of its hash in the stored form. Other values may have the same. */
  readonly hash: Buffer
  /** The value in the text of a packed row. */
  readonly text: string
}

export const rareId = (id: string): RareValue => ({ hash: joinHashes(new Set([hashOf(id)])), text: JSON.stringify(id) })

/** The values that a row has which this filter takes. */
export const rareValuesOf = ({ metadata = [], requestId, traceId }: RequestFilter): ReadonlyArray<RareValue> => [
  ...[requestId, traceId].filter((id) => id !== undefined).map(rareId),
  ...metadata.map(([name, value]) => ({
    hash: joinHashes(new Set([hashOf(metadataValue(name, value))])),
    text: `${JSON.stringify(name)}:${JSON.stringify(value)}`
  }))
]
