// Models listed for an account that names none, per provider.
// It must not know which of them an account may really call; the upstream decides that.
import type { BuiltInKind } from "../domain/ProviderAccount.ts"

/** Both providers serve these names of Gemini, newest generation first; those that draw are last. */
const gemini = [
  "gemini-3.1-pro-preview",
  "gemini-3-flash-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-2.0-flash",
  "gemini-2.0-flash-lite",
  "gemini-3-pro-image-preview",
  "gemini-2.5-flash-image"
]

/** One of each kind: thinking that adapts, thinking either way, thinking by budget, none. */
const claude = [
  "anthropic.claude-opus-4-8",
  "anthropic.claude-sonnet-4-6",
  "anthropic.claude-haiku-4-5@20251001",
  "anthropic.claude-3-5-haiku@20241022"
]

/** Open models, by the id their publisher gives them on Vertex AI. */
const open = [
  "meta.llama-4-maverick-17b-128e-instruct-maas",
  "meta.llama-3.3-70b-instruct-maas",
  "deepseek-ai/deepseek-v3.2-maas",
  "qwen/qwen3-coder-480b-a35b-instruct-maas",
  "openai/gpt-oss-120b-maas"
]

const embeddings = ["gemini-embedding-2", "gemini-embedding-001"]

/** Chat, then embeddings, then pictures. */
export const listedModels: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  google: [...gemini, ...embeddings, "imagen-4.0-generate-001"],
  "vertex-ai": [
    ...gemini,
    ...claude,
    ...open,
    ...embeddings,
    "text-embedding-005",
    "text-multilingual-embedding-002",
    "multimodalembedding@001",
    "imagen-4.0-generate-001",
    "imagen-3.0-generate-001",
    "imagen-3.0-fast-generate-001",
    "imagegeneration@006",
    "imagegeneration@005",
    "imagegeneration@002"
  ]
}
