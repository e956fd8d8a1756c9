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

/** Hashes for which there is room at first. */
const firstRoom = 1024

/** The hashes of what a list can search for in some rows, and few requests have in common. */
export class RareHashes {
  /** A set of numbers would be moved by each garbage collection until its batch is written. */
  private hashes = new Int32Array(firstRoom)
  private count = 0

  private put(hash: number): void {
    if (this.count === this.hashes.length) {
      const larger = new Int32Array(this.count * 2)
      larger.set(this.hashes)
      this.hashes = larger
    }
    this.hashes[this.count++] = hash
  }

  add({ id, metadata, requestId, traceId }: RareFacts): void {
    this.put(hashOf(requestId))
    this.put(hashOf(traceId))
    if (id !== undefined) this.put(hashOf(id))
    if (metadata !== undefined)
      for (const name of Object.keys(metadata)) this.put(hashOf(metadataValue(name, metadata[name] ?? "")))
  }

  /** The stored form: the bytes of each hash once, the lowest first. */
  get bytes(): Buffer {
    const sorted = this.hashes.slice(0, this.count).sort()
    const bytes = Buffer.allocUnsafe(sorted.length * hashBytes)
    let at = 0
    for (let index = 0; index < sorted.length; index++) {
      const hash = sorted[index] ?? 0
      if (index === 0 || hash !== sorted[index - 1]) at = bytes.writeInt32BE(hash, at)
    }
    return bytes.subarray(0, at)
  }
}

const bytesOf = (hash: number): Buffer => {
  const bytes = Buffer.allocUnsafe(hashBytes)
  bytes.writeInt32BE(hash)
  return bytes
}

export interface RareValue {
  /** The bytes of its hash in the stored form. Other values may have the same. */
  readonly hash: Buffer
  /** The value in the text of a packed row. */
  readonly text: string
}

export const rareId = (id: string): RareValue => ({ hash: bytesOf(hashOf(id)), text: JSON.stringify(id) })

/** The values that a row has which this filter takes. */
export const rareValuesOf = ({ metadata = [], requestId, traceId }: RequestFilter): ReadonlyArray<RareValue> => [
  ...[requestId, traceId].filter((id) => id !== undefined).map(rareId),
  ...metadata.map(([name, value]) => ({
    hash: bytesOf(hashOf(metadataValue(name, value))),
    text: `${JSON.stringify(name)}:${JSON.stringify(value)}`
  }))
]
