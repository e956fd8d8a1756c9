// What a request tells of its upstream calls while they happen, to whoever accounts for it.
// It must not know who listens, nor what becomes of it.
import type * as Redacted from "effect/Redacted"
import type { GatewayConfig } from "./config/GatewayConfig.ts"
import type { ProviderKind } from "./ProviderAccount.ts"
import type { ProviderError } from "./ProviderError.ts"

/** Where a call goes. */
export interface AttemptTarget {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly operation: string
  readonly optionIndex: number
}

/** A call that is about to go out. */
export interface ObservedCall {
  readonly target: AttemptTarget
  readonly url: string
}

/** What it is made for. */
export interface ObservedAsking {
  readonly request: unknown
  readonly stream: boolean
  readonly context: { readonly metadata: Readonly<Record<string, string>> }
}

/** One call under way. A call that is left in the middle is told nothing more. */
export interface ObservedAttempt {
  /** A complete answer is here, or the first chunk of a stream. */
  readonly answered: (answer: unknown) => void
  readonly failed: (error: ProviderError) => void
  /** What else the upstream is sent, such as the trace this call belongs to; undefined for nothing. */
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>> | undefined
}

/** What a request is routed by. */
export interface ObservedRoute {
  readonly config: GatewayConfig | undefined
  readonly configId: string | undefined
}

export interface Observed {
  /** The router has taken the request. */
  readonly routing: (route: ObservedRoute) => void
  /** A call is about to go out. */
  readonly attempt: (call: ObservedCall, asking: ObservedAsking) => ObservedAttempt
}
