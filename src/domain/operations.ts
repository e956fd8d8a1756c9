// The operations of the service: the one list from which every table of operations derives, or by which it is typed.
// It must not depend on handlers, providers, or what a body contains.

/** Whose API a client speaks on a route; it decides the form of errors and of the headers of limits. */
export type Dialect = "openai" | "anthropic" | "google"

/** The template of a route of an operation. */
export type OperationPath = `/v1/${string}` | `/v1beta/${string}`

interface OperationFacts {
  readonly path: OperationPath
  /** Further routes that end in this operation. */
  readonly alsoAt?: ReadonlyArray<OperationPath>
  readonly dialect: Dialect
  /** Its name in the GenAI semantic conventions; `image_generation` and `count_tokens` are common extensions of them. */
  readonly label: string
  /** Its name in the text of an error. */
  readonly words: string
}

/** A new operation is one more row; each table of operations then fails to compile until it has that row too. */
export const operations = {
  chat: {
    path: "/v1/chat/completions",
    alsoAt: ["/v1/prompts/:id/completions"],
    dialect: "openai",
    label: "chat",
    words: "chat"
  },
  countTokens: {
    path: "/v1/chat/completions/count_tokens",
    dialect: "openai",
    label: "count_tokens",
    words: "token counting"
  },
  embeddings: { path: "/v1/embeddings", dialect: "openai", label: "embeddings", words: "embeddings" },
  images: { path: "/v1/images/generations", dialect: "openai", label: "image_generation", words: "image generation" },
  messages: {
    path: "/v1/messages",
    alsoAt: ["/v1/publishers/anthropic/models/:model:rawPredict"],
    dialect: "anthropic",
    label: "chat",
    words: "messages"
  },
  messagesCountTokens: {
    path: "/v1/messages/count_tokens",
    alsoAt: ["/v1/publishers/anthropic/models/count-tokens:rawPredict"],
    dialect: "anthropic",
    label: "count_tokens",
    words: "token counting of messages"
  },
  nativeContent: {
    path: "/v1beta/models/:model:generateContent",
    dialect: "google",
    label: "generate_content",
    words: "generateContent"
  },
  nativeEmbeddings: {
    path: "/v1beta/models/:model:embedContent",
    dialect: "google",
    label: "embeddings",
    words: "embedContent"
  },
  nativePredictions: {
    path: "/v1beta/models/:model:predict",
    dialect: "google",
    label: "image_generation",
    words: "predict"
  },
  nativeCount: {
    path: "/v1beta/models/:model:countTokens",
    dialect: "google",
    label: "count_tokens",
    words: "countTokens"
  }
} as const satisfies Readonly<Record<string, OperationFacts>>

export type Operation = keyof typeof operations

const isOperation = (name: string): name is Operation => Object.hasOwn(operations, name)

export const operationNames: ReadonlyArray<Operation> = Object.keys(operations).filter(isOperation)

const rows: ReadonlyArray<OperationFacts & { readonly name: Operation }> = operationNames.map((name) => ({
  name,
  ...operations[name]
}))

/** The paths of all operations. Each takes POST only. */
export const operationPaths: ReadonlyArray<string> = rows.map(({ path }) => path)

/** Operations whose bodies pass between Google's clients and Google as their own bytes; their paths have many forms. */
export type NativeOperation = "nativeContent" | "nativeEmbeddings" | "nativePredictions" | "nativeCount"

const byRoute: ReadonlyMap<string, Operation> = new Map(
  rows.flatMap(({ alsoAt = [], name, path }) => [path, ...alsoAt].map((route) => [route, name] as const))
)

/** The operation of a route, by its template; undefined for routes that end in none. */
export const operationAt = (route: string): Operation | undefined => byRoute.get(route)

/** True for routes of Google's own paths, Claude's on Vertex AI included: their templates end in a verb (N606). */
export const isNativeRoute = (route: string): boolean => /[^/]:\w+$/.test(route)

/** The beginnings of paths outside OpenAI's dialect. */
const foreign = rows
  .filter(({ dialect }) => dialect !== "openai")
  .map(({ dialect, path }) => ({ dialect, start: path.split(/[:*]/, 1)[0] ?? path }))

/** The dialect of a path that a client asked for; unknown paths below a known one count as that one. */
export const dialectOf = (path: string): Dialect =>
  foreign.find(({ start }) => path.startsWith(start))?.dialect ?? "openai"

/** Routes whose own bodies become the body of an operation, by the name they are counted under. */
const outerLabels: ReadonlyMap<string, string> = new Map<OperationPath, string>([
  ["/v1/responses", "responses"],
  ["/v1/responses/input_tokens", "count_tokens"]
])

/** The name of an operation, or of an outer route, in metrics and spans; another name stays as it is. */
export const operationLabel = (name: string): string =>
  isOperation(name) ? operations[name].label : (outerLabels.get(name) ?? name)
