// Every limit of the service, one row each: default, bounds of the setting, meaning. An operator may change them, a request never.
// It must not know which part enforces a limit.
import * as Context from "effect/Context"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { wholeNumber } from "./config/configured.ts"
import { longestTimerMillis } from "./time.ts"

/** A limit of one kind. Without a description its unit is all that the schema of the file states. */
const limit =
  (least: number, most: number, unit?: string) =>
  (value: number, description = unit) => {
    const schema = wholeNumber(least, most)
    return {
      value,
      description,
      schema: Schema.optionalKey(description === undefined ? schema : schema.annotate({ description }))
    }
  }

const count = limit(1, longestTimerMillis)
const bytes = limit(1, longestTimerMillis, "Bytes.")
const manyBytes = limit(1, Number.MAX_SAFE_INTEGER, "Bytes.")
const millis = limit(1, longestTimerMillis, "Milliseconds.")
const pause = limit(0, longestTimerMillis, "Milliseconds; 0 for none.")
/** At most 400 days. */
const minutes = limit(1, 400 * 24 * 60)

const MiB = 1024 * 1024

/**
 * What an operator sets. `docs/settings.md` lists these, and their names stay.
 * Bytes, milliseconds, or counts without a unit.
 */
export const publicLimits = {
  bodyBytes: bytes(32 * MiB, "Most bytes of a request body."),
  bodiesInFlightBytes: bytes(
    512 * MiB,
    "Most bytes of all running requests together: their bodies, the translated upstream bodies, and the replies."
  ),
  // More than a million tokens. Each stage of such a request takes about 50 ms.
  jsonValues: count(
    200_000,
    "Most JSON values of a request: of its body, and of the JSON in the texts of its calls and tool results."
  ),
  schemaCopyBytes: bytes(
    1 * MiB,
    "Bytes that resolved `$ref`s may add to the schemas of a request, or four times the request where that is more, up to eight times this."
  ),
  replyBytes: bytes(64 * MiB, "Most bytes of a provider's answer that is not streamed."),
  // 20 MiB are 27 MiB in base64. Claude takes requests of 30 MB, with up to a hundred images.
  mediaBytes: bytes(20 * MiB, "Most bytes of the media that are fetched for a request."),
  inFlight: count(10_000, "Most running requests of inference keys in a process."),
  adminInFlight: count(1_000, "Most running requests of admin keys in a process."),
  keptPercent: limit(0, 90)(20, "Percent of slots and of bytes in flight, kept for keys below their fair share."),
  connections: count(20_000, "Most connections of clients to a process; further ones get 503."),
  idleSockets: count(100, "Idle connections to providers that are kept for later calls."),
  connectMillis: millis(5_000, "Milliseconds to connect to a provider."),
  firstByteMillis: millis(600_000, "Milliseconds until a stream's first byte from a provider."),
  unaryFirstByteMillis: millis(600_000, "Milliseconds until the first byte of an answer that is not streamed."),
  idleMillis: millis(60_000, "Milliseconds that a provider may be silent within an answer."),
  totalMillis: millis(600_000, "Milliseconds of an answer that is not streamed, retries included."),
  keepAliveMillis: millis(65_000, "Milliseconds that an idle connection of a client is kept."),
  requestTimeoutMillis: millis(120_000, "Milliseconds in which a client must have sent its request."),
  pingMillis: millis(15_000, "Milliseconds of silence after which a stream to a client has a comment."),
  drainMillis: pause(600_000, "Milliseconds that running requests have to end when the service stops; 0 for none."),
  readyDelayMillis: pause(
    5_000,
    "Milliseconds between the end of readiness and the end of listening when the service stops; 0 for none."
  ),
  workerSilentMillis: millis(
    10_000,
    "Milliseconds without an answer after which a process of `server.workers` is killed and replaced."
  ),
  retries: limit(0, longestTimerMillis)(2, "Retries of a failed call on the same target; 0 for none."),
  retryWaitMillis: pause(60_000, "Most milliseconds that a request waits for its retries; 0 for none."),
  heals: limit(0, 4)(4, "Second tries of a request that an upstream refused for a known reason; 0 for none."),
  // At most 10 ms: a step of a pattern takes 10 to 20 ns.
  conditionSteps: count(500_000, "Most matching steps of the conditions of a config, for a request."),
  cacheBytes: bytes(64 * MiB, "Most bytes of all cached answers in a process."),
  cacheSeconds: count(3_600, "Seconds that an answer is cached where the request sets no age."),
  redisMillis: millis(100, "Milliseconds to wait for a reply of Redis."),
  storeConnections: count(10, "Connections of a process to PostgreSQL."),
  storeAnswerMillis: millis(900, "Milliseconds that a request waits for the store."),
  // Every process refuses a revoked key within 5 s. One poll reads one row.
  refreshMillis: millis(500, "Milliseconds between two looks for changes of the configuration file and the store."),
  budgetOutputTokens: count(
    4_096,
    "Tokens that are reserved from a budget for an answer whose length the request does not limit."
  ),
  requestsStored: count(100_000, "Requests that the store keeps."),
  usageDays: count(400, "Days that the store keeps sums of usage."),
  responseMinutes: minutes(30 * 24 * 60, "Minutes that a response of /v1/responses is kept; at most 400 days."),
  responsesTotalBytes: manyBytes(2_048 * MiB, "Most bytes of all kept responses."),
  contentBytes: bytes(MiB, "Bytes of each captured body and answer that are kept."),
  contentMinutes: minutes(7 * 24 * 60, "Minutes that captured content is kept; at most 400 days."),
  contentTotalBytes: manyBytes(1_024 * MiB, "Most bytes of all captured content in the store."),
  longDecodeCalls: count(32, "Most upstream calls of one long answer; 1: no answer is continued.")
}

