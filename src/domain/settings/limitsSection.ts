// The schema of the `limits` section: one row for each limit of the service.
// It must not know defaults, or which part enforces a limit.
import * as Schema from "effect/Schema"
import { millis, mostMillis, wholeNumber } from "../config/configured.ts"
import type { LimitValues } from "../Limits.ts"

const duration = Schema.optionalKey(millis.annotate({ description: "Milliseconds." }))
const pause = Schema.optionalKey(wholeNumber(0, mostMillis).annotate({ description: "Milliseconds; 0 for none." }))
const size = Schema.optionalKey(wholeNumber(1, mostMillis).annotate({ description: "Bytes." }))
const count = Schema.optionalKey(wholeNumber(1, mostMillis))

export const limitsSection = Schema.Struct({
  bodyBytes: size,
  embeddingsBodyBytes: size,
  imagesBodyBytes: size,
  promptsBodyBytes: size,
  adminBodyBytes: size,
  bodiesInFlightBytes: size,
  jsonDepth: count,
  jsonValues: count,
  jsonKeys: count,
  headerBytes: size,
  headerCount: count,
  messages: count,
  tools: count,
  stopSequences: count,
  schemaDepth: count,
  schemaCopyBytes: size,
  promptDepth: count,
  promptPartials: count,
  eventBytes: size,
  replyBytes: size,
  errorBytes: size,
  connectMillis: duration,
  firstByteMillis: duration,
  unaryFirstByteMillis: duration,
  idleMillis: duration,
  totalMillis: duration,
  inFlight: count,
  adminInFlight: count,
  keptPercent: Schema.optionalKey(
    wholeNumber(0, 90).annotate({
      description: "Percent of slots and of bytes in flight, kept for keys below their fair share."
    })
  ),
  signatureEntries: count,
  signatureBytes: size,
  signatureTotalBytes: size,
  signatureMillis: duration,
  tokenEntries: count,
  streamWindowBytes: size,
  excerptBytes: size,
  drainMillis: pause,
  readyDelayMillis: pause,
  headersTimeoutMillis: duration,
  requestTimeoutMillis: duration,
  keepAliveMillis: duration,
  idleSockets: count,
  staleMillis: pause,
  writeStallMillis: duration,
  connections: count,
  pipelined: count,
  pingMillis: duration,
  configDepth: count,
  configTargets: count,
  configEntries: count,
  configBytes: size,
  configPatterns: count,
  conditionSteps: count,
  retries: Schema.optionalKey(wholeNumber(0, mostMillis)),
  retryBaseMillis: pause,
  retryCapMillis: pause,
  retryAfterMillis: pause,
  retryWaitMillis: pause,
  heals: Schema.optionalKey(
    wholeNumber(0, 4).annotate({
      description: "Second tries of a request that an upstream refused for a known reason; 0 for none."
    })
  ),
  lessonEntries: count,
  lessonMillis: duration,
  circuitEntries: count,
  circuitIdleMillis: duration,
  logBytes: size,
  requestsKept: count,
  usageEntries: count,
  cacheEntries: count,
  cacheBytes: size,
  cacheEntryBytes: size,
  cacheSeconds: count,
  redisMillis: duration,
  redisConnectMillis: duration,
  redisQueue: count,
  redisDistrustMillis: duration,
  linkMillis: duration,
  linkQueue: count,
  providerTestMillis: duration,
  refreshMillis: duration,
  storeConnections: count,
  storeAnswerMillis: duration,
  storeLockMillis: duration,
  storeStartMillis: pause,
  spendingMillis: duration,
  leaseMillis: duration,
  leaseReclaimMillis: duration,
  budgetOutputTokens: count,
  usageQueue: count,
  requestsStored: count,
  requestsSearched: count,
  usageSearched: count,
  auditStored: count,
  configVersions: Schema.optionalKey(
    wholeNumber(1, 10_000).annotate({ description: "Versions of a config that are kept, the newest included." })
  ),
  usageDays: count,
  usageNames: Schema.optionalKey(
    wholeNumber(1, 100_000).annotate({
      description:
        "Pairs of client and counted metadata that the sums of a day distinguish, of each key in each process."
    })
  ),
  usageHourDays: count,
  usageMinuteDays: count,
  mediaBytes: size,
  mediaUrls: count,
  mediaMillis: duration,
  mediaInFlightBytes: size,
  mediaConnections: count,
  responseMinutes: Schema.optionalKey(
    wholeNumber(1, 400 * 24 * 60).annotate({ description: "Minutes; at most 400 days." })
  ),
  responsesPerKey: count,
  responseBytes: size,
  responsesTotalBytes: Schema.optionalKey(wholeNumber(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Bytes." })),
  responseChain: count,
  responseHistoryBytes: size,
  responseSweepMillis: duration,
  responseCarrierBytes: size,
  contentBytes: size,
  contentQueueBytes: size,
  contentTotalBytes: Schema.optionalKey(wholeNumber(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Bytes." })),
  contentMemoryBytes: size,
  contentMinutes: Schema.optionalKey(
    wholeNumber(1, 400 * 24 * 60).annotate({ description: "Minutes; at most 400 days." })
  ),
  contentSweepMillis: duration,
  longDecodeCalls: count
} satisfies Record<keyof LimitValues, unknown>)
