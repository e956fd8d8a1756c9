// Reads what a token endpoint or the metadata server answered.
// It must not know how it was asked, or how long a token is kept.
import * as Result from "effect/Result"
import { isJsonObject, parseJsonText } from "../domain/text/json.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { upstreamText } from "../domain/text/upstreamText.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"

export interface AccessToken {
  readonly token: string
  readonly lifeMillis: number
}

export interface TokenReply {
  readonly status: number
  readonly text: string
  /** Who answered, as the start of a sentence. */
  readonly subject: string
  readonly origin: "caller" | "stored"
  readonly retryAfterMillis: number | undefined
  /** Takes out what the words of a refusal must not quote. */
  readonly redaction?: Redaction
}

/** Google's tokens live an hour, twelve at most; what claims to live longer is taken for an hour. */
const usualSeconds = 60 * 60
const mostSeconds = 12 * usualSeconds

/** A token with a life, or why there is none: never an empty token, never one without an end. */
export const readTokenReply = (reply: TokenReply): Result.Result<AccessToken, Reason> => {
  const { status, text, subject, origin, redaction = noRedaction, retryAfterMillis } = reply
  const parsed = parseJsonText(text)
  const json = Result.isSuccess(parsed) && isJsonObject(parsed.success) ? parsed.success : {}
  if (status >= 200 && status < 300) {
    const token = json["access_token"]
    const seconds = lifeSeconds(json["expires_in"])
    return typeof token === "string" && /^[\x21-\x7e]+$/.test(token) && seconds !== undefined
      ? Result.succeed({ token, lifeMillis: seconds * 1000 })
      : Result.fail({
          _tag: "BadReply",
          kind: "unreadable",
          message: `${subject} answered ${status} without a usable access token.`
        })
  }
  if (status >= 300 && status < 400) {
    return Result.fail({
      _tag: "BadReply",
      kind: "redirect",
      message: `${subject} answered with a redirect, which is never followed.`
    })
  }
  const code = typeof json["error"] === "string" ? upstreamText(redaction.text(json["error"]), 64) : undefined
  const told =
    typeof json["error_description"] === "string"
      ? upstreamText(redaction.text(json["error_description"]), 512)
      : undefined
  const words = [code, told].filter((part) => part !== undefined && part !== "").join(": ")
  if (status === 400 || status === 401 || status === 403) {
    return Result.fail({
      _tag: "CredentialsRejected",
      origin,
      message: `${subject} refused the credential${words === "" ? "" : ` (${words})`}.${clockHint(told)}`,
      ...(code === undefined ? {} : { upstreamCode: code })
    })
  }
  return Result.fail({
    _tag: "Internal",
    status,
    message: `${subject} answered ${status}${words === "" ? "" : ` (${words})`}.`,
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
  })
}

const lifeSeconds = (value: unknown): number | undefined => {
  const seconds = typeof value === "string" && /^\d{1,20}$/.test(value) ? Number(value) : value
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined
  return seconds > mostSeconds ? usualSeconds : seconds
}

/** Google words a wrong clock as an assertion outside "a reasonable timeframe". */
const clockHint = (told: string | undefined): string =>
  told !== undefined && /\biat\b|timeframe/.test(told) ? " Check the clock of the gateway's machine." : ""
