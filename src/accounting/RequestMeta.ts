// The facts of a request that its accounts need, known when it arrives.
// It must not depend on routes, keys or bodies.
import type { HeaderRecord } from "../api/Headers.ts"

export interface RequestMeta {
  /** The id that the answer has: the client's `x-request-id`, else `freshId`. */
  readonly requestId: string
  readonly traceId: string
  readonly startedMillis: number
  /** A UUIDv7 made by the gateway for this request. */
  readonly freshId: string
  /** Lower-case names; a header sent twice is joined as Node joins it. */
  readonly headers: HeaderRecord
}
