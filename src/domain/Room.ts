// The memory that one request may use, as code that fills memory for it sees that.
// It must not know who shares the memory, or how it is shared.

/** Why there is no more: the key of the request holds more than its share, or all keys together hold everything. */
export type Shortage = "key" | "all"

/** Bytes of a request that stay in memory while it runs. */
export interface Room {
  /** Reserves bytes until the request ends, or returns why they are refused. */
  readonly take: (bytes: number) => Shortage | undefined
  /** Releases bytes before the request ends. */
  readonly give: (bytes: number) => void
}
