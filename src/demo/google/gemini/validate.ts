// Validates a request body: shape first (comparable with a schema validator), then the semantic rules.
// Must not depend on sockets, routes or replies.

import { readGemini } from "../shapes/gemini.ts"
import { snake } from "../shapes/shape.ts"
import type { Reading } from "../shapes/shape.ts"
import { readVertex, readVertexBeta } from "../shapes/vertex.ts"
import { badRequest, googleError } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import type { Backend, CountRequest, GenerateRequest } from "../shared/generateRequest.ts"
import { checkGeminiRules } from "./rules.ts"

export type Entry =
  | "GenerateContentRequest"
  | "CountTokensRequest"
  | "PredictRequest"
  | "EmbedContentRequest"
  /** The Gemini API only. */
  | "BatchEmbedContentsRequest"

export interface Service {
  readonly backend: Backend
  readonly version: string
}

export type Verdict<Body> =
  | { readonly accepted: true; readonly request: Body }
  | { readonly accepted: false; readonly error: GoogleError }

/** Checks the shape only: unknown fields, types, enum values, oneofs, required fields. */
export const readShape = (service: Service, entry: Entry, body: unknown): Reading => {
  if (service.backend === "google") return readGemini(entry, body)
  return service.version === "v1beta1" ? readVertexBeta(entry, body) : readVertex(entry, body)
}

const shapeError = (reading: Reading): GoogleError => {
  const twoKinds = reading.violations.find((violation) => violation.oneof?.group === "tool_type")
  if (twoKinds === undefined)
    return badRequest(reading.violations.map(({ field, description }) => ({ field, description })))
  const kinds = (twoKinds.oneof?.members ?? []).map(snake).sort().join(", ")
  const message = `The GenerateContentRequest proto is invalid:\n * ${twoKinds.field}.tool_type: one_of 'tool_type' has more than one initialized field: ${kinds}`
  return googleError("INVALID_ARGUMENT", message)
}

/** Validates the shape of a body; the operation checks its meaning. */
export const validateShape = <Body>(body: unknown, service: Service, entry: Entry): Verdict<Body> => {
  const reading = readShape(service, entry, body)
  return reading.violations.length > 0
    ? { accepted: false, error: shapeError(reading) }
    : { accepted: true, request: reading.value as Body } // The shape is checked above.
}

export interface Checking {
  readonly service: Service
  readonly model: string
  readonly acceptForeignSignatures: boolean
}

/** Validates a generateContent body as the service does. */
export const validateGenerate = (body: unknown, checking: Checking): Verdict<GenerateRequest> => {
  const verdict = validateShape<GenerateRequest>(body, checking.service, "GenerateContentRequest")
  if (!verdict.accepted) return verdict
  const error = checkGeminiRules(verdict.request, { ...checking, backend: checking.service.backend })
  return error === undefined ? verdict : { accepted: false, error }
}

const countRefused = (message: string): Verdict<CountRequest> => ({
  accepted: false,
  error: googleError("INVALID_ARGUMENT", message)
})

/**
 * Validates a countTokens body. The Gemini API requires one of the two forms, and the path's model in the wrapper.
 * Vertex AI requires instances for an embedding model (publicly quoted refusal).
 */
export const validateCount = (body: unknown, checking: Checking, embeds = false): Verdict<CountRequest> => {
  const verdict = validateShape<CountRequest>(body, checking.service, "CountTokensRequest")
  if (!verdict.accepted) return verdict
  const { generateContentRequest: wrapped, contents, instances } = verdict.request
  if (wrapped !== undefined && contents !== undefined) {
    return countRefused("contents and generate_content_request are mutually exclusive; only one of them may be set.")
  }
  if (wrapped !== undefined && wrapped.model !== `models/${checking.model}`) {
    return countRefused("* CountTokensRequest.generate_content_request.model: unexpected model name format\n")
  }
  if (checking.service.backend === "vertex" && embeds) {
    return instances === undefined || instances.length === 0
      ? countRefused("instances must be provided for text model prediction.")
      : verdict
  }
  return (wrapped?.contents ?? contents ?? []).length === 0
    ? countRefused("* CountTokensRequest.contents: contents is not specified\n")
    : verdict
}
