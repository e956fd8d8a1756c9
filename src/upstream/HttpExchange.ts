// One HTTP call and its answer, as the code on both sides of the network pool sees them.
// It must not depend on the pool, on providers or on dialects.
import type * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Redacted from "effect/Redacted"
import type { Room } from "../domain/Room.ts"
import type { TransportFault } from "./TransportFault.ts"

/** Header name -> secret value, written to the wire here and nowhere else. */
export type AuthHeaders = Readonly<Record<string, Redacted.Redacted<string>>>

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: AuthHeaders
  /** The only addresses to call, which the caller has checked. Without them the name of the host is resolved. */
  readonly addresses?: ReadonlyArray<string>
  readonly body: string | Uint8Array | undefined
  /** Where the bytes of a collected answer are counted; without one they are not. */
  readonly room?: Room | undefined
  /** Until a socket is there. */
  readonly connectMillis: number
  /** From the request on the socket to the head of the answer; for a stream, to its first byte of body. */
  readonly firstByteMillis: number
  /** Between two reads, while we are reading. */
  readonly idleMillis: number
  /** The whole call, connecting included. */
  readonly totalMillis: number
}

export interface TransportResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** All bytes that came since the last pull; not pulling pauses the socket. */
  readonly body: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], TransportFault>
  /** Gives the connection up; harmless when the answer is complete. */
  readonly close: Effect.Effect<void>
}

export interface CollectedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** Bounds in bytes: a 2xx body beyond `replyBytes` is a fault, another one is cut at `errorBytes`. */
export interface CollectBounds {
  readonly replyBytes: number
  readonly errorBytes: number
}
