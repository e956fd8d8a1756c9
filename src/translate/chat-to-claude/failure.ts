// Maps error responses of Claude on Vertex AI to error reasons.
// Must not depend on the gateway's own error responses; Vertex AI's errors are mapped as on its other routes.
import type { Json } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { retentionRefusal } from "../shared/claude/dataRetention.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import { readUpstreamError, statusInside } from "../shared/reply/upstreamError.ts"

/** Total: accepts any status and any body. */
export const failureFromClaude = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | string,
  origin: "caller" | "stored"
): Reason => {
  if (status !== 400 && status !== 413) return failureFromGoogle(status, headers, body, origin)
  const error = readUpstreamError(status, headers, body)
  const { text, message } = error
  if (status === 413) return { _tag: "PayloadTooLarge", message: `${message} ${sizeHint}` }
  const retention = retentionRefusal(error)
  if (retention !== undefined) return retention
  if (thinkingTexts.test(text)) return { _tag: "SignatureRejected", message: `${message} ${thinkingHint}` }
  return contextTexts.test(text)
    ? { _tag: "ContextTooLong", message }
    : failureFromGoogle(status, headers, body, origin)
}

/** Maps an error inside a 200 response. Its origin is unknown there; "stored" blames no caller's credential. */
export const claudeFailureInside = (error: Json): Reason =>
  failureFromClaude(statusInside(error), {}, { error }, "stored")

/** Claude names the block: "messages.1.content.0: Invalid `signature` in `thinking` block". */
const thinkingTexts =
  /invalid .?signature.? in .?thinking.? block|thinking.{0,30}blocks? in the latest assistant message cannot be modified|expected .?thinking.?.{0,30}but found/i
const contextTexts = /exceed context limit/i

const sizeHint = "Send fewer or smaller media."
const thinkingHint =
  "Send back content_blocks, or function.thought_signature of the calls, as they came, or start a new turn."
