// Declares the types of a Claude reply: content blocks, stop reason and token counts.
// Must not depend on how a reply is made or written.

import type { ClaudeInput } from "./usage.ts"

type Json = Readonly<Record<string, unknown>>

/** A content block in the form of a unary body. */
export interface ReplyBlock extends Json {
  readonly type: string
}

export interface ClaudeReply {
  readonly content: ReadonlyArray<ReplyBlock>
  readonly stopReason: string
  readonly stopSequence: string | null
  /** Absent for models that do not report why they stopped. */
  readonly stopDetails?: Json
  readonly input: ClaudeInput
  readonly outputTokens: number
  readonly thinkingTokens: number
  readonly searches: number
}
