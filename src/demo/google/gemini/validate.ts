// Validates a call of Google's own models: its model, the shape of its body as a schema validator does, then the semantic rules.
// It must not depend on sockets or replies.
import { readGemini } from "../shapes/gemini.ts"
import { type Reading, snake } from "../shapes/shape.ts"
import { readVertex, readVertexBeta } from "../shapes/vertex.ts"
import {
  badRequest,
  type Call,
  googleError,
  type GoogleError,
  publisherModelMissing,
  type Answer,
  type Operation,
  refuse
} from "../shared/answers.ts"
import type { Backend, CountRequest, GenerateRequest } from "../shared/generateRequest.ts"
import { checkGeminiRules } from "./rules.ts"
import {
  answeringId,
  exactRow,
  factRow,
  isPublished,
  isServedAt,
  isShutDown,
  modelKind,
  type ModelKind,
  type ProviderName
} from "../shared/models.ts"
import { isFault } from "../shared/faults.ts"
import type { Route } from "../shared/routes.ts"

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

/** Google's models are served under `publishers/google`, under the Gemini API, and by tuned endpoints. */
const isGoogleTarget = (route: Route): boolean =>
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
type Called = Pick<Call, "anyLocation" | "day" | "route">

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
const unknownModel = (call: Called, allowed: ReadonlyArray<ModelKind>): GoogleError | undefined => {
  const { route } = call
  const { target } = route
  if (target.kind === "endpoint") return undefined
  const kind = modelKind(target.id)
  const isAllowed = kind !== undefined && allowed.includes(kind)
  if (target.id.startsWith("demo-") ? isFault(target.id) || isAllowed : isAllowed && isServed(call, target.id))
    return undefined
  if (route.service === "google") {
    const [method, listMethod] = errorNames(route.operation)
    const message =
      `models/${target.id} is not found for API version ${route.version}, or is not supported for ${method}. ` +
      `Call ${listMethod} to see the list of available models and their supported methods.`
    return googleError("NOT_FOUND", message)
  }
  return publisherModelMissing(route)
}

/** An operation of Google's own models. */
interface GoogleOperation<Body> {
  readonly matches: (route: Route) => boolean
  /** The kinds of model that serve it. */
  readonly kinds: (route: Route) => ReadonlyArray<ModelKind>
  readonly validate: (call: Call) => Verdict<Body>
  readonly answer: (body: Body, call: Call) => Answer | GoogleError
  /** Applies the fault that the model id names, if the operation has faults. */
  readonly withFault?: (call: Call, good: Answer) => Answer
}

const noFault = (_call: Call, good: Answer): Answer => good

/** Refuses unknown models and bodies that the service refuses, all in Google's form. */
export const googleOperation = <Body>(operation: GoogleOperation<Body>): Operation => {
  const { answer, kinds, matches, validate, withFault = noFault } = operation
  return {
    matches: (route) => isGoogleTarget(route) && matches(route),
    answer: (call) => {
      const { route } = call
      const missing = unknownModel(call, kinds(route))
      if (missing !== undefined) return refuse(route, missing)
      const verdict = validate(call)
      if (!verdict.accepted) return refuse(route, verdict.error)
      const made = answer(verdict.request, call)
      return withFault(call, "code" in made ? refuse(route, made) : made)
    }
  }
}
