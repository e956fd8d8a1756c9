// Declares a simulated self-deployed endpoint: its dialect, host, readiness and answer forms.
// Must not depend on routes or on how an endpoint answers.

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
