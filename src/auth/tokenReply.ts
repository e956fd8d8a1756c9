// Parses the reply of a token endpoint or of the metadata server: access token, lifetime, or the error.
// It must not know how the request was made, or how long a token is cached.
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
  /** The server that answered, as the start of a sentence. */
  readonly subject: string
  readonly origin: "caller" | "stored"
  readonly retryAfterMillis: number | undefined
  /** The time of the reply: generateAccessToken states when its token ends, not how long it lives. */
  readonly nowMillis: number
  /** Removes the values that an error message must not quote. */
  readonly redaction?: Redaction
}

/** Google's tokens are valid for one hour, twelve at most. A longer lifetime in a reply counts as one hour. */
const usualSeconds = 60 * 60
const mostSeconds = 12 * usualSeconds

/** A non-empty token with a finite lifetime, or the reason why the reply has none. */
export const readTokenReply = (reply: TokenReply): Result.Result<AccessToken, Reason> => {
  const { status, text, subject, origin, redaction = noRedaction, retryAfterMillis, nowMillis } = reply
  const parsed = parseJsonText(text)
  const json = Result.isSuccess(parsed) && isJsonObject(parsed.success) ? parsed.success : {}
  if (status >= 200 && status < 300) {
    const token = json["access_token"] ?? json["accessToken"]
    const seconds = lifeSeconds(json["expires_in"] ?? secondsUntil(json["expireTime"], nowMillis))
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
  // OAuth has two texts; the APIs of Google, generateAccessToken among them, have an object.
  const error = isJsonObject(json["error"])
    ? json["error"]
    : { status: json["error"], message: json["error_description"] }
  const shown = (value: unknown, most: number) =>
    typeof value === "string" ? upstreamText(redaction.text(value), most) : undefined
  const code = shown(error["status"], 64)
  const description = shown(error["message"], 512)
  const words = [code, description].filter((part) => part !== undefined && part !== "").join(": ")
  if (status === 400 || status === 401 || status === 403) {
    return Result.fail({
      _tag: "CredentialsRejected",
      origin,
      message: `${subject} refused the credential${words === "" ? "" : ` (${words})`}.${clockHint(description)}`,
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

const secondsUntil = (time: unknown, nowMillis: number): number | undefined =>
  typeof time === "string" ? Math.floor((Date.parse(time) - nowMillis) / 1000) : undefined

const lifeSeconds = (value: unknown): number | undefined => {
  const seconds = typeof value === "string" && /^\d{1,20}$/.test(value) ? Number(value) : value
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined
  return seconds > mostSeconds ? usualSeconds : seconds
}

/** Google reports a wrong clock as an assertion outside "a reasonable timeframe". */
const clockHint = (description: string | undefined): string =>
  description !== undefined && /\biat\b|timeframe/.test(description) ? " Check the clock of the gateway's machine." : ""
