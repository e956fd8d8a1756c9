// The metadata of a request that accounting needs: ids, start time and headers, known when it arrives.
// Must not depend on routes, keys or bodies.
import type { HeaderRecord } from "../api/Headers.ts"

export interface RequestMeta {
  /** The id in the response: the client's `x-request-id`, else `freshId`. */
  readonly requestId: string
  readonly traceId: string
  readonly startedMillis: number
  /** A UUIDv7 made by the gateway for this request. */
  readonly freshId: string
  /** Lower-case names; a repeated header is joined as Node joins it. */
  readonly headers: HeaderRecord
}
