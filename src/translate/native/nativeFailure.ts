// A native call that Google refused: the usual reason, and with it the details that Google's clients decide by.
// It must not know our own answers. Rules: N1002, N1003.
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Redaction } from "../../domain/text/redaction.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import { readUpstreamError, statusInside } from "../shared/reply/upstreamError.ts"
import { shownDetails } from "./statusDetails.ts"

/** A refusal with its details; details about a stored credential are removed. */
const withDetails = (reason: Reason, details: ReadonlyArray<JsonObject>): Reason =>
  details.length === 0 || reason._tag === "CredentialsRejected" ? reason : { ...reason, details }

/** Total: any status, any body. */
export const failureFromNative = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | string,
  origin: "caller" | "stored"
): Reason =>
  withDetails(
    failureFromGoogle(status, headers, body, origin),
    shownDetails(readUpstreamError(status, headers, body).details)
  )

/** An error inside a 200. Whose credential was refused is not known there, so a stored one is assumed. */
export const failureInsideNative = (error: JsonObject, redaction: Redaction): Reason => {
  const shown = redaction.json(error)
  const read = isJsonObject(shown) ? shown : {}
  return failureFromNative(statusInside(read), {}, { error: read }, "stored")
}
