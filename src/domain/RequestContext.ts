// The facts of one client request: ids, key, config, credentials, flags, metadata. They never change.
// It must not know the body or any upstream.
import type { GatewayConfig } from "./config/GatewayConfig.ts"
import type { BuiltInKind, CarriedCredentials, CatalogView } from "./ProviderAccount.ts"
import type { GatewayKey } from "./GatewayKey.ts"
import type { Observed } from "./Observed.ts"
import type { Room } from "./Room.ts"

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
