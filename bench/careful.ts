// The config of those that are asked by one: a fallback, and retries.
// It must not know who is asked.

export const careful = {
  strategy: { mode: "fallback" as const },
  retry: { attempts: 2 },
  targets: [{ provider: "google" }, { provider: "vertex-ai", override_params: { model: "gemini-2.5-flash" } }]
}