/**
 * Bounds inside the service, which operators need not know: a release may change or drop them. A file may set them too,
 * so that a bound that turns out too small does not need another build.
 */
const innerLimits = {
  embeddingsBodyBytes: bytes(8 * MiB),
  imagesBodyBytes: bytes(1 * MiB),
  promptsBodyBytes: bytes(8 * MiB),
  adminBodyBytes: bytes(1 * MiB),
  jsonDepth: count(128),
  jsonKeys: count(10_000),
  headerBytes: bytes(16 * 1024),
  headerCount: count(100),
  messages: count(10_000),
  tools: count(1_024),
  stopSequences: count(256),
  schemaDepth: count(64),
  promptDepth: count(8),
  promptPartials: count(1_000),
  eventBytes: bytes(24 * MiB),
  errorBytes: bytes(256 * 1024),
  signatureEntries: count(50_000),
  signatureBytes: bytes(64 * 1024),
  signatureTotalBytes: bytes(64 * MiB),
  signatureMillis: millis(24 * 3_600_000),
  tokenEntries: count(1_000),
  streamWindowBytes: bytes(64 * 1024),
  excerptBytes: bytes(2_048),
  headersTimeoutMillis: millis(10_000),
  /** A kept socket to an upstream that closes within this time of a request was closed before the upstream had it. */
  staleMillis: pause(5),
  writeStallMillis: millis(60_000),
  /** Requests of one connection that may wait for the one before them; then the connection is not read. */
  pipelined: count(16),
  configDepth: count(8),
  configTargets: count(64),
  configEntries: count(256),
  /**
   * Total size of cached inline configs: the length of each, times its targets. A compiled config takes up to 50 times
   * the memory of its text.
   */
  configBytes: bytes(1 * MiB),
  /** Regular expressions in the conditions of a config. */
  configPatterns: count(64),
  retryBaseMillis: pause(500),
  retryCapMillis: pause(8_000),
  retryAfterMillis: pause(2_000),
  /** What healed refusals have taught, and how long it holds. */
  lessonEntries: count(1_000),
  lessonMillis: millis(3_600_000),
  circuitEntries: count(10_000),
  circuitIdleMillis: millis(600_000),
  logBytes: bytes(1 * MiB),
  /** Requests and sums in the memory of a service without a store. */
  requestsKept: count(1_000),
  usageEntries: count(10_000),
  cacheEntries: count(10_000),
  cacheEntryBytes: bytes(4 * MiB),
  redisConnectMillis: millis(1_000),
  redisQueue: count(10_000),
  /** Redis is not used after a reply of unexpected shape: a server that mixes up replies may answer looks well. */
  redisDistrustMillis: millis(30_000),
  /** Between the processes of `server.workers`: the wait for an answer, and how many asks may wait. */
  linkMillis: millis(1_000),
  linkQueue: count(10_000),
  providerTestMillis: millis(10_000),
  storeLockMillis: millis(5_000),
  /** How long the service waits at start for an unreachable store. */
  storeStartMillis: pause(30_000),
  /** How often spending is written to the store. */
  spendingMillis: millis(250),
  /**
   * How long a lease on a budget is used without a store. Leases are renewed at half of this time, so a key in use is
   * served for 10 minutes without one.
   */
  leaseMillis: millis(20 * 60_000),
  /** After this time without renewal the store gives a lease to others: its process was killed, or is cut off. */
  leaseReclaimMillis: millis(60_000),
  /** Requests that may wait to be written to the store. */
  usageQueue: count(10_000),
  /** Stored requests that one search for a page reads, before it answers with a cursor. */
  requestsSearched: count(20_000),
  /** Sums of one day that a page of usage by day reads, before it ends and the next page goes on. */
  usageSearched: count(50_000),
  auditStored: count(100_000),
  configVersions: limit(1, 10_000)(100, "Versions of a config that are kept, the newest included."),
  usageNames: limit(1, 100_000)(
    1000,
    "Pairs of client and counted metadata that the sums of a day distinguish, of each key in each process."
  ),
  /** Days that the sums of single hours and minutes are kept. */
  usageHourDays: count(35),
  usageMinuteDays: count(2),
  /** Fetched media: URLs and waiting time per request; bytes and connections of all requests together. */
  mediaUrls: count(100),
  mediaMillis: millis(15_000),
  mediaInFlightBytes: bytes(128 * MiB),
  mediaConnections: count(64),
  /** Of kept responses: how many of a key, bytes of one; turns and bytes of a chain; how often the old ones leave. */
  responsesPerKey: count(10_000),
  responseBytes: bytes(8 * MiB),
  responseChain: count(256),
  responseHistoryBytes: bytes(32 * MiB),
  responseSweepMillis: millis(60_000),
  /** The longest sealed text that a client carries. */
  responseCarrierBytes: bytes(4 * MiB),
  /** Of captured content: bytes that wait to be stored, bytes of all where there is no store, how often the old leaves. */
  contentQueueBytes: bytes(64 * MiB),
  contentMemoryBytes: bytes(64 * MiB),
  contentSweepMillis: millis(60_000)
}

const limits = { ...publicLimits, ...innerLimits }

export type LimitValues = { readonly [Name in keyof typeof limits]: number }

export const defaultLimits: LimitValues = Record.map(limits, ({ value }) => value)

/** The section `limits` of the configuration file. */
export const limitsSection = Schema.Struct(Record.map(limits, ({ schema }) => schema))

/**
 * What one answer of a provider may have at most. Constants, because no answer of a model comes near them. Beyond: a
 * broken answer (`too_large`).
 */
export const answerBounds = {
  /** Choices of one answer, each of which an event looks for among the others. OpenAI gives as many. */
  choices: 128,
  /** Parts or blocks of one choice. */
  parts: 100_000,
  /** Calls of one choice. Results of more could not come back: each is a message, see `messages`. */
  calls: 10_000,
  /** Events of one stream. */
  events: 1_000_000,
  /** Comments, blank lines and fields without data between two events. A comment each second for 10 minutes is 20 KB. */
  silentBytes: 1 * MiB,
  /** Fields of counts or of metadata that are put together from several events; others are left out. */
  fields: 256
} as const

export const Limits: Context.Reference<LimitValues> = Context.Reference<LimitValues>("gateway/domain/Limits", {
  defaultValue: () => defaultLimits
})
