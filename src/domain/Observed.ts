// The observer interface of upstream calls: the router and the providers report each attempt to the request's recorder.
// It must not know what the recorder does with the events.
import type * as Redacted from "effect/Redacted"
import type { GatewayConfig } from "./config/GatewayConfig.ts"
import type { Operation } from "./operations.ts"
import type { ModelEnding } from "./models/modelLife.ts"
import type { ProviderKind } from "./ProviderAccount.ts"
import type { ProviderError } from "./ProviderError.ts"
import type { Json } from "./text/json.ts"

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
