// Issues access tokens for signed assertions, and checks API keys, express keys, tokens and projects; refusals have Google's wording.
// It must not depend on sockets or bodies.
// Source: recorded 400, 401 and 403 answers, Google's "OAuth 2.0 for server to server applications" and its error bodies.
import { isRecord } from "../shapes/open.ts"
import { createHash, createVerify } from "node:crypto"
import { type Answer, errorInfo, googleError, type GoogleError, jsonAnswer } from "../shared/answers.ts"
import type { Route } from "../shared/routes.ts"

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

const tokenRefusal = (status: number, error: string, error_description: string): Answer =>
  jsonAnswer(status, { error, error_description })

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
  if (grant !== grantType) return tokenRefusal(400, "unsupported_grant_type", `Invalid grant_type: ${grant ?? ""}`)
  const assertion = form.get("assertion") ?? ""
  const [head, body, signature] = assertion.split(".")
  if (head === undefined || body === undefined || signature === undefined) {
    return tokenRefusal(400, "invalid_request", "Missing or malformed parameter: assertion")
  }
  const header = decodeSegment(head)
  const claims = decodeSegment(body)
  if (header["alg"] !== "RS256") return tokenRefusal(400, "invalid_grant", "Invalid JWT: alg must be RS256.")
  const account = accounts.find((candidate) => candidate.clientEmail === claims["iss"])
  if (account === undefined) return tokenRefusal(400, "invalid_grant", "Invalid grant: account not found")
  const keyIsKnown = header["kid"] === undefined || header["kid"] === account.privateKeyId
  if (!keyIsKnown || !isSigned(`${head}.${body}`, signature, account.publicKeyPem)) {
    return tokenRefusal(400, "invalid_grant", "Invalid JWT Signature.")
  }
  const fault = claimsFault(claims, now / 1000)
  if (fault === "scope") return tokenRefusal(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.")
  if (fault !== undefined) return tokenRefusal(400, "invalid_grant", fault)
  const token = `ya29.c.${createHash("sha256").update(`${assertion} ${now} ${tokens.size}`).digest("base64url")}`
  tokens.set(token, { endsAt: now + lifeSeconds * 1000, principal: account.clientEmail })
  return jsonAnswer(200, { access_token: token, expires_in: lifeSeconds, token_type: "Bearer" })
}

export interface Access {
  readonly apiKeys: ReadonlySet<string>
  readonly isToken: (token: string) => boolean
  /** The token's principal may call published models but lacks `aiplatform.endpoints.predict` on endpoints. */
  readonly lacksPredict: (token: string) => boolean
  /** `undefined` accepts any project. */
  readonly projects: ReadonlySet<string> | undefined
}

const serviceName = (route: Route): string =>
  route.service === "google" ? "generativelanguage.googleapis.com" : "aiplatform.googleapis.com"

const badKey = (route: Route): GoogleError => {
  const message = "API key not valid. Please pass a valid API key."
  return googleError("INVALID_ARGUMENT", message, [
    errorInfo("API_KEY_INVALID", { service: serviceName(route) }),
    { "@type": "type.googleapis.com/google.rpc.LocalizedMessage", locale: "en-US", message }
  ])
}

const methodOf = (route: Route): string => {
  const operation = route.operation.slice(0, 1).toUpperCase() + route.operation.slice(1)
  return `google.cloud.aiplatform.${route.version}.PredictionService.${operation}`
}

const unauthenticated = (route: Route, reason: string, message: string): GoogleError =>
  googleError("UNAUTHENTICATED", message, [errorInfo(reason, { method: methodOf(route), service: serviceName(route) })])

const expected = "Expected OAuth 2 access token, login cookie or other valid authentication credential."

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer\s+(\S+)$/i.exec(authorization ?? "")?.[1]

const denied = (route: Route): GoogleError => {
  const target =
    route.target.kind === "model"
      ? `publishers/${route.target.publisher}/models/${route.target.id}`
      : `endpoints/${route.target.id}`
  const resource = `projects/${route.project}/locations/${route.location}/${target}`
  const permission = "aiplatform.endpoints.predict"
  return googleError(
    "PERMISSION_DENIED",
    `Permission '${permission}' denied on resource '//aiplatform.googleapis.com/${resource}' (or it may not exist).`,
    [errorInfo("IAM_PERMISSION_DENIED", { permission, resource }, "aiplatform.googleapis.com")]
  )
}

/** The refusal of a call's credentials, or `undefined`. Header names are lower-case. */
export const checkAccess = (
  route: Route,
  headers: Readonly<Record<string, string>>,
  access: Access
): GoogleError | undefined => {
  const key = headers["x-goog-api-key"] ?? route.queryKey
  const bearer = bearerOf(headers["authorization"])
  if (route.service === "vertex") {
    if (bearer === undefined && key !== undefined) {
      const message =
        "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that assert a principal."
      return unauthenticated(route, "CREDENTIALS_MISSING", message)
    }
    if (bearer === undefined)
      return unauthenticated(
        route,
        "CREDENTIALS_MISSING",
        `Request is missing required authentication credential. ${expected}`
      )
    if (!access.isToken(bearer)) {
      return unauthenticated(
        route,
        "ACCESS_TOKEN_TYPE_UNSUPPORTED",
        `Request had invalid authentication credentials. ${expected}`
      )
    }
    const foreign = route.project !== undefined && access.projects !== undefined && !access.projects.has(route.project)
    return foreign || (route.target.kind === "endpoint" && access.lacksPredict(bearer)) ? denied(route) : undefined
  }
  if (key !== undefined) return access.apiKeys.has(key) ? undefined : badKey(route)
  if (route.service === "express")
    return unauthenticated(
      route,
      "CREDENTIALS_MISSING",
      `Request is missing required authentication credential. ${expected}`
    )
  if (bearer !== undefined) {
    return access.isToken(bearer)
      ? undefined
      : unauthenticated(
          route,
          "ACCESS_TOKEN_TYPE_UNSUPPORTED",
          `Request had invalid authentication credentials. ${expected}`
        )
  }
  return googleError(
    "PERMISSION_DENIED",
    "Method doesn't allow unregistered callers (callers without established identity). " +
      "Please use API Key or other form of API consumer identity to call this API."
  )
}
