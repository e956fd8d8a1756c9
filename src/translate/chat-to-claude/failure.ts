// A refused Claude call: status and body to the reason.
// It must not know our own answers; what Vertex AI says itself, any of its routes says.
import type { Json } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import { readUpstreamError, statusInside } from "../shared/reply/upstreamError.ts"

/** Total: any status, any body. */
export const failureFromClaude = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | string,
  origin: "caller" | "stored"
): Reason => {
  if (status !== 400 && status !== 413) return failureFromGoogle(status, headers, body, origin)
  const { text, message } = readUpstreamError(status, headers, body)
  if (status === 413) return { _tag: "PayloadTooLarge", message: `${message} ${sizeHint}` }
  if (thinkingTexts.test(text)) return { _tag: "SignatureRejected", message: `${message} ${thinkingHint}` }
  return contextTexts.test(text)
    ? { _tag: "ContextTooLong", message }
    : failureFromGoogle(status, headers, body, origin)
}

/** An error inside a 200. Whose credential was refused cannot be told there; nobody is blamed for a stored one. */
export const failureInside = (error: Json): Reason => failureFromClaude(statusInside(error), {}, { error }, "stored")

/** Claude says which block: "messages.1.content.0: Invalid `signature` in `thinking` block". */
const thinkingTexts =
  /invalid .?signature.? in .?thinking.? block|thinking.{0,30}blocks? in the latest assistant message cannot be modified|expected .?thinking.?.{0,30}but found/i
const contextTexts = /exceed context limit/i

const sizeHint = "Send fewer or smaller media."
const thinkingHint =
  "Send back content_blocks, or function.thought_signature of the calls, as they came, or start a new turn."
