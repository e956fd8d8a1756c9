// Parses the paths of Google's hosts into a route, and declares the self-deployed endpoint that a route may name.
// It must not depend on operations or credentials.
// Source: the public REST paths of both services.

export interface Route {
  /** `express` is Vertex AI with an API key and no project in the path. */
  readonly service: "google" | "vertex" | "express"
  readonly version: string
  readonly project: string | undefined
  readonly location: string | undefined
  readonly target:
    | { readonly kind: "model"; readonly publisher: string; readonly id: string }
    | { readonly kind: "endpoint"; readonly id: string }
  /** `generateContent` for `...:generateContent`, `chat/completions` for `.../endpoints/openapi/chat/completions`. */
  readonly operation: string
  readonly path: string
  /** The query contains `alt=sse`: server-sent events. */
  readonly sse: boolean
  /** An API key in the query; older clients of the Gemini API send it there. */
  readonly queryKey: string | undefined
}

const segment = "[A-Za-z0-9@._~%-]+"
const google = new RegExp(`^/(v1|v1beta|v1alpha)/(?:models|tunedModels)/(${segment}):([A-Za-z]+)$`)
const express = new RegExp(`^/(v1|v1beta1)/publishers/(${segment})/models/(${segment}):([A-Za-z]+)$`)
const vertex = new RegExp(`^/(v1|v1beta1)/projects/(${segment})/locations/(global|us|eu|[a-z]+-[a-z]+[0-9]+)/(.+)$`)
const vertexModel = new RegExp(`^publishers/(${segment})/models/(${segment}):([A-Za-z]+)$`)
const vertexEndpoint = new RegExp(`^endpoints/([A-Za-z0-9-]+)(?::([A-Za-z]+)|/([a-z/]+))$`)

const googleList = /^\/(v1|v1beta|v1alpha)\/models(?:\/([^/:]+))?$/
const publisherList = new RegExp(`^/(v1|v1beta1)/publishers/(${segment})/models(?:/(${segment}))?$`)

const decoded = (text: string | undefined): string => {
  try {
    return decodeURIComponent(text ?? "")
  } catch {
    return text ?? ""
  }
}

/** The route of a request target; `undefined` for a path that Google's front end answers with its 404 page. */
export const parseRoute = (target: string): Route | undefined => {
  const url = new URL(target, "http://localhost")
  const path = url.pathname
  const common = {
    path,
    sse: url.searchParams.get("alt") === "sse",
    queryKey: url.searchParams.get("key") ?? undefined
  }
  const nowhere = { project: undefined, location: undefined }
  const onGoogle = google.exec(path)
  if (onGoogle !== null) {
    const [, version = "", id, operation = ""] = onGoogle
    return {
      ...common,
      ...nowhere,
      service: "google",
      version,
      target: { kind: "model", publisher: "google", id: decoded(id) },
      operation
    }
  }
  const onExpress = express.exec(path)
  if (onExpress !== null) {
    const [, version = "", publisher = "", id, operation = ""] = onExpress
    return {
      ...common,
      ...nowhere,
      service: "express",
      version,
      target: { kind: "model", publisher, id: decoded(id) },
      operation
    }
  }
  const onVertex = vertex.exec(path)
  if (onVertex === null) return undefined
  const [, version = "", project, location = "", rest = ""] = onVertex
  const place = { ...common, service: "vertex", version, project: decoded(project), location } as const
  const model = vertexModel.exec(rest)
  if (model !== null) {
    const [, publisher = "", id, operation = ""] = model
    return { ...place, target: { kind: "model", publisher, id: decoded(id) }, operation }
  }
  const endpoint = vertexEndpoint.exec(rest)
  if (endpoint === null) return undefined
  const [, id = "", colon, slash] = endpoint
  return { ...place, target: { kind: "endpoint", id }, operation: colon ?? slash ?? "" }
}

/** The route of a GET: a list of models (`listModels`), or one of them (`getModel`). Vertex AI lists models in v1beta1 only. */
export const parseListing = (target: string): Route | undefined => {
  const url = new URL(target, "http://localhost")
  const common = {
    path: url.pathname,
    sse: false,
    queryKey: url.searchParams.get("key") ?? undefined,
    project: undefined,
    location: undefined
  }
  const onGoogle = googleList.exec(url.pathname)
  const [, version = "", publisher = "", id = ""] =
    onGoogle === null
      ? (publisherList.exec(url.pathname) ?? [])
      : [onGoogle[0], onGoogle[1] ?? "", "google", onGoogle[2] ?? ""]
  const lists = id === ""
  if (version === "" || (onGoogle === null && lists && version === "v1")) return undefined
  return {
    ...common,
    service: onGoogle === null ? "vertex" : "google",
    version,
    target: { kind: "model", publisher, id: decoded(id) },
    operation: lists ? "listModels" : "getModel"
  }
}

export interface SimulatedEndpoint {
  /** `any` accepts every dialect. */
  readonly dialect: "openai" | "gemini" | "predict" | "any"
  /** The only accepted `model`; any name if absent. */
  readonly servedModel?: string
  /** The only host that reaches it. */
  readonly dedicatedHost?: string
  /** `cold` (scaled to zero) refuses odd calls with 429, `loading` refuses all calls with 503. */
  readonly readiness?: "cold" | "loading"
  /** The form of a prediction in dialect predict; if absent, the prompt followed by the answer. */
  readonly predictForm?: "text" | "content" | "generated_text" | "output"
  /** The shape of the container's errors: OpenAI's envelope, the bare error object, or FastAPI's `detail`. */
  readonly errors?: "wrapped" | "bare" | "detail"
}
