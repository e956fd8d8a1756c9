// Self-deployed endpoints: what each serves, under which host, and how an endpoint that cannot answer refuses.
// It must not know bodies or credentials; provider facts: Vertex AI's endpoint pages and publicly quoted refusals.

import { errorAnswer, jsonAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"
import type { SimulatedEndpoint } from "../shared/endpoint.ts"
import { googleError, retryInfo } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import { isFault } from "../shared/faults.ts"
import type { Route } from "../shared/routes.ts"

export type Endpoints = ReadonlyMap<string, SimulatedEndpoint>

/** The host of a dedicated endpoint; the number is the project's. */
export const dedicatedHost = (id: string, region: string): string => `${id}.${region}-123456789012.prediction.vertexai.goog`

/** Endpoints every simulator has. */
export const demoEndpoints: Readonly<Record<string, SimulatedEndpoint>> = {
  "demo-llama": { dialect: "openai", servedModel: "demo-llama" },
  "demo-vllm": { dialect: "openai", servedModel: "meta-llama/Llama-3.1-8B-Instruct", errors: "bare" },
  "demo-fastapi": { dialect: "openai", servedModel: "demo-fastapi", errors: "detail" },
  "demo-dedicated": { dialect: "openai", servedModel: "demo-dedicated", dedicatedHost: dedicatedHost("demo-dedicated", "us-central1") },
  "demo-tuned": { dialect: "gemini" },
  "demo-predict": { dialect: "predict" },
  "demo-predict-text": { dialect: "predict", predictForm: "text" },
  "demo-predict-content": { dialect: "predict", predictForm: "content" },
  "demo-predict-generated-text": { dialect: "predict", predictForm: "generated_text" },
  "demo-predict-output": { dialect: "predict", predictForm: "output" },
  "demo-cold": { dialect: "openai", readiness: "cold" },
  "demo-loading": { dialect: "openai", readiness: "loading" }
}

/** A numeric id tells nothing about its container; an id of fault is one that misbehaves. */
export const endpointOf = (id: string, endpoints: Endpoints): SimulatedEndpoint | undefined =>
  endpoints.get(id) ?? (/^[0-9]+$/.test(id) || isFault(id) ? { dialect: "any" } : undefined)

const dialectOf = (operation: string): SimulatedEndpoint["dialect"] | undefined => {
  if (operation === "predict") return "predict"
  if (operation === "chat/completions" || operation === "embeddings") return "openai"
  return /^(generateContent|streamGenerateContent|countTokens)$/.test(operation) ? "gemini" : undefined
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?$/.test(host)

/**
 * A dedicated endpoint is told by the `Host` header. Behind an operator's base URL the header names this machine, so that
 * the host the caller meant cannot be seen: a loopback host passes for the right one.
 */
const wrongHost = (endpoint: SimulatedEndpoint, host: string): GoogleError | undefined => {
  const { dedicatedHost: only } = endpoint
  const bare = host.replace(/:[0-9]+$/, "")
  if (only === undefined || bare === only || isLoopback(host)) return undefined
  const message = `Dedicated Endpoint cannot be accessed through the shared Vertex AI domain ${bare}. ` +
    `Please access the endpoint using its dedicated domain name '${only}'`
  return googleError("FAILED_PRECONDITION", message)
}

const notReady = (endpoint: SimulatedEndpoint, callNumber: number): GoogleError | undefined => {
  if (endpoint.readiness === "loading") return googleError("UNAVAILABLE", "The model server is not ready. Please try again later.")
  if (endpoint.readiness !== "cold" || callNumber % 2 === 0) return undefined
  return googleError("RESOURCE_EXHAUSTED", "Model is not yet ready for inference. Please wait and then try your request again.", [retryInfo("0.2s")])
}

/** What an endpoint answers in place of its operation: 404, a wrong host, not ready, or a dialect it does not speak. */
export const refusedEndpoint = (route: Route, host: string, endpoints: Endpoints, callNumber: number): Answer | undefined => {
  const { target, operation } = route
  if (target.kind !== "endpoint" || target.id === "openapi") return undefined
  const endpoint = endpointOf(target.id, endpoints)
  const name = `projects/${route.project}/locations/${route.location}/endpoints/${target.id}`
  const error = endpoint === undefined
    ? googleError("NOT_FOUND", `Endpoint \`${name}\` not found.`)
    : wrongHost(endpoint, host) ?? notReady(endpoint, callNumber)
  if (error !== undefined) return errorAnswer(error, operation === "chat/completions")
  const spoken = endpoint?.dialect
  // The container itself answers for a path it does not know, as FastAPI does.
  return spoken === "any" || spoken === dialectOf(operation) ? undefined : jsonAnswer(404, { detail: "Not Found" })
}
