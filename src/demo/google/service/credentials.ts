// Checks API keys, express keys, access tokens and projects; each refusal has Google's wording.
// Must not depend on bodies or operations.
// Source: recorded 400, 401 and 403 answers.

import { errorInfo, googleError } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import type { Route } from "../shared/routes.ts"

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
