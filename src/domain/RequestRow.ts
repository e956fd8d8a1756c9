// What stays of a finished request: its row as it is logged, stored and listed, the names that count it, and its kept content.
// It must not know how rows or content are written. A row never contains content or secrets, content never headers.
import { microsOf, type Tier, type Usage } from "./Usage.ts"
import { memoizeBounded } from "./collections.ts"
import * as Schema from "effect/Schema"

/** One upstream call of the request. Times are milliseconds, rounded to whole microseconds. */
export interface AttemptRow {
  readonly provider: string
  readonly model: string
  readonly target: number
  /** When the call began, after the arrival of its request. */
  readonly started_ms: number
  readonly duration_ms: number
  /** After the beginning of the call: until its access token was there, and until it was on a socket. */
  readonly token_ms?: number | undefined
  readonly sent_ms?: number | undefined
  /** Streams only, once a chunk has arrived. */
  readonly first_chunk_ms?: number | undefined
  readonly upstream_status?: number | undefined
  /** The error code of the call; undefined when it succeeded or was interrupted. */
  readonly error_code?: string | undefined
  /** What was wrong, without credentials and addresses. */
  readonly error_message?: string | undefined
}

/** What a request used, as the admin API shows it. Counts that few requests have are left out where they are 0. */
export interface UsageRow {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly images: number
  readonly cached_audio_tokens?: number | undefined
  readonly cache_write_1h_tokens?: number | undefined
  readonly audio_input_tokens?: number | undefined
  readonly audio_output_tokens?: number | undefined
  readonly image_output_tokens?: number | undefined
  readonly searches?: number | undefined
  readonly tier?: Tier | undefined
}

/** What an answer from the cache would have used upstream. */
export interface SavedRow {
  readonly input_tokens: number
  readonly output_tokens: number
  /** Undefined without a price. */
  readonly cost_usd?: number | undefined
}

/** The row in the one form that it has in the log, the store, lists, events and the console. Unknown facts are left out. */
export interface RequestRow {
  /** The gateway's own id, which no other request has. */
  readonly id: string
  /** The id chosen by the client, else the own one. Several requests can share one. */
  readonly request_id: string
  readonly trace_id: string
  /** When it ended, in RFC 3339 with milliseconds and in UTC, so that texts sort by time. */
  readonly ts: string
  readonly route: string
  /** 499 when the client disconnected first. */
  readonly status: number
  /** The provider that answered, else the one called last; undefined when no provider was called. */
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly target?: number | undefined
  /** The announced or past end of the model: its stage, with day and successor where they are known. */
  readonly model_warning?: string | undefined
  /** Places in the config of the targets that were passed over because their circuits were open; undefined for none. */
  readonly skipped_targets?: ReadonlyArray<number> | undefined
  readonly stream: boolean
  readonly cache?: string | undefined
  /** Times are milliseconds, rounded to whole microseconds. */
  readonly duration_ms: number
  readonly ttft_ms?: number | undefined
  /** The duration minus the time of upstream calls and of pauses between them; of a stream, up to its first byte. */
  readonly overhead_ms: number
  readonly usage?: UsageRow | undefined
  /** The stream was cut before the last counts of its upstream; what they lack is an estimate. */
  readonly usage_estimated?: true | undefined
  readonly cost_usd?: number | undefined
  /** Something was used whose price is not known, so that the cost lacks it. */
  readonly cost_partial?: true | undefined
  /** The location that was called; undefined where the product has none. */
  readonly place?: string | undefined
  /** For answers from the cache, whose own usage is 0. */
  readonly saved?: SavedRow | undefined
  readonly key_id?: string | undefined
  /** The person or account that the client named in its body, cut to a length. */
  readonly user_id?: string | undefined
  /** The id of the config that routed the request; `inline` for a config of the request itself. */
  readonly config?: string | undefined
  /** The program that sent the request, by its `user-agent` and without version. */
  readonly client?: string | undefined
  /** The metadata by which the operator counts, cut to a length. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Known parameters without effect, and those sent with another value, as `name=asked>sent`; undefined for none. */
  readonly ignored_params?: ReadonlyArray<string> | undefined
  readonly adjusted_params?: ReadonlyArray<string> | undefined
  readonly error_code?: string | undefined
  /** The error as its client read it, without credentials and addresses; and the parameter it is about. */
  readonly error_message?: string | undefined
  readonly error_param?: string | undefined
  readonly attempts: ReadonlyArray<AttemptRow>
}

/** When the request ended, in milliseconds since 1970. */
export const endedMillisOf = ({ ts }: Pick<RequestRow, "ts">): number => Date.parse(ts)

/** The cost in millionths of a US dollar, in which sums count. */
export const costMicrosOf = ({ cost_usd: cost = 0 }: Pick<RequestRow, "cost_usd">): number => microsOf(cost)

/** Milliseconds, rounded to whole microseconds. */
export const roundToMicros = (millis: number): number => Math.round(millis * 1000) / 1000

const unlessZero = (count: number | undefined): number | undefined => (count === 0 ? undefined : count)

export const usageRow = (usage: Usage): UsageRow => ({
  input_tokens: usage.input,
  output_tokens: usage.output,
  cached_tokens: usage.cached,
  cache_write_tokens: usage.cacheWritten,
  reasoning_tokens: usage.reasoning,
  images: usage.images,
  cached_audio_tokens: usage.cachedAudio,
  cache_write_1h_tokens: usage.cacheWrittenHour,
  audio_input_tokens: unlessZero(usage.audioInput),
  audio_output_tokens: unlessZero(usage.audioOutput),
  image_output_tokens: unlessZero(usage.imageOutput),
  searches: usage.searches,
  tier: usage.tier
})

/** The usage of a row, for its invoice. */
export const usageOfRow = (row: UsageRow): Usage => ({
  input: row.input_tokens,
  output: row.output_tokens,
  cached: row.cached_tokens,
  cacheWritten: row.cache_write_tokens,
  reasoning: row.reasoning_tokens,
  images: row.images,
  audioInput: row.audio_input_tokens ?? 0,
  audioOutput: row.audio_output_tokens ?? 0,
  imageOutput: row.image_output_tokens ?? 0,
  ...(row.cached_audio_tokens === undefined ? {} : { cachedAudio: row.cached_audio_tokens }),
  ...(row.cache_write_1h_tokens === undefined ? {} : { cacheWrittenHour: row.cache_write_1h_tokens }),
  ...(row.searches === undefined ? {} : { searches: row.searches }),
  ...(row.tier === undefined ? {} : { tier: row.tier })
})

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
  let day = ""
  const isCounted = (keyId: string | undefined, pair: string): boolean => {
    const pairs = known.get(keyId)
    if (pairs === undefined) known.set(keyId, new Set([pair]))
    else if (!pairs.has(pair)) {
      if (pairs.size >= most) return false
      pairs.add(pair)
    }
    return true
  }
  return ({ client = "", key_id: keyId, metadata, ts }, model) => {
    const today = ts.slice(0, "2027-01-31".length)
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
