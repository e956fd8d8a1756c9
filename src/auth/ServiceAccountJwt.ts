// Signs the JWT assertion that a service account exchanges for an access token.
// It must not know how the assertion is sent, or any cache.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ServiceAccountKey } from "../domain/ProviderAccount.ts"

/** Google's token endpoint. It is the audience of every assertion, even when `token_url` replaces the endpoint. */
export const googleTokenUrl = "https://oauth2.googleapis.com/token"
export const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

/** Seconds by which the assertion is backdated, for clocks that are ahead of Google's. */
const backdatedSeconds = 30
const lifeSeconds = 60 * 60

const base64url = (data: string | ArrayBuffer): string =>
  (typeof data === "string" ? Buffer.from(data) : Buffer.from(data)).toString("base64url")

/**
 * A JWT signed with RS256. Source: Google, "Using OAuth 2.0 for Server to Server Applications". Fails when the key
 * cannot be imported.
 */
export const signAssertion = (
  key: ServiceAccountKey,
  nowSeconds: number
): Effect.Effect<Redacted.Redacted<string>, "key_unusable"> =>
  Effect.tryPromise({
    try: async () => {
      const iat = Math.floor(nowSeconds) - backdatedSeconds
      const header = { alg: "RS256", typ: "JWT", kid: key.privateKeyId }
      const claims = {
        iss: key.clientEmail,
        sub: key.clientEmail,
        aud: googleTokenUrl,
        scope: cloudScope,
        iat,
        exp: iat + lifeSeconds
      }
      const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
      const signature = await crypto.subtle.sign(
        rsa,
        await importKey(Redacted.value(key.privateKey)),
        Buffer.from(signed)
      )
      return Redacted.make(`${signed}.${base64url(signature)}`, { label: "assertion" })
    },
    catch: () => "key_unusable" as const
  })

const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }

const importKey = (pem: string) =>
  crypto.subtle.importKey("pkcs8", Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ""), "base64"), rsa, false, ["sign"])
