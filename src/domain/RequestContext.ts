// The facts of one client request, the observer of its upstream calls, and its reservation of memory.
// It must not know the body, any upstream, or what the observer does with the events.
import type { GatewayConfig } from "./config/GatewayConfig.ts"
import {
  type BuiltInKind,
  type CarriedCredentials,
  type CatalogView,
  nothingCarried,
  type ProviderKind
} from "./ProviderAccount.ts"
import type { GatewayKey } from "./GatewayKey.ts"
import type * as Redacted from "effect/Redacted"
import type { Operation } from "./operations.ts"
import type { ModelEnding } from "./models/modelLife.ts"
import type { ProviderError } from "./ProviderError.ts"
import type { Json } from "./text/json.ts"
import { Busy, ConcurrencyReached } from "./GatewayError.ts"

/** The cache options of a request. */
export interface CacheOptions {
  /** `off` forbids cached answers, `ask` allows them, `unsaid` leaves the decision to the config. */
  readonly mode: "off" | "ask" | "unsaid"
  /** The oldest cached answer that is accepted, in seconds. */
  readonly maxAgeSeconds: number | undefined
  /** Skips the cached answer and stores the new one. */
  readonly refresh: boolean
  /** Requests with the same namespace share cached answers across gateway keys. */
  readonly namespace: string | undefined
}

/** What a client carries from turn to turn, sealed for its gateway key. */
export interface CarrierSealing {
  readonly seal: (text: string) => string
  /** Undefined for what was not sealed for this gateway key. */
  readonly unseal: (sealed: string) => string | undefined
  /** The first 32 hex digits of the SHA-256 of a text. */
  readonly digest: (text: string) => string
}

export interface RequestContext {
  readonly requestId: string
  readonly traceId: string
  readonly createdSeconds: number
  readonly startedMillis: number
  /** Wall-clock moment after which no work is done for this request; undefined without a client deadline. */
  readonly deadlineMillis: number | undefined
  readonly key: GatewayKey
  /** The config that the request names, else the config of its key. */
  readonly config: GatewayConfig | undefined
  /** The accounts at the moment the request came; without it the current ones. */
  readonly catalog?: CatalogView
  /** Undefined for an inline config. */
  readonly configId: string | undefined
  /** The request names no config, and has that of its key. */
  readonly isKeyConfig?: true | undefined
  /** The model of a prompt that is granted to the key; undefined where the request sets another model. */
  readonly grantedModel?: string
  /** On paths of Google's dialects: the kind of the path, and the operator's slug for it. */
  readonly native?: { readonly kind: BuiltInKind; readonly slug: string | undefined }
  /** Value of `x-gateway-provider` without `@`. */
  readonly providerHeader: string | undefined
  readonly carried: CarriedCredentials
  readonly strict: boolean
  /** True: answers list the order of blocks, calls and pictures. */
  readonly ordered?: boolean
  readonly dryRun: boolean
  /** Pictures of an answer are put into its text. */
  readonly images?: "markdown" | undefined
  readonly unsupported: "ignore" | "reject"
  /** Merged metadata: the request's values override the config's, which override the key's. */
  readonly metadata: Readonly<Record<string, string>>
  readonly betas: ReadonlyArray<string>
  /** The headers of the client that choose the throughput of Vertex AI; undefined for none. */
  readonly servingHeaders?: Readonly<Record<string, string>> | undefined
  /** Value of `anthropic-version`. */
  readonly anthropicVersion?: string | undefined
  /** Set where the dialect serves models of other makers, by translation (D103). */
  readonly otherModels?: CarrierSealing | undefined
  /** Undefined when the request has no cache header. */
  readonly cache: CacheOptions | undefined
  /** Seed of the deterministic ids of this request. */
  readonly idSeed: string
  /** The recorder of upstream calls; undefined without accounting. */
  readonly recorder: Observed | undefined
  /** The memory reservation of the request; without one its calls reserve nothing. */
  readonly room?: Room | undefined
}

/** A request without headers: strict, without a config and without a deadline. */
export const plainContext = (requestId: string, startedMillis: number, key: GatewayKey): RequestContext => ({
  requestId,
  traceId: requestId,
  createdSeconds: Math.floor(startedMillis / 1000),
  startedMillis,
  deadlineMillis: undefined,
  key,
  config: undefined,
  configId: undefined,
  providerHeader: undefined,
  carried: nothingCarried,
  strict: true,
  dryRun: false,
  unsupported: "ignore",
  metadata: {},
  betas: [],
  cache: undefined,
  idSeed: requestId,
  recorder: undefined
})

