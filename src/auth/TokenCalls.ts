// Sends one call on the way to an access token, and reads its reply; errors quote no secret of the call.
// It must not know which calls a credential needs, or which tokens are cached.
import * as Effect from "effect/Effect"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError, type Reason } from "../domain/ProviderError.ts"
import { type HiddenValue, redacted, Redaction } from "../domain/text/redaction.ts"
import type { AuthHeaders, CollectedResponse, TransportRequest } from "../upstream/HttpExchange.ts"
import { retryAfterMillis } from "../upstream/retryAfter.ts"
import type { Transport } from "../upstream/Transport.ts"
import { faultReason } from "../upstream/TransportFault.ts"
import { type AccessToken, readTokenReply } from "./tokenReply.ts"

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
