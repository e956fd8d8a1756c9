// The verdict on a request body: shape first (comparable with a schema validator), then the rules of meaning.
// It must not know sockets, routes or replies.

import { badRequest, googleError } from "./errors.ts"
import type { GoogleError } from "./errors.ts"
import type { Backend, CountRequest, GenerateRequest } from "./request.ts"
import { breachedRule } from "./rules.ts"
import { readGemini } from "./shapes/gemini.ts"
import { snake } from "./shapes/shape.ts"
import type { Reading } from "./shapes/shape.ts"
import { readVertex, readVertexBeta } from "./shapes/vertex.ts"

export type Entry = "GenerateContentRequest" | "CountTokensRequest"

export interface Service {
  readonly backend: Backend
  readonly version: string
}

export type Verdict<Body> =
  | { readonly accepted: true; readonly request: Body }
  | { readonly accepted: false; readonly error: GoogleError }

/** Shape alone: unknown fields, types, enum words, oneofs, required fields. */
export const readShape = (service: Service, entry: Entry, body: unknown): Reading => {
  if (service.backend === "google") return readGemini(entry, body)
  return service.version === "v1beta1" ? readVertexBeta(entry, body) : readVertex(entry, body)
}

const shapeError = (reading: Reading): GoogleError => {
  const twoKinds = reading.violations.find((violation) => violation.oneof?.group === "tool_type")
  if (twoKinds === undefined) return badRequest(reading.violations.map(({ field, description }) => ({ field, description })))
  const kinds = (twoKinds.oneof?.members ?? []).map(snake).sort().join(", ")
  const message = `The GenerateContentRequest proto is invalid:\n * ${twoKinds.field}.tool_type: one_of 'tool_type' has more than one initialized field: ${kinds}`
  return googleError("INVALID_ARGUMENT", message)
}

export interface Checking {
  readonly service: Service
  readonly model: string
  readonly acceptForeignSignatures: boolean
}

/** Judges a generateContent body as the service would. */
export const validateGenerate = (body: unknown, checking: Checking): Verdict<GenerateRequest> => {
  const reading = readShape(checking.service, "GenerateContentRequest", body)
  if (reading.violations.length > 0) return { accepted: false, error: shapeError(reading) }
  const request = reading.value as GenerateRequest
  const error = breachedRule(request, { ...checking, backend: checking.service.backend })
  return error === undefined ? { accepted: true, request } : { accepted: false, error }
}

/** Judges a countTokens body: shape, and on the Gemini API that exactly one of the two forms is used. */
export const validateCount = (body: unknown, checking: Checking): Verdict<CountRequest> => {
  const reading = readShape(checking.service, "CountTokensRequest", body)
  if (reading.violations.length > 0) return { accepted: false, error: shapeError(reading) }
  const request = reading.value as CountRequest
  if (request.generateContentRequest !== undefined && request.contents !== undefined) {
    const message = "contents and generate_content_request are mutually exclusive; only one of them may be set."
    return { accepted: false, error: googleError("INVALID_ARGUMENT", message) }
  }
  const contents = request.generateContentRequest?.contents ?? request.contents ?? []
  if (contents.length === 0) {
    return { accepted: false, error: googleError("INVALID_ARGUMENT", "* CountTokensRequest.contents: contents is not specified\n") }
  }
  return { accepted: true, request }
}
