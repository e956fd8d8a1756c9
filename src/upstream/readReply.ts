// Reads the JSON of a successful upstream response. Every other response is a failure with its reason.
// Must not depend on operations, dialects or the network.
import * as Result from "effect/Result"
import { absenceText } from "../domain/models/modelLife.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import { ProviderError, type Reason } from "../domain/ProviderError.ts"
import { decodeUtf8, isJsonObject, type Json, parseExactJsonText } from "../domain/text/json.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"
import { dayOf } from "../domain/time.ts"
import { parsePassingNumbers } from "../translate/shared/reply/embeddingList.ts"
import { type ReadFailure, statusInside } from "../translate/shared/reply/upstreamError.ts"

/** A response as received, and the redaction for its errors. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly redaction: Redaction | undefined
  /** Long lists of numbers of a 200 stay text, as `NumberList`. */
  readonly passesNumbers?: boolean
}

export const failedReply = (
  slug: string,
  upstreamStatus: number,
  reason: Reason
): Result.Result<never, ProviderError> => Result.fail(new ProviderError({ slug, reason, upstreamStatus }))

/** What the failures of one call are worded from. */
interface FailureContext {
  readonly slug: string
  readonly origin: "caller" | "stored"
  readonly failure: ReadFailure
}

/** The JSON of a successful response; every other response is a failure with its reason. */
export const readSuccessJson = (
  { slug, origin, failure }: FailureContext,
  { bytes, headers, passesNumbers = false, redaction = noRedaction, status }: RawResponse
): Result.Result<Json, ProviderError> => {
  const fail = (reason: Reason) => failedReply(slug, status, reason)
  if (status >= 300 && status < 400)
    return fail(badReply("redirect", "The upstream answered with a redirect, which is never followed."))
  const passing = passesNumbers && status === 200 ? parsePassingNumbers(bytes) : undefined
  const text = passing === undefined ? decodeUtf8(bytes) : undefined
  const json = text === undefined ? undefined : parseExactJsonText(text)
  const body = passing ?? (json !== undefined && Result.isSuccess(json) ? json.success : undefined)
  const refused = (code: number, content: Json) =>
    fail(failure(code, redaction.headers(headers), redaction.json(content), origin))
  if (status < 200 || status >= 300) return refused(status, body ?? text ?? "")
  if (bytes.length === 0) return fail(badReply("empty", "The upstream answered without a body."))
  if (body === undefined)
    return fail(badReply("unreadable", "The upstream answered with something that is not JSON text."))
  const hiddenCode = hiddenStatus(body)
  return hiddenCode === undefined ? Result.succeed(body) : refused(hiddenCode, body)
}

export const badReply = (kind: "redirect" | "empty" | "unreadable", message: string): Reason => ({
  _tag: "BadReply",
  kind,
  message
})

/** The status of an error in the body of a 2xx, by itself or as the only item of an array; undefined for none. */
const hiddenStatus = (body: Json): number | undefined => {
  const whole: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body
  return isJsonObject(whole) && isJsonObject(whole["error"]) ? statusInside(whole["error"]) : undefined
}

/** The model of a call; `createdSeconds` is the time of the request. */
interface AskedModel {
  readonly kind: ProviderKind
  readonly record: ModelRecord
  readonly createdSeconds: number
}

/**
 * Adds what the facts know to the refusal of a model that the upstream does not have: its end, or its locations (M-723,
 * M-800). Gives the same reason where the facts are silent.
 */
export const withAbsence =
  (failure: ReadFailure, { createdSeconds, kind, record }: AskedModel): ReadFailure =>
  (...response) => {
    const reason = failure(...response)
    if (reason._tag !== "ModelNotFound") return reason
    const location = /\blocations\/([a-z0-9-]{1,40})\//.exec(reason.message)?.[1]
    const text = absenceText(record, kind, location, dayOf(createdSeconds * 1000))
    return text === undefined ? reason : { ...reason, message: `${reason.message} ${text}` }
  }
