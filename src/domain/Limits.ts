// Every limit of the service and its default: sizes, times, counts. The operator may change them, a request never.
// It must not know which part enforces a limit.
import * as Context from "effect/Context"

/**
 * Sizes in bytes, times in milliseconds, counts without unit. Defaults come from the service's fault and threat table.
 */
export interface LimitValues {
  readonly bodyBytes: number
  readonly embeddingsBodyBytes: number
  readonly imagesBodyBytes: number
  readonly promptsBodyBytes: number
  readonly adminBodyBytes: number
  /** Bytes of all running requests together: their bodies, the translated upstream bodies, and the replies. */
  readonly bodiesInFlightBytes: number
  readonly jsonDepth: number
  /** Values of a body, and of the JSON in the texts of its calls and tool results. */
  readonly jsonValues: number
  readonly jsonKeys: number
  readonly headerBytes: number
  readonly headerCount: number
  readonly messages: number
  readonly tools: number
  readonly stopSequences: number
  readonly schemaDepth: number
  /** Bytes that resolved `$ref`s may add to the schemas of a request, or four times the request where that is more, up to eight times this. */
  readonly schemaCopyBytes: number
  readonly promptDepth: number
  readonly promptPartials: number
  readonly eventBytes: number
  readonly replyBytes: number
  readonly errorBytes: number
  readonly connectMillis: number
  readonly firstByteMillis: number
  readonly unaryFirstByteMillis: number
  readonly idleMillis: number
  readonly totalMillis: number
  /** Most running requests of inference keys; `adminInFlight` limits those of admin keys separately. */
  readonly inFlight: number
  readonly adminInFlight: number
  /** Percentage of slots and of bytes in flight that is reserved for keys below their fair share. */
  readonly keptPercent: number
  readonly signatureEntries: number
  readonly signatureBytes: number
  readonly signatureTotalBytes: number
  readonly signatureMillis: number
  readonly tokenEntries: number
  readonly streamWindowBytes: number
  readonly excerptBytes: number
  readonly drainMillis: number
  readonly readyDelayMillis: number
  readonly headersTimeoutMillis: number
  readonly requestTimeoutMillis: number
  readonly keepAliveMillis: number
  /** Idle sockets to upstreams that are kept for later calls. */
  readonly idleSockets: number
  /** A kept socket to an upstream that closes within this time of a request was closed before the upstream had it. */
  readonly staleMillis: number
  readonly writeStallMillis: number
  readonly connections: number
  /** Requests of one connection that may wait for the one before them; then the connection is not read. */
  readonly pipelined: number
  readonly pingMillis: number
  readonly configDepth: number
  readonly configTargets: number
  readonly configEntries: number
  /** Total size of cached inline configs: the length of each, times its targets. */
  readonly configBytes: number
  /** Limits on the conditions of a config: regular expressions, and matching steps per request. */
  readonly configPatterns: number
  readonly conditionSteps: number
  readonly retries: number
  readonly retryBaseMillis: number
  readonly retryCapMillis: number
  readonly retryAfterMillis: number
  readonly retryWaitMillis: number
  /** Second tries of a request that an upstream refused for a known reason; 0 for none. */
  readonly heals: number
  /** Lessons of such refusals, and how long they hold. */
  readonly lessonEntries: number
  readonly lessonMillis: number
  readonly circuitEntries: number
  readonly circuitIdleMillis: number
  readonly logBytes: number
  readonly requestsKept: number
  readonly usageEntries: number
  readonly cacheEntries: number
  readonly cacheBytes: number
  readonly cacheEntryBytes: number
  readonly cacheSeconds: number
  readonly redisMillis: number
  readonly redisConnectMillis: number
  readonly redisQueue: number
  /** Not used after a reply of unexpected shape: a server that mixes up replies may answer looks well. */
  readonly redisDistrustMillis: number
  /** Between the processes of `server.workers`: the wait for an answer, and how many asks may wait. */
  readonly linkMillis: number
  readonly linkQueue: number
  readonly refreshMillis: number
  readonly providerTestMillis: number
  readonly storeConnections: number
  readonly storeAnswerMillis: number
  readonly storeLockMillis: number
  /** How long the service waits at start for an unreachable store. */
  readonly storeStartMillis: number
  /** How often spending is written to the store, and how long a lease on a budget is used without a store. */
  readonly spendingMillis: number
  readonly leaseMillis: number
  /** After this time without renewal the store gives a lease to others: its process was killed, or is cut off. */
  readonly leaseReclaimMillis: number
  /** Tokens reserved from a budget for an answer whose length the request does not limit. */
  readonly budgetOutputTokens: number
  /**
   * The store: requests that may wait to be written; requests, audit entries and versions of a config that are kept; days
   * that sums are kept.
   */
  readonly usageQueue: number
  readonly requestsStored: number
  readonly auditStored: number
  readonly configVersions: number
  readonly usageDays: number
  /** Pairs of client and counted metadata that the sums of a day distinguish, of each gateway key in each process. */
  readonly usageNames: number
  /** Days that the sums of single hours and minutes are kept. */
  readonly usageHourDays: number
  readonly usageMinuteDays: number
  /** Stored requests that one search for a page reads, before it answers with a cursor. */
  readonly requestsSearched: number
  /** Sums of one day that a page of usage by day reads, before it ends and the next page goes on. */
  readonly usageSearched: number
  /** Fetched media: bytes, URLs and waiting time per request; bytes and connections of all requests together. */
  readonly mediaBytes: number
  readonly mediaUrls: number
  readonly mediaMillis: number
  readonly mediaInFlightBytes: number
  readonly mediaConnections: number
  /** Of kept responses: how long, how many of a key, bytes of one and of all; turns and bytes of a chain; how often the old ones leave. */
  readonly responseMinutes: number
  readonly responsesPerKey: number
  readonly responseBytes: number
  readonly responsesTotalBytes: number
  readonly responseChain: number
  readonly responseHistoryBytes: number
  readonly responseSweepMillis: number
  /** The longest sealed text that a client carries. */
  readonly responseCarrierBytes: number
  /** Of captured content: bytes of a body or an answer, of what waits to be stored, of all; how long; how often the old leaves. */
  readonly contentBytes: number
  readonly contentQueueBytes: number
  readonly contentTotalBytes: number
  /** Bytes of all where there is no store. */
  readonly contentMemoryBytes: number
  readonly contentMinutes: number
  readonly contentSweepMillis: number
  /** Most upstream calls of one long answer; 1: no answer is continued. */
  readonly longDecodeCalls: number
}

