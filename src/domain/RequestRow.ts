// The row of one finished request, as it is logged, stored and listed. It never contains content or secrets.
// It must not know how the row is written.
import type { Usage } from "./Usage.ts"

/** One upstream call of the request. */
export interface AttemptRow {
  readonly provider: string
  readonly model: string
  readonly target: number
  /** When the call began, after the arrival of its request. */
  readonly startedMillis: number
  readonly durationMillis: number
  /** After the beginning of the call: until its access token was there, and until it was on a socket. */
  readonly tokenMillis?: number | undefined
  readonly sentMillis?: number | undefined
  /** Streams only, once a chunk has arrived. */
  readonly firstChunkMillis: number | undefined
  /** The error code of the call; undefined when it succeeded or was interrupted. */
  readonly errorCode: string | undefined
  /** What was wrong, without credentials and addresses. */
  readonly errorMessage?: string | undefined
  readonly upstreamStatus: number | undefined
}

/** What an answer from the cache would have used upstream. */
export interface SavedUsage {
  readonly input: number
  readonly output: number
  /** Undefined without a price. */
  readonly costMicros: number | undefined
}

export interface RequestRow {
  readonly endedMillis: number
  /** The id chosen by the client or the gateway. Several requests can share one. */
  readonly requestId: string
  /** The gateway's own unique id; undefined where it equals `requestId`. */
  readonly id?: string | undefined
  readonly traceId: string
  readonly route: string
  /** 499 when the client disconnected first. */
  readonly status: number
  /** The provider that answered, else the one called last; undefined when no provider was called. */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly target: number | undefined
  /** The announced or past end of the model: its stage, with day and successor where they are known. */
  readonly modelWarning?: string | undefined
  readonly attempts: ReadonlyArray<AttemptRow>
  /** Places in the config of the targets that were passed over because their circuits were open; undefined for none. */
  readonly skipped?: ReadonlyArray<number> | undefined
  readonly stream: boolean
  readonly cache: string | undefined
  readonly durationMillis: number
  readonly ttftMillis: number | undefined
  /** The duration minus the time of upstream calls and of pauses between them; of a stream, up to its first byte. */
  readonly overheadMillis: number
  readonly usage: Usage | undefined
  /** The stream was cut before the last counts of its upstream; what they lack is an estimate. */
  readonly isEstimated?: true | undefined
  readonly costMicros: number | undefined
  /** Something was used whose price is not known, so that the cost lacks it. */
  readonly isCostPartial?: true | undefined
  /** The location that was called; undefined where the product has none. */
  readonly place?: string | undefined
  /** For answers from the cache, whose own usage is 0. */
  readonly saved?: SavedUsage | undefined
  readonly keyId: string | undefined
  /** The id of the config that routed the request; `inline` for a config of the request itself. */
  readonly config?: string | undefined
  /** Known parameters without effect, and those sent with another value, as `name=asked>sent`; undefined for none. */
  readonly ignored?: ReadonlyArray<string> | undefined
  readonly adjusted?: ReadonlyArray<string> | undefined
  /** The program that sent the request, by its `user-agent` and without version. */
  readonly client?: string | undefined
  /** The metadata by which the operator counts, cut to a length. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly errorCode: string | undefined
  /** The error as its client read it, without credentials and addresses; and the parameter it is about. */
  readonly errorMessage?: string | undefined
  readonly errorParam?: string | undefined
}

/** The unique id of the request. */
export const ownIdOf = ({ id, requestId }: RequestRow): string => id ?? requestId
