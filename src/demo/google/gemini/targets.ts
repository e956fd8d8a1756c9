// Reads a route for Google's own models: service, model, and the 404 for an unknown model.
// Must not depend on sockets, bodies or replies.

import { googleError, publisherModelMissing } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import { answeringId, exactRow, factRow, isPublished, isServedAt, isShutDown } from "../shared/factRows.ts"
import type { ProviderName } from "../shared/factRows.ts"
import { isFault } from "../shared/faults.ts"
import { modelKind } from "../shared/models.ts"
import type { ModelKind } from "../shared/models.ts"
import type { Call } from "../shared/operation.ts"
import type { Route } from "../shared/routes.ts"
import type { Service } from "./validate.ts"

/** Google's models are served under `publishers/google`, under the Gemini API, and by tuned endpoints. */
export const isGoogleTarget = (route: Route): boolean =>
  route.target.kind === "endpoint" || route.target.publisher === "google"

export const serviceOf = (route: Route): Service => ({
  backend: route.service === "google" ? "google" : "vertex",
  version: route.version
})

const providerOf = (route: Route): ProviderName => (route.service === "google" ? "google" : "vertex-ai")

/** The model that the route names; a tuned endpoint counts as Gemini 2.5 Flash. */
export const namedModel = (route: Route): string =>
  route.target.kind === "endpoint" ? "gemini-2.5-flash" : route.target.id

/** The model that answers and whose facts apply. */
export const modelOf = ({ day, route }: Pick<Call, "day" | "route">): string =>
  answeringId(namedModel(route), providerOf(route), day)

/** What of a call decides whether its model is served. */
export type Called = Pick<Call, "anyLocation" | "day" | "route">

/** True for a model that the provider and the place of a route serve on a day. */
export const isServed = ({ anyLocation, day, route }: Called, id: string): boolean => {
  const row = factRow(id)
  if (row === undefined || !isPublished(id)) return false
  const provider = providerOf(route)
  const offered = exactRow(id)?.providers?.includes(provider) ?? true
  const placed = anyLocation || route.location === undefined || isServedAt(row, route.location)
  return offered && placed && (answeringId(id, provider, day) !== id || !isShutDown(row, provider, day))
}

/** Both embedding methods of the Gemini API report embedContent and the full name of the list method (recorded). */
const errorNames = (operation: string): readonly [method: string, list: string] =>
  /embedContent/i.test(operation) ? ["embedContent", "ModelService.ListModels"] : [operation, "ListModels"]

/** 404 for a model that is unknown, shut down, not served in this place, or of another kind, in the wording of the service; a fault id is of every kind. */
export const unknownModel = (call: Called, allowed: ReadonlyArray<ModelKind>): GoogleError | undefined => {
  const { route } = call
  const { target } = route
  if (target.kind === "endpoint") return undefined
  const kind = modelKind(target.id)
  const known = kind !== undefined && allowed.includes(kind)
  if (target.id.startsWith("demo-") ? isFault(target.id) || known : known && isServed(call, target.id)) return undefined
  if (route.service === "google") {
    const [method, listMethod] = errorNames(route.operation)
    const message =
      `models/${target.id} is not found for API version ${route.version}, or is not supported for ${method}. ` +
      `Call ${listMethod} to see the list of available models and their supported methods.`
    return googleError("NOT_FOUND", message)
  }
  return publisherModelMissing(route)
}
