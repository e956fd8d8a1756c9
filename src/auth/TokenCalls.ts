// Sends one call on the way to an access token, and reads its reply: token and lifetime, or an error without secrets.
// It must not know which calls a credential needs, or which tokens are cached.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError, type Reason } from "../domain/ProviderError.ts"
import { isJsonObject, parseJsonText } from "../domain/text/json.ts"
import { upstreamText } from "../domain/text/publicText.ts"
import { type HiddenValue, noRedaction, redacted, Redaction } from "../domain/text/redaction.ts"
import {
  type AuthHeaders,
  type CollectedResponse,
  faultReason,
  retryAfterMillis,
  type TransportRequest
} from "../upstream/HttpExchange.ts"
import type { Transport } from "../upstream/Transport.ts"

export interface CallContext {
  readonly transport: Transport["Service"]
  readonly limits: LimitValues
}

export interface TokenRequest extends Pick<TransportRequest, "method" | "url" | "headers" | "body"> {
  readonly auth?: AuthHeaders
  /** Values that an error message must not quote. */
  readonly secrets: ReadonlyArray<HiddenValue>
}

const setting = "limits.connectMillis"
const tokenSettings = { connect: setting, first_byte: setting, idle: setting, total: setting }

export type TokenCalls = ReturnType<typeof tokenCalls>

/** The calls of one account; `subject` starts the sentence of an error. */
export const tokenCalls = ({ limits, transport }: CallContext, { origin, slug }: ProviderAccount) => {
  const fail = (reason: Reason): Effect.Effect<never, ProviderError> => new ProviderError({ slug, reason })
  const send = (token: TokenRequest, subject: string): Effect.Effect<CollectedResponse, ProviderError> => {
    const { secrets: _, ...asked } = token
    // The reply is small, so the total time of a call is limited to one connect timeout.
    const millis = limits.connectMillis
    const request: TransportRequest = {
      auth: {},
      ...asked,
      connectMillis: millis,
      firstByteMillis: millis,
      idleMillis: millis,
      totalMillis: millis
    }
    const once = (asking: TransportRequest) =>
      transport.collect(asking, { replyBytes: limits.errorBytes, errorBytes: limits.errorBytes })
    // The endpoint had closed a kept connection: one more request, on a new one.
    return Effect.catch(
      Effect.catch(once(request), (fault) =>
        fault.kind === "stale" ? once({ ...request, isFresh: true }) : Effect.fail(fault)
      ),
      (fault) => fail(faultReason(fault, { name: subject, settings: tokenSettings }))
    )
  }
  const read = (
    { secrets, url }: TokenRequest,
    { bytes, headers, status }: CollectedResponse,
    subject: string
  ): Effect.Effect<AccessToken, ProviderError> =>
    Effect.clockWith((clock) => {
      const nowMillis = clock.currentTimeMillisUnsafe()
      const reply = readTokenReply({
        status,
        text: new TextDecoder().decode(bytes),
        redaction: new Redaction(() => [...secrets, { value: new URL(url).host, put: "[upstream]" }]),
        subject,
        origin,
        nowMillis,
        retryAfterMillis: retryAfterMillis(headers, nowMillis)
      })
      return Effect.catch(Effect.fromResult(reply), fail)
    })
  return {
    fail,
    send,
    read,
    reject: (message: string) => fail({ _tag: "CredentialsRejected", origin, message }),
    token: (asked: TokenRequest, subject: string) =>
      Effect.flatMap(send(asked, subject), (answer) => read(asked, answer, subject))
  }
}

export const hiddenOf = (...values: ReadonlyArray<string>): ReadonlyArray<HiddenValue> =>
  values.map((value) => ({ value, put: redacted }))

export const form = (
  url: string,
  fields: Readonly<Record<string, string>>,
  secrets: ReadonlyArray<HiddenValue>,
  auth: AuthHeaders = {}
): TokenRequest => ({
  secrets,
  method: "POST",
  url,
  auth,
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString()
})

export interface AccessToken {
  readonly token: string
  readonly lifeMillis: number
}

/** The reply of a token endpoint or of the metadata server. */
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
