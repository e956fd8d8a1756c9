// The types of a reply of the simulated Claude: content blocks, stop reason and token counts.
// It must not depend on how a reply is made or written.

import type { ClaudeInput } from "./usage.ts"

type Json = Readonly<Record<string, unknown>>

/** A block of the answer as the unary body writes it. */
export interface ReplyBlock extends Json {
  readonly type: string
}

export interface ClaudeReply {
  readonly content: ReadonlyArray<ReplyBlock>
  readonly stopReason: string
  readonly stopSequence: string | null
  /** Only models that tell why they stopped have the member at all. */
  readonly stopDetails?: Json
  readonly input: ClaudeInput
  readonly outputTokens: number
  readonly thinkingTokens: number
  readonly searches: number
}
