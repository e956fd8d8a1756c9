// placeholder contract, see below
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Prepared } from "./Prepared.ts"

/** Header name -> secret value, written to the wire by the transport only. */
export type AuthHeaders = Readonly<Record<string, Redacted.Redacted<string>>>

/** Timers of one attempt in milliseconds; `total` also covers connect and first byte. */
export interface AttemptTimes {
  readonly connectMillis: number
  readonly firstByteMillis: number
  readonly idleMillis: number
  readonly totalMillis: number
}

export class Upstream extends Context.Service<Upstream, {
  /** One call, one complete answer. */
  readonly once: <Out, Chunk>(
    prepared: Prepared<Out, Chunk>,
    auth: AuthHeaders,
    times: AttemptTimes
  ) => Effect.Effect<Out, ProviderError>
  /** Succeeds when the first chunk exists; a failure hidden in the first event fails here. Later failures fail the stream. */
  readonly open: <Out, Chunk>(
    prepared: Prepared<Out, Chunk>,
    auth: AuthHeaders,
    times: AttemptTimes
  ) => Effect.Effect<Stream.Stream<Chunk, ProviderError>, ProviderError, Scope.Scope>
}>()("gateway/upstream/Upstream") {}
