// The memory reservation of one request, as the code that buffers bodies and replies sees it.
// It must not know which requests share the memory, or by what rule.
import { Busy, ConcurrencyReached } from "./GatewayError.ts"

/** Why a reservation fails: the key holds more than its share, or all keys together hold everything. */
export type Shortage = "key" | "all"

/** Bytes that a request keeps in memory while it runs. */
export interface Room {
  /** The bytes that are reserved now. */
  readonly size: number
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

/** What a small value of parsed JSON takes: `{}` is an object of 56 bytes and a slot. */
const valueBytes = 64

/** So few values are part of what any request takes. */
const fewValues = 256

/** The bytes that parsed values take beyond those of their text. */
export const bytesOfValues = (values: number): number => (values <= fewValues ? 0 : values * valueBytes)
