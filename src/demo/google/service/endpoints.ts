// Lists the self-deployed endpoints of the demo, and refuses calls that an endpoint cannot answer.
// It must not depend on bodies or credentials.
// Source: Vertex AI's endpoint pages and publicly quoted refusals.

import { type Answer, errorAnswer, googleError, type GoogleError, jsonAnswer, retryInfo } from "../shared/answers.ts"
import type { Route, SimulatedEndpoint } from "../shared/routes.ts"
import { isFault } from "../shared/faults.ts"

export type Endpoints = ReadonlyMap<string, SimulatedEndpoint>

/** The host of a dedicated endpoint; it contains the project number. */
export const dedicatedHost = (id: string, region: string): string =>
  `${id}.${region}-123456789012.prediction.vertexai.goog`

/** Endpoints of every simulator. */
export const demoEndpoints: Readonly<Record<string, SimulatedEndpoint>> = {
  "demo-llama": { dialect: "openai", servedModel: "demo-llama" },
  "demo-vllm": { dialect: "openai", servedModel: "meta-llama/Llama-3.1-8B-Instruct", errors: "bare" },
  "demo-fastapi": { dialect: "openai", servedModel: "demo-fastapi", errors: "detail" },
  "demo-dedicated": {
    dialect: "openai",
    servedModel: "demo-dedicated",
    dedicatedHost: dedicatedHost("demo-dedicated", "us-central1")
  },
  "demo-tuned": { dialect: "gemini" },
  "demo-predict": { dialect: "predict" },
  "demo-predict-text": { dialect: "predict", predictForm: "text" },
  "demo-predict-content": { dialect: "predict", predictForm: "content" },
  "demo-predict-generated-text": { dialect: "predict", predictForm: "generated_text" },
  "demo-predict-output": { dialect: "predict", predictForm: "output" },
  "demo-cold": { dialect: "openai", readiness: "cold" },
  "demo-loading": { dialect: "openai", readiness: "loading" }
}

/** A numeric id and a fault id accept every dialect. */
export const endpointOf = (id: string, endpoints: Endpoints): SimulatedEndpoint | undefined =>
  endpoints.get(id) ?? (/^[0-9]+$/.test(id) || isFault(id) ? { dialect: "any" } : undefined)

const dialectOf = (operation: string): SimulatedEndpoint["dialect"] | undefined => {
  if (operation === "predict") return "predict"
  if (operation === "chat/completions" || operation === "embeddings") return "openai"
  return /^(generateContent|streamGenerateContent|countTokens)$/.test(operation) ? "gemini" : undefined
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?$/.test(host)

/**
 * The `Host` header must name a dedicated endpoint's host. A loopback host is accepted as well,
 * because an operator's base URL replaces the header with the name of this machine.
 */
const wrongHost = (endpoint: SimulatedEndpoint, host: string): GoogleError | undefined => {
  const { dedicatedHost: only } = endpoint
  const bare = host.replace(/:[0-9]+$/, "")
  if (only === undefined || bare === only || isLoopback(host)) return undefined
  const message =
    `Dedicated Endpoint cannot be accessed through the shared Vertex AI domain ${bare}. ` +
    `Please access the endpoint using its dedicated domain name '${only}'`
  return googleError("FAILED_PRECONDITION", message)
}

const notReady = (endpoint: SimulatedEndpoint, callNumber: number): GoogleError | undefined => {
  if (endpoint.readiness === "loading")
    return googleError("UNAVAILABLE", "The model server is not ready. Please try again later.")
  if (endpoint.readiness !== "cold" || callNumber % 2 === 0) return undefined
  return googleError(
    "RESOURCE_EXHAUSTED",
    "Model is not yet ready for inference. Please wait and then try your request again.",
    [retryInfo("0.2s")]
  )
}

/** The refusal of a call: unknown endpoint, wrong host, not ready, or another dialect; `undefined` if it can answer. */
export const checkEndpoint = (
  route: Route,
  host: string,
  endpoints: Endpoints,
  callNumber: number
): Answer | undefined => {
  const { target, operation } = route
  if (target.kind !== "endpoint" || target.id === "openapi") return undefined
  const endpoint = endpointOf(target.id, endpoints)
  const name = `projects/${route.project}/locations/${route.location}/endpoints/${target.id}`
  const error =
    endpoint === undefined
      ? googleError("NOT_FOUND", `Endpoint \`${name}\` not found.`)
      : (wrongHost(endpoint, host) ?? notReady(endpoint, callNumber))
  if (error !== undefined) return errorAnswer(error, operation === "chat/completions")
  const spoken = endpoint?.dialect
  // The container answers an unknown path in FastAPI's form.
  return spoken === "any" || spoken === dialectOf(operation) ? undefined : jsonAnswer(404, { detail: "Not Found" })
}
