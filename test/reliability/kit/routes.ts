// The routes of the service as a client asks them, each with the form of its answers.
// Must not know faults, or how an answer is judged.
import { modelWith } from "./provider.ts"

/** Whose form an answer has. */
export type Form =
  | "chat"
  | "chatStream"
  | "messages"
  | "messagesStream"
  | "responses"
  | "responsesStream"
  | "google"
  | "googleStream"
  | "googleArray"
  | "embeddings"
  | "images"
  | "count"

export interface Route {
  readonly name: string
  readonly form: Form
  readonly isStream: boolean
  /** The path for a model that the provider knows by this word. */
  readonly path: (model: string) => string
  readonly body: (model: string) => object
  /** The model as the gateway is asked for it; `@slug/` and prefix included. */
  readonly model: string
  /** True: the route passes bodies and events of its provider as their own bytes. */
  readonly passes: boolean
  /** True: the account has an access token, so that the token endpoint's faults matter. */
  readonly takesTokens: boolean
}

const said = [{ role: "user", content: "Why are there tides?" }]
const gemini = "gemini-2.5-flash"
const contents = { contents: [{ role: "user", parts: [{ text: "Why are there tides?" }] }] }
const message = { max_tokens: 100, messages: said }

const bodied = (name: string, form: Form, path: string, model: string, body: object): Route => ({
  name,
  form,
  isStream: form.endsWith("Stream"),
  path: () => path,
  body: (id) => ({ model: id, ...body }),
  model,
  passes: path.startsWith("/v1/messages"),
  takesTokens: model.startsWith("@vertex-ai/")
})
const native = (name: string, form: Form, method: string, model: string, body: object): Route => ({
  name,
  form,
  isStream: form === "googleStream" || form === "googleArray" || form === "messagesStream",
  path: (id) => `/v1beta/models/${id}:${method}`,
  body: () => body,
  model,
  passes: true,
  takesTokens: model.startsWith("@vertex-ai/")
})

const chatPath = "/v1/chat/completions"
const chatOf = (name: string, model: string): ReadonlyArray<Route> => [
  bodied(`chat, ${name}`, "chat", chatPath, model, { messages: said }),
  bodied(`chat stream, ${name}`, "chatStream", chatPath, model, { messages: said, stream: true })
]
const claude = "@vertex-ai/anthropic.claude-sonnet-4-6"

/** Every route that calls a provider, with every dialect that a provider speaks. */
export const routes: ReadonlyArray<Route> = [
  ...chatOf("Gemini API", `@google/${gemini}`),
  ...chatOf("Gemini on Vertex AI", `@vertex-ai/${gemini}`),
  ...chatOf("Claude", claude),
  ...chatOf("Llama", "@vertex-ai/meta.llama-3.3-70b-instruct-maas"),
  bodied("messages", "messages", "/v1/messages", claude, message),
  bodied("messages stream", "messagesStream", "/v1/messages", claude, { ...message, stream: true }),
  bodied("responses", "responses", "/v1/responses", `@google/${gemini}`, { input: "Why?", store: false }),
  bodied("responses stream", "responsesStream", "/v1/responses", `@google/${gemini}`, {
    input: "Why?",
    store: false,
    stream: true
  }),
  native("native", "google", "generateContent", `@google/${gemini}`, contents),
  native("native stream", "googleStream", "streamGenerateContent?alt=sse", `@google/${gemini}`, contents),
  native("native array", "googleArray", "streamGenerateContent", `@google/${gemini}`, contents),
  bodied("embeddings", "embeddings", "/v1/embeddings", "@google/gemini-embedding-001", { input: ["One.", "Two."] }),
  bodied("images", "images", "/v1/images/generations", "@vertex-ai/imagen-4.0-generate-001", { prompt: "A tide." }),
  bodied("token count", "count", "/v1/chat/completions/count_tokens", `@google/${gemini}`, { messages: said }),
  bodied("token count of messages", "count", "/v1/messages/count_tokens", claude, { messages: said })
]

export interface Sent {
  readonly path: string
  readonly body: string
}

/** The request of a route whose provider answers with this fault. */
export const requestOf = (route: Route, word: string, percent: number, n: number): Sent => {
  const id = modelWith(route.model, word, percent, n)
  return { path: route.path(id), body: JSON.stringify(route.body(id)) }
}

/** The request of a route with a model of the given id. */
export const requestFor = (route: Route, id: string): Sent => ({
  path: route.path(id),
  body: JSON.stringify(route.body(id))
})