const MiB = 1024 * 1024

/** The longest time that a timer of Node takes, 24 days: in effect no bound. */
export const longestTimerMillis = 2_147_483_647

export const defaultLimits: LimitValues = {
  bodyBytes: 32 * MiB,
  embeddingsBodyBytes: 8 * MiB,
  imagesBodyBytes: 1 * MiB,
  promptsBodyBytes: 8 * MiB,
  adminBodyBytes: 1 * MiB,
  bodiesInFlightBytes: 512 * MiB,
  jsonDepth: 128,
  // More than a million tokens. Each stage of such a request takes about 50 ms.
  jsonValues: 200_000,
  jsonKeys: 10_000,
  headerBytes: 16 * 1024,
  headerCount: 100,
  messages: 10_000,
  tools: 1_024,
  stopSequences: 256,
  schemaDepth: 64,
  schemaCopyBytes: 1 * MiB,
  promptDepth: 8,
  promptPartials: 1_000,
  eventBytes: 24 * MiB,
  replyBytes: 64 * MiB,
  errorBytes: 256 * 1024,
  connectMillis: 5_000,
  firstByteMillis: 600_000,
  unaryFirstByteMillis: 600_000,
  idleMillis: 60_000,
  totalMillis: 600_000,
  inFlight: 10_000,
  adminInFlight: 1_000,
  keptPercent: 20,
  signatureEntries: 50_000,
  signatureBytes: 64 * 1024,
  signatureTotalBytes: 64 * MiB,
  signatureMillis: 24 * 3_600_000,
  tokenEntries: 1_000,
  streamWindowBytes: 64 * 1024,
  excerptBytes: 2_048,
  drainMillis: 600_000,
  readyDelayMillis: 5_000,
  headersTimeoutMillis: 10_000,
  requestTimeoutMillis: 120_000,
  keepAliveMillis: 65_000,
  idleSockets: 100,
  staleMillis: 5,
  writeStallMillis: 60_000,
  connections: 20_000,
  pipelined: 16,
  pingMillis: 15_000,
  configDepth: 8,
  configTargets: 64,
  configEntries: 256,
  // A compiled config takes up to 50 times the memory of its text.
  configBytes: 1 * MiB,
  configPatterns: 64,
  // At most 10 ms: a step of a pattern takes 10 to 20 ns.
  conditionSteps: 500_000,
  retries: 2,
  retryBaseMillis: 500,
  retryCapMillis: 8_000,
  retryAfterMillis: 2_000,
  retryWaitMillis: 60_000,
  heals: 4,
  lessonEntries: 1_000,
  lessonMillis: 3_600_000,
  circuitEntries: 10_000,
  circuitIdleMillis: 600_000,
  logBytes: 1 * MiB,
  requestsKept: 1_000,
  usageEntries: 10_000,
  cacheEntries: 10_000,
  cacheBytes: 64 * MiB,
  cacheEntryBytes: 4 * MiB,
  cacheSeconds: 3_600,
  redisMillis: 100,
  redisConnectMillis: 1_000,
  redisQueue: 10_000,
  redisDistrustMillis: 30_000,
  linkMillis: 1_000,
  linkQueue: 10_000,
  // Every process refuses a revoked key within 5 s. One poll reads one row.
  refreshMillis: 500,
  providerTestMillis: 10_000,
  storeConnections: 10,
  storeAnswerMillis: 900,
  storeLockMillis: 5_000,
  storeStartMillis: 30_000,
  spendingMillis: 250,
  // Leases are renewed at half of this time, so a key in use is served for 10 minutes without a store.
  leaseMillis: 20 * 60_000,
  leaseReclaimMillis: 60_000,
  budgetOutputTokens: 4_096,
  usageQueue: 10_000,
  requestsStored: 100_000,
  requestsSearched: 20_000,
  usageSearched: 50_000,
  auditStored: 100_000,
  configVersions: 100,
  usageDays: 400,
  usageNames: 1000,
  usageHourDays: 35,
  usageMinuteDays: 2,
  // 20 MiB are 27 MiB in base64. Claude takes requests of 30 MB, with up to a hundred images.
  mediaBytes: 20 * MiB,
  mediaUrls: 100,
  mediaMillis: 15_000,
  mediaInFlightBytes: 128 * MiB,
  mediaConnections: 64,
  responseMinutes: 30 * 24 * 60,
  responsesPerKey: 10_000,
  responseBytes: 8 * MiB,
  responsesTotalBytes: 2_048 * MiB,
  responseChain: 256,
  responseHistoryBytes: 32 * MiB,
  responseSweepMillis: 60_000,
  responseCarrierBytes: 4 * MiB,
  contentBytes: MiB,
  contentQueueBytes: 64 * MiB,
  contentTotalBytes: 1_024 * MiB,
  contentMemoryBytes: 64 * MiB,
  contentMinutes: 7 * 24 * 60,
  contentSweepMillis: 60_000,
  longDecodeCalls: 32
}

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
