// Every bound of the service, in one place; the operator may set them, a request never.
// It must not know who enforces which bound.
import * as Context from "effect/Context"

/** Sizes in bytes, times in milliseconds, counts without unit. Defaults from the service's fault and threat table. */
export interface LimitValues {
  readonly bodyBytes: number
  readonly embeddingsBodyBytes: number
  readonly imagesBodyBytes: number
  readonly promptsBodyBytes: number
  readonly adminBodyBytes: number
  /** Of all requests that run: bytes of their bodies, of what is sent upstream for them, and of the replies. */
  readonly bodiesInFlightBytes: number
  readonly jsonDepth: number
  readonly jsonValues: number
  readonly jsonKeys: number
  readonly headerBytes: number
  readonly headerCount: number
  readonly messages: number
  readonly tools: number
  readonly stopSequences: number
  readonly schemaDepth: number
  /** What resolved references may add to the schemas of a request, or four times the request where that is more. */
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
  /** Requests of inference keys that run at once, and requests of admin keys, which have slots of their own. */
  readonly inFlight: number
  readonly adminInFlight: number
  /** Of slots and of bodies in flight: the percentage that is kept for keys below their fair share. */
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
  readonly writeStallMillis: number
  readonly connections: number
  readonly pingMillis: number
  readonly configDepth: number
  readonly configTargets: number
  readonly configEntries: number
  /** Of inline configs kept ready: the length of each, times its targets. */
  readonly configBytes: number
  /** Of the conditions of a config: patterns, and steps that a request may take through them. */
  readonly configPatterns: number
  readonly conditionSteps: number
  readonly retries: number
  readonly retryBaseMillis: number
  readonly retryCapMillis: number
  readonly retryAfterMillis: number
  readonly retryWaitMillis: number
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
  readonly refreshMillis: number
  readonly providerTestMillis: number
  readonly storeConnections: number
  readonly storeAnswerMillis: number
  readonly storeLockMillis: number
  /** How long a service that starts waits for a store that is away. */
  readonly storeStartMillis: number
  /** How often what was spent is written, and how long a part of a budget is a process's own without that. */
  readonly spendingMillis: number
  readonly leaseMillis: number
  /** Reserved from a budget for an answer whose length the request does not bound. */
  readonly budgetOutputTokens: number
  /** Of the store: requests that may wait to be written, requests and changes of the audit log that are kept, days that sums are kept. */
  readonly usageQueue: number
  readonly requestsStored: number
  readonly auditStored: number
  readonly usageDays: number
  /** Of media that are fetched: bytes and URLs of one request, and how long it waits; bytes and connections of all requests at once. */
  readonly mediaBytes: number
  readonly mediaUrls: number
  readonly mediaMillis: number
  readonly mediaInFlightBytes: number
  readonly mediaConnections: number
}

const MiB = 1024 * 1024

export const defaultLimits: LimitValues = {
  bodyBytes: 32 * MiB,
  embeddingsBodyBytes: 8 * MiB,
  imagesBodyBytes: 1 * MiB,
  promptsBodyBytes: 8 * MiB,
  adminBodyBytes: 1 * MiB,
  bodiesInFlightBytes: 512 * MiB,
  jsonDepth: 128,
  jsonValues: 500_000,
  jsonKeys: 10_000,
  headerBytes: 16 * 1024,
  headerCount: 100,
  messages: 10_000,
  tools: 128,
  stopSequences: 16,
  schemaDepth: 64,
  schemaCopyBytes: 1 * MiB,
  promptDepth: 8,
  promptPartials: 1_000,
  eventBytes: 24 * MiB,
  replyBytes: 64 * MiB,
  errorBytes: 256 * 1024,
  connectMillis: 5_000,
  firstByteMillis: 120_000,
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
  writeStallMillis: 60_000,
  connections: 20_000,
  pingMillis: 15_000,
  configDepth: 8,
  configTargets: 64,
  configEntries: 256,
  // Ready to use, a config takes up to 50 times its text.
  configBytes: 1 * MiB,
  configPatterns: 64,
  // At most 10 ms: a step of a pattern takes 10 to 20 ns.
  conditionSteps: 500_000,
  retries: 2,
  retryBaseMillis: 500,
  retryCapMillis: 8_000,
  retryAfterMillis: 2_000,
  retryWaitMillis: 60_000,
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
  // A revoked key is refused everywhere within 5 s; asking this often is one row.
  refreshMillis: 1_000,
  providerTestMillis: 10_000,
  storeConnections: 10,
  storeAnswerMillis: 900,
  storeLockMillis: 5_000,
  storeStartMillis: 30_000,
  spendingMillis: 250,
  // Renewed when half of it is over: a key in use is served for 10 minutes without a store.
  leaseMillis: 20 * 60_000,
  budgetOutputTokens: 4_096,
  usageQueue: 10_000,
  requestsStored: 100_000,
  auditStored: 100_000,
  usageDays: 400,
  // In base64 they are 27 MiB; Claude takes requests of 30 MB, and a hundred images in one.
  mediaBytes: 20 * MiB,
  mediaUrls: 100,
  mediaMillis: 15_000,
  mediaInFlightBytes: 128 * MiB,
  mediaConnections: 64
}

export const Limits: Context.Reference<LimitValues> = Context.Reference<LimitValues>("gateway/domain/Limits", {
  defaultValue: () => defaultLimits
})
