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
const googleVersion = "(?<version>v1|v1beta|v1alpha)"
const vertexVersion = "(?<version>v1|v1beta1)"
const place = `projects/(?<project>${segment})/locations/(?<location>global|us|eu|[a-z]+-[a-z]+[0-9]+)`
const model = `publishers/(?<publisher>${segment})/models/(?<id>${segment})`
const method = ":(?<method>[A-Za-z]+)"

type Pattern = readonly [service: Route["service"], path: RegExp]

/** The paths of calls. */
const calls: ReadonlyArray<Pattern> = [
  ["google", new RegExp(`^/${googleVersion}/(?:models|tunedModels)/(?<id>${segment})${method}$`)],
  ["express", new RegExp(`^/${vertexVersion}/${model}${method}$`)],
  ["vertex", new RegExp(`^/${vertexVersion}/${place}/${model}${method}$`)],
  [
    "vertex",
    new RegExp(`^/${vertexVersion}/${place}/endpoints/(?<endpoint>[A-Za-z0-9-]+)(?:${method}|/(?<below>[a-z/]+))$`)
  ]
]

/** The paths of lists of models, and of one model. Vertex AI lists models in v1beta1 only. */
const listings: ReadonlyArray<Pattern> = [
  ["google", new RegExp(`^/${googleVersion}/models(?:/(?<id>[^/:]+))?$`)],
  ["vertex", new RegExp(`^/(?<version>v1beta1)/publishers/(?<publisher>${segment})/models$`)],
  ["vertex", new RegExp(`^/${vertexVersion}/${model}$`)]
]

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Groups = Readonly<Record<string, string | undefined>>

const routeBy = (
  patterns: ReadonlyArray<Pattern>,
  target: string,
  operationOf: (groups: Groups) => string
): Route | undefined => {
  const { pathname: path, searchParams: query } = new URL(target, "http://localhost")
  for (const [service, pattern] of patterns) {
    const match = pattern.exec(path)
    if (match === null) continue
    const groups: Groups = match.groups ?? {}
    const { endpoint, id = "", location, project, publisher = "google", version = "" } = groups
    return {
      service,
      version,
      project: project === undefined ? undefined : decoded(project),
      location,
      target:
        endpoint === undefined ? { kind: "model", publisher, id: decoded(id) } : { kind: "endpoint", id: endpoint },
      operation: operationOf(groups),
      path,
      sse: query.get("alt") === "sse",
      queryKey: query.get("key") ?? undefined
    }
  }
  return undefined
}

/** The route of a request target; `undefined` for a path that Google's front end answers with its 404 page. */
export const parseRoute = (target: string): Route | undefined =>
  routeBy(calls, target, ({ below = "", method: name = below }) => name)

/** The route of a GET: a list of models (`listModels`), or one of them (`getModel`). */
export const parseListing = (target: string): Route | undefined =>
  routeBy(listings, target, ({ id }) => (id === undefined ? "listModels" : "getModel"))

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