// The observer interface of upstream calls: the router and the providers report each attempt to the request's recorder.

/** The account, model and operation of a call. */
export interface AttemptTarget {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly operation: Operation
  readonly optionIndex: number
  /** The location that is called; undefined where the product has none. */
  readonly place?: string | undefined
  /** Undefined for a model without an end in sight (M-730). */
  readonly ending?: ModelEnding | undefined
}

/** A call before it is sent. */
export interface ObservedCall {
  readonly target: AttemptTarget
  readonly url: string
  readonly body: Json
  /** Sent instead of the printed `body`. */
  readonly bytes?: Uint8Array
  /** Parameters without effect, and those whose value was changed. */
  readonly ignored: ReadonlyArray<string>
  readonly adjusted?: ReadonlyArray<ObservedAdjustment> | undefined
}

export interface ObservedAdjustment {
  readonly param: string
  readonly asked: string
  readonly sent: string
}

/** The request that the call serves. */
export interface ObservedAsking {
  readonly request: unknown
  readonly stream: boolean
  readonly context: { readonly metadata: Readonly<Record<string, string>> }
}

/** The observer of one call. An interrupted call gets neither `answered` nor `failed`. */
export interface ObservedAttempt {
  /** Called with the complete answer, or with the first chunk of a stream. */
  readonly answered: (answer: unknown) => void
  /** Called when the token is there, fetched or kept; never for a credential that needs none. */
  readonly authorized: () => void
  /** Called when the request is written to a socket. Transports without sockets never call it. */
  readonly sent: () => void
  readonly failed: (error: ProviderError) => void
  /** Further headers for the upstream, such as `traceparent`; undefined for none. */
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>> | undefined
}

/** The config that routes the request, and its metadata. */
export interface ObservedRoute {
  readonly config: GatewayConfig | undefined
  readonly configId: string | undefined
  readonly metadata: Readonly<Record<string, string>>
}

export interface Observed {
  /** Called when the router takes the request. */
  readonly routing: (route: ObservedRoute) => void
  /** Called before a call is sent. */
  readonly attempt: (call: ObservedCall, asking: ObservedAsking) => ObservedAttempt
  /** Called with the place in the config of a target that is not called because its circuit is open. */
  readonly passedOver: (target: number) => void
  /** Called when a changed call succeeds; `rows` are the refusals before it. */
  readonly healed: (rows: ReadonlyArray<string>) => void
}

/** Whether an answer came from the cache. */
export type CacheStatus = "DISABLED" | "MISS" | "HIT" | "REFRESH"

/** The account that served a request; becomes response headers. */
export interface ServedBy {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  /** `family/kind`: the issuer of the signatures in the answer. */
  readonly issuer: string
  readonly optionIndex: number
  /** The location that was called; undefined where the product has none. */
  readonly place?: string | undefined
  readonly retryCount: number
  readonly cache: CacheStatus
  readonly ignored: ReadonlyArray<string>
  /** The inner pair, where the request came in another dialect. */
  readonly translated?: string | undefined
  readonly adjusted?: ReadonlyArray<ObservedAdjustment> | undefined
  /** Undefined for a model without a known end. */
  readonly ending?: ModelEnding | undefined
}

// The memory reservation of one request, as the code that buffers bodies and replies sees it.

/** Why a reservation fails: the key holds more than its share, or all keys together hold everything. */
export type Shortage = "key" | "all"

/** Bytes that a request keeps in memory while it runs. */
export interface Room {
  /** The bytes that are reserved now. */
  readonly size: number
  /** Reserves bytes until the request ends, or returns the reason of the refusal. */
  readonly take: (bytes: number) => Shortage | undefined
  /** Releases bytes before the request ends. */
  readonly give: (bytes: number) => void
}

/** The refusal of a request whose bytes find no room. */
export const noRoomFault = (shortage: Shortage): Busy | ConcurrencyReached =>
  shortage === "key"
    ? new ConcurrencyReached({ resource: "bytes", limit: undefined })
    : new Busy({ code: "overloaded", retryAfterMillis: 1000 })

/** What a small value of parsed JSON takes: `{}` is an object of 56 bytes and a slot. */
const valueBytes = 64

/** So few values are part of what any request takes. */
const fewValues = 256

/** The bytes that parsed values take beyond those of their text. */
export const bytesOfValues = (values: number): number => (values <= fewValues ? 0 : values * valueBytes)
