// The calls by which a worker uses the state that the first process keeps: their asks and answers as plain JSON.
// Must not know how they are sent or kept.
import type * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import type { Call } from "../workers/Link.ts"
import type { RateAnswer, RateAsk } from "../domain/RateCounts.ts"
import type { DueName, ListedName, SharedText, TextRoom } from "./SharedState.ts"

export type AdmitAnswer =
  | { readonly generation: number; readonly probe: boolean; readonly consecutiveOpenings: number }
  | { readonly openMillis: number }
  | { readonly isProbing: true }

export interface RecordAsk {
  readonly key: string
  readonly generation: number
  readonly outcome: "Success" | "Failure" | "Ignored"
  readonly tripPolicy: CircuitBreaker.TripPolicy
  readonly openMillis: number
}

export interface StateCalls {
  readonly takeRates: Call<{ readonly asks: ReadonlyArray<RateAsk>; readonly isForced: boolean }, RateAnswer>
  readonly admit: Call<string, AdmitAnswer>
  /** The new state of the breaker, or null when the state stays. */
  readonly record: Call<RecordAsk, "Open" | "Closed" | null>
  readonly texts: Call<{ readonly room: TextRoom; readonly keys: ReadonlyArray<string> }, ReadonlyArray<string | null>>
  readonly setText: Call<SharedText, void>
  readonly addName: Call<DueName, void>
  readonly names: Call<
    { readonly list: string; readonly most: number; readonly idleMillis: number },
    ReadonlyArray<ListedName>
  >
  readonly removeName: Call<{ readonly list: string; readonly name: string }, void>
  readonly clearNames: Call<string, void>
  /** Takes a slot of a key with a limit of running requests; false when all are taken. */
  readonly enter: Call<{ readonly slot: number; readonly key: string; readonly most: number }, boolean>
  readonly leave: Call<number, void>
}
