// What stays of a finished request: its row as it is logged, stored and listed, the names that count it, and its kept content.
// It must not know how rows or content are written. A row never contains content or secrets, content never headers.
import type { Usage } from "./Usage.ts"
import { dayMillis } from "./time.ts"
import { memoizeBounded } from "./collections.ts"
import * as Schema from "effect/Schema"

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

// The names under which sums count a request: its model, its client and its metadata, each from a bounded set.

export interface CountedNames {
  readonly model: string
  /** Empty for a request without one. */
  readonly client: string
  /** A JSON object of texts. */
  readonly metadata: string
}

/** The name of all values beyond the bound. */
const otherName = "other"
const noMetadata = "{}"

/** A product of `user-agent` ends at a space, or at a slash and its version. */
const product = /^[!-~]{1,64}?(?=\/v?\d|\s|$)/

/** The program that sent the request, by the first product of its `user-agent` and without version. */
export const clientName: (userAgent: string) => string | undefined = (() => {
  const read = memoizeBounded((text: string): string => product.exec(text)?.[0] ?? "")
  return (userAgent) => read(userAgent) || undefined
})()

/**
 * One for each list of sums of a process. Clients choose their name and their metadata: a day counts at most so many pairs
 * of a gateway key, and the rest of its requests under `other`. `model` is of a closed set already.
 */
export const makeCountedNames = (most: number): ((row: RequestRow, model: string) => CountedNames) => {
  const known = new Map<string | undefined, Set<string>>()
  let day = 0
  const isCounted = (keyId: string | undefined, pair: string): boolean => {
    const pairs = known.get(keyId)
    if (pairs === undefined) known.set(keyId, new Set([pair]))
    else if (!pairs.has(pair)) {
      if (pairs.size >= most) return false
      pairs.add(pair)
    }
    return true
  }
  return ({ client = "", endedMillis, keyId, metadata }, model) => {
    const today = Math.floor(endedMillis / dayMillis)
    if (today !== day) {
      known.clear()
      day = today
    }
    const text = metadata === undefined ? noMetadata : JSON.stringify(metadata)
    return isCounted(keyId, `${client}\n${text}`)
      ? { model, client, metadata: text }
      : { model, client: otherName, metadata: withoutValues(metadata) }
  }
}

const withoutValues = (metadata: RequestRow["metadata"] = {}): string =>
  JSON.stringify(Object.fromEntries(Object.keys(metadata).map((name) => [name, otherName])))

// The content of one request as it is kept for operators: the client's body, the upstream bodies, the answer.

/** Whose content is kept: of no request, of those that end in an error, or of all. */
export const contentModes = ["off", "errors", "all"] as const
export type ContentMode = (typeof contentModes)[number]

/** `bytes` is the whole length; `isCut`: the text is only its beginning. */
const ContentText = Schema.Struct({
  text: Schema.String,
  bytes: Schema.Number,
  isCut: Schema.Boolean
})
export type ContentText = typeof ContentText.Type

/** One upstream call as it was sent. `adjusted` has the text form of dry runs. */
const ContentCall = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  target: Schema.Number,
  url: Schema.String,
  body: ContentText,
  ignored: Schema.Array(Schema.String),
  adjusted: Schema.Array(Schema.String)
})
export type ContentCall = typeof ContentCall.Type

/** The answer is as the client got it: a body, or the events of a stream. */
export const RequestContent = Schema.Struct({
  request: ContentText,
  calls: Schema.Array(ContentCall),
  answer: Schema.optionalKey(ContentText)
})
export type RequestContent = typeof RequestContent.Type

/** Content with the request it belongs to. */
export interface KeptContent {
  /** The gateway's own id of the request. */
  readonly id: string
  readonly expiresMillis: number
  readonly content: RequestContent
}
