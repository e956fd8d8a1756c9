// Answers the OAuth token endpoint: checks a service account's signed assertion and issues an access token.
// Must not depend on sockets.
// Source: Google's "OAuth 2.0 for server to server applications" and its error bodies.

import { createHash, createVerify } from "node:crypto"
import { jsonAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"

export interface ServiceAccount {
  readonly clientEmail: string
  readonly privateKeyId: string
  readonly publicKeyPem: string
  readonly projectId: string
}

export interface IssuedToken {
  /** Epoch millis. */
  readonly endsAt: number
  /** The owner: the client email of a service account, or the token itself. */
  readonly principal: string
}

export type IssuedTokens = Map<string, IssuedToken>

const lifeSeconds = 3599
const grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const audience = "https://oauth2.googleapis.com/token"
const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

const refusal = (status: number, error: string, error_description: string): Answer =>
  jsonAnswer(status, { error, error_description })

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const decodeSegment = (segment: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, "base64url").toString("utf8"))
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

const isSigned = (signed: string, signature: string, publicKeyPem: string): boolean => {
  try {
    return createVerify("RSA-SHA256").update(signed).verify(publicKeyPem, Buffer.from(signature, "base64url"))
  } catch {
    return false
  }
}

const claimsFault = (claims: Record<string, unknown>, nowSeconds: number): string | undefined => {
  const { iat, exp, aud, scope } = claims
  if (
    typeof iat !== "number" ||
    typeof exp !== "number" ||
    exp <= nowSeconds ||
    iat > nowSeconds + 300 ||
    exp - iat > 3600
  ) {
    return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
  }
  if (aud !== audience && aud !== "https://accounts.google.com/o/oauth2/token")
    return "Invalid JWT: Failed audience check."
  return typeof scope === "string" && scope.split(" ").includes(cloudScope) ? undefined : "scope"
}

/** Answers `POST /token`; an issued token is added to `tokens`. */
export const exchangeToken = (
  form: URLSearchParams,
  accounts: ReadonlyArray<ServiceAccount>,
  tokens: IssuedTokens,
  now: number
): Answer => {
  const grant = form.get("grant_type")
  if (grant !== grantType) return refusal(400, "unsupported_grant_type", `Invalid grant_type: ${grant ?? ""}`)
  const assertion = form.get("assertion") ?? ""
  const [head, body, signature] = assertion.split(".")
  if (head === undefined || body === undefined || signature === undefined) {
    return refusal(400, "invalid_request", "Missing or malformed parameter: assertion")
  }
  const header = decodeSegment(head)
  const claims = decodeSegment(body)
  if (header["alg"] !== "RS256") return refusal(400, "invalid_grant", "Invalid JWT: alg must be RS256.")
  const account = accounts.find((candidate) => candidate.clientEmail === claims["iss"])
  if (account === undefined) return refusal(400, "invalid_grant", "Invalid grant: account not found")
  const keyIsKnown = header["kid"] === undefined || header["kid"] === account.privateKeyId
  if (!keyIsKnown || !isSigned(`${head}.${body}`, signature, account.publicKeyPem)) {
    return refusal(400, "invalid_grant", "Invalid JWT Signature.")
  }
  const fault = claimsFault(claims, now / 1000)
  if (fault === "scope") return refusal(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.")
  if (fault !== undefined) return refusal(400, "invalid_grant", fault)
  const token = `ya29.c.${createHash("sha256").update(`${assertion} ${now} ${tokens.size}`).digest("base64url")}`
  tokens.set(token, { endsAt: now + lifeSeconds * 1000, principal: account.clientEmail })
  return jsonAnswer(200, { access_token: token, expires_in: lifeSeconds, token_type: "Bearer" })
}
