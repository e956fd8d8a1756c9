// One request that has ended, as it is logged, kept and listed: an allow-list of facts, none of which is content or a secret.
// It must not know how it is written down.
import type { Usage } from "./Usage.ts"

/** One upstream call of it. */
export interface AttemptRow {
  readonly provider: string
  readonly model: string
  readonly target: number
  readonly durationMillis: number
  /** Streams only, once a chunk came. */
  readonly firstChunkMillis: number | undefined
  /** The code of its failure; undefined when it answered or was given up. */
  readonly errorCode: string | undefined
  readonly upstreamStatus: number | undefined
}

export interface RequestRow {
  readonly endedMillis: number
  /** What its client or the gateway calls it; several requests can have the same. */
  readonly requestId: string
  /** The gateway's own id, which no other request has; undefined where that is `requestId`. */
  readonly id?: string | undefined
  readonly traceId: string
  readonly route: string
  /** 499 when the client left first. */
  readonly status: number
  /** Who answered, else who was asked last; undefined when nobody was. */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly target: number | undefined
  readonly attempts: ReadonlyArray<AttemptRow>
  readonly stream: boolean
  readonly cache: string | undefined
  readonly durationMillis: number
  readonly ttftMillis: number | undefined
  /** What is left of the duration when upstreams, and pauses between calls, are taken out; of a stream, to its first byte. */
  readonly overheadMillis: number
  readonly usage: Usage | undefined
  readonly costMicros: number | undefined
  readonly keyId: string | undefined
  readonly errorCode: string | undefined
}

/** The id that no other request has. */
export const ownIdOf = ({ id, requestId }: RequestRow): string => id ?? requestId
