// Models listed for an account that names none, per provider.
// It must not know which of them an account may really call; the upstream decides that.
import type { ProviderKind } from "../domain/ProviderAccount.ts"

const gemini = [
  "gemini-3.1-pro-preview",
  "gemini-3-flash-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-2.0-flash",
  "gemini-2.0-flash-lite"
]

/** One of each kind: thinking that adapts, thinking either way, thinking by budget, none. */
const claude = [
  "anthropic.claude-opus-4-8",
  "anthropic.claude-sonnet-4-6",
  "anthropic.claude-haiku-4-5@20251001",
  "anthropic.claude-3-5-haiku@20241022"
]

/** Chat models of each provider, newest generation first; both serve the same Gemini names. */
export const listedModels: Readonly<Record<ProviderKind, ReadonlyArray<string>>> = {
  google: gemini,
  "vertex-ai": [...gemini, ...claude]
}
