// The config of the configured scenario: a fallback with retries.
// Must not know contestants.

export const fallbackConfig = {
  strategy: { mode: "fallback" as const },
  retry: { attempts: 2 },
  targets: [{ provider: "google" }, { provider: "vertex-ai", override_params: { model: "gemini-3.8-flash" } }]
}
