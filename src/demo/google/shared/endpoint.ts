// What an operator declares about one self-deployed endpoint: its dialect, host, readiness and forms.
// It must not depend on routes or on how an endpoint answers.

export interface SimulatedEndpoint {
  /** `any` serves every dialect. */
  readonly dialect: "openai" | "gemini" | "predict" | "any"
  /** The name the container checks in `model`; absent: any name will do. */
  readonly servedModel?: string
  /** The only host that reaches it. */
  readonly dedicatedHost?: string
  /** `cold` is scaled to zero and refuses every other call with 429, `loading` refuses all with 503. */
  readonly readiness?: "cold" | "loading"
  /** Where the answer of dialect predict stands; absent: an echo of the prompt, then the answer. */
  readonly predictForm?: "text" | "content" | "generated_text" | "output"
  /** The shape of the container's own errors: OpenAI's envelope, the same without envelope, or FastAPI's `detail`. */
  readonly errors?: "wrapped" | "bare" | "detail"
}
