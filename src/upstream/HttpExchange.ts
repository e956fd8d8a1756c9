// The types of one HTTP call to an upstream and its response.
// Must not depend on the connection pool, providers or dialects.
import type * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Redacted from "effect/Redacted"
import type { AccountTls } from "../domain/settings/network.ts"
import type { Room } from "../domain/Room.ts"
import type { TransportFault } from "./TransportFault.ts"

/** Header name to secret value. Only the connection pool reads the values. */
export type AuthHeaders = Readonly<Record<string, Redacted.Redacted<string>>>

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: AuthHeaders
  /** The only addresses to call, checked by the caller. Without them the host name is resolved. */
  readonly addresses?: ReadonlyArray<string>
  readonly body: string | Uint8Array | undefined
  /** Certificates of the account; such calls share no connection with others. */
  readonly tls?: AccountTls | undefined
  /** True: on a new socket, never on a kept one. */
  readonly isFresh?: boolean | undefined
  /** Counts the bytes of a collected response; undefined: they are not counted. */
  readonly room?: Room | undefined
  readonly observed?: { readonly sent: () => void } | undefined
  /** Until a socket is connected. */
  readonly connectMillis: number
  /** From the request on the socket to the head of the response; for a stream, to the first byte of its body. */
  readonly firstByteMillis: number
  /** Between two reads. It does not run while the socket is paused. */
  readonly idleMillis: number
  /** The whole call, including the connection. */
  readonly totalMillis: number
}

export interface TransportResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes that arrived since the last pull. Without pulls the socket is paused. */
  readonly body: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], TransportFault>
  /** Releases the connection; no effect after a complete response. */
  readonly close: Effect.Effect<void>
}

export interface CollectedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** Bounds in bytes. A 2xx body beyond `replyBytes` is a fault; the body of another status is cut at `errorBytes`. */
export interface CollectBounds {
  readonly replyBytes: number
  readonly errorBytes: number
}
