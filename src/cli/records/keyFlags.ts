// The flags of `keys create` and `keys update` that set a field of a key, so that a fault names what was typed.
// Must not know how a flag is read.

const flags: Readonly<Record<string, string>> = {
  name: "--name",
  scopes: "--scope",
  providers: "--provider",
  models: "--model",
  configs: "--allow-config",
  prompts: "--allow-prompt",
  config: "--use-config",
  expires_at: "--expires-at",
  "rate_limit.requests_per_minute": "--requests-per-minute",
  "rate_limit.tokens_per_minute": "--tokens-per-minute",
  "rate_limit.requests_burst": "--requests-burst",
  "rate_limit.tokens_burst": "--tokens-burst",
  concurrency: "--concurrency",
  "budget.usd": "--budget-usd",
  "budget.per": "--budget-per",
  metadata: "--metadata",
  metadata_locked: "--metadata-locked",
  "other_models.messages": "--other-models"
}

/** The flag of a field such as `budget.per` or `scopes[0]`; the path itself where no flag sets it. */
export const keyFlagOf = (path: string): string => flags[path] ?? flags[path.replace(/[[.].*$/, "")] ?? path
