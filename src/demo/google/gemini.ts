// What generateContent and countTokens share: which routes are Gemini's, which models exist, how an unknown one is refused.
// It must not know sockets, bodies or replies.

import { googleError } from "./errors.ts"
import type { GoogleError } from "./errors.ts"
import { isServedModel } from "./models.ts"
import type { Route } from "./routes.ts"
import type { Service } from "./validate.ts"

/** Gemini is served under `publishers/google`, under the Gemini API, and by tuned endpoints with a numeric id. */
export const isGeminiTarget = (route: Route): boolean =>
  route.target.kind === "model" ? route.target.publisher === "google" : /^[0-9]+$/.test(route.target.id)

export const serviceOf = (route: Route): Service => ({
  backend: route.service === "google" ? "google" : "vertex",
  version: route.version
})

/** 404 for a model nobody serves, in the words of the service asked. */
export const unknownModel = (route: Route): GoogleError | undefined => {
  const { target } = route
  if (target.kind === "endpoint" || isServedModel(target.id)) return undefined
  if (route.service === "google") {
    const message = `models/${target.id} is not found for API version ${route.version}, or is not supported for ${route.operation}. ` +
      "Call ListModels to see the list of available models and their supported methods."
    return googleError("NOT_FOUND", message)
  }
  const place = route.project === undefined ? "" : `projects/${route.project}/locations/${route.location}/`
  const message = `Publisher Model \`${place}publishers/google/models/${target.id}\` was not found or your project does not have access to it. ` +
    "Please ensure you are using a valid model version."
  return googleError("NOT_FOUND", message)
}
