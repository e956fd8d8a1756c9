// Reads a route for Google's own models: service, model, and the 404 for an unknown model.
// It must not depend on sockets, bodies or replies.

import { googleError, publisherModelMissing } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import { isFault } from "../shared/faults.ts"
import { modelKind } from "../shared/models.ts"
import type { ModelKind } from "../shared/models.ts"
import type { Route } from "../shared/routes.ts"
import type { Service } from "./validate.ts"

/** Google's models are served under `publishers/google`, under the Gemini API, and by tuned endpoints. */
export const isGoogleTarget = (route: Route): boolean =>
  route.target.kind === "endpoint" || route.target.publisher === "google"

export const serviceOf = (route: Route): Service => ({
  backend: route.service === "google" ? "google" : "vertex",
  version: route.version
})

/** The model whose facts apply; a tuned endpoint counts as Gemini 2.5 Flash. */
export const modelOf = (route: Route): string =>
  route.target.kind === "endpoint" ? "gemini-2.5-flash" : route.target.id

/** Both embedding methods of the Gemini API report embedContent and the full name of the list method (recorded). */
const errorNames = (operation: string): readonly [method: string, list: string] =>
  /embedContent/i.test(operation) ? ["embedContent", "ModelService.ListModels"] : [operation, "ListModels"]

/** 404 for a model that is unknown or of another kind, in the wording of the service; a fault id is of every kind. */
export const unknownModel = (route: Route, allowed: ReadonlyArray<ModelKind>): GoogleError | undefined => {
  const { target } = route
  if (target.kind === "endpoint") return undefined
  const kind = modelKind(target.id)
  if (isFault(target.id) || (kind !== undefined && allowed.includes(kind))) return undefined
  if (route.service === "google") {
    const [method, listMethod] = errorNames(route.operation)
    const message =
      `models/${target.id} is not found for API version ${route.version}, or is not supported for ${method}. ` +
      `Call ${listMethod} to see the list of available models and their supported methods.`
    return googleError("NOT_FOUND", message)
  }
  return publisherModelMissing(route)
}
