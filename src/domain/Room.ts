// The memory reservation of one request, as the code that buffers bodies and replies sees it.
// It must not know which requests share the memory, or by what rule.
import { Busy, ConcurrencyReached } from "./GatewayError.ts"

/** Why a reservation fails: the key holds more than its share, or all keys together hold everything. */
export type Shortage = "key" | "all"

/** Bytes that a request keeps in memory while it runs. */
export interface Room {
  /** Reserves bytes until the request ends, or returns the reason of the refusal. */
  readonly take: (bytes: number) => Shortage | undefined
  /** Releases bytes before the request ends. */
  readonly give: (bytes: number) => void
}

/** The refusal of a request whose bytes find no room. */
export const noRoomFault = (shortage: Shortage): Busy | ConcurrencyReached =>
  shortage === "key"
    ? new ConcurrencyReached({ resource: "bytes", limit: undefined })
    : new Busy({ code: "overloaded", retryAfterMillis: 1000 })
