// What a request tells of its upstream calls while they happen, to whoever accounts for it.
// It must not know who listens, nor what becomes of it.
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

/** One call under way. A call that is left in the middle is told nothing more. */
export interface ObservedAttempt {
  /** A complete answer is here, or the first chunk of a stream. */
  readonly answered: (answer: unknown) => void
  readonly failed: (error: ProviderError) => void
  /** What else the upstream is sent, such as the trace this call belongs to; undefined for nothing. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

export interface Observed {
  /** A call is about to go out. */
  readonly attempt: (target: AttemptTarget, request: unknown, stream: boolean) => ObservedAttempt
}
