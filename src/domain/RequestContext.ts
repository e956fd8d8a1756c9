// The facts of one client request, fixed once at the rim and never changed.
// It must not know the body or any upstream.
import type { GatewayConfig } from "./config/GatewayConfig.ts"
import type { CarriedCredentials, CatalogView } from "./ProviderAccount.ts"
import type { GatewayKey } from "./GatewayKey.ts"
import type { Observed } from "./Observed.ts"
import type { Room } from "./Room.ts"

/** What a request says about answers that were given before. */
export interface CacheWish {
  /** `off` forbids them; `ask` wants them; `unsaid` leaves it to the config. */
  readonly mode: "off" | "ask" | "unsaid"
  /** How old they may be. */
  readonly maxAgeSeconds: number | undefined
  /** A new answer, which is kept for those who ask later. */
  readonly refresh: boolean
  /** Whoever names it shares answers with others who do, in the place of the gateway key. */
  readonly namespace: string | undefined
}

export interface RequestContext {
  readonly requestId: string
  readonly traceId: string
  readonly createdSeconds: number
  readonly startedMillis: number
  /** Wall-clock moment after which no work is done for this request; undefined without a client deadline. */
  readonly deadlineMillis: number | undefined
  readonly key: GatewayKey
  /** The one the request names, else its key's. */
  readonly config: GatewayConfig | undefined
  /** The accounts as they were when the request came; those of the moment unless it says. */
  readonly catalog?: CatalogView
  /** Undefined for a config that came with the request. */
  readonly configId: string | undefined
  /** The model of a prompt that is granted to the key; undefined where the request asks for another. */
  readonly grantedModel?: string
  /** Value of `x-gateway-provider` without `@`. */
  readonly providerHeader: string | undefined
  readonly carried: CarriedCredentials
  readonly strict: boolean
  readonly dryRun: boolean
  readonly unsupported: "ignore" | "reject"
  /** The request's own, over those of its config, over those of its key. */
  readonly metadata: Readonly<Record<string, string>>
  readonly betas: ReadonlyArray<string>
  /** Undefined when the request says nothing. */
  readonly cache: CacheWish | undefined
  /** Seed of the deterministic ids of this request. */
  readonly idSeed: string
  /** Who is told of upstream calls; undefined when nobody accounts for the request. */
  readonly observed: Observed | undefined
  /** The memory it may use; without one its calls are not counted. */
  readonly room?: Room | undefined
}
