// Models listed for an account that names none, per provider; and all model ids that are known, listed or not.
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

/** Ids of models that Google serves or has served. They are labels of metrics and sums; an id outside the closed set is `other`. */
export const knownModels: ReadonlyArray<string> = (
  "gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-lite gemini-2.0-flash-lite-001 gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite " +
  "gemini-3-pro-preview gemini-3.1-pro-preview gemini-3.1-pro-preview-customtools gemini-3-flash-preview gemini-3.1-flash-lite " +
  "gemini-3.1-flash-lite-preview gemini-3.5-flash gemini-3.5-flash-lite gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash gemini-4-argon " +
  "gemini-4-argon-cyber-permissive gemini-4-carbon gemini-4-hydrogen gemini-4-neon gemini-flash-latest gemini-flash-lite-latest " +
  "gemini-pro-latest gemini-2.5-flash-image gemini-3-pro-image gemini-3-pro-image-preview gemini-3.1-flash-image gemini-3.1-flash-image-preview " +
  "gemini-3.1-flash-lite-image gemini-nano-banana-2.1 gemini-3.8-flash-tts gemini-3.8-flash-lite-tts gemini-3.1-flash-tts-preview " +
  "gemini-2.5-flash-preview-tts gemini-2.5-pro-preview-tts gemini-2.5-flash-tts gemini-2.5-pro-tts gemini-3.8-live " +
  "gemini-3.8-live-extended-thinking gemini-3.5-transcribe gemini-3.5-transcribe-live gemini-omni-flash-preview gemini-omni-1.2-flash " +
  "gemini-decision-1 gemini-robotics-er-2-preview gemini-embedding-2 gemini-embedding-001 " +
  "gemma-4-31b-it gemma-4-26b-a4b-it gemma-3-27b-it gemma-3-12b-it gemma-3-4b-it gemma-3-1b-it gemma-3n-e4b-it gemma-3n-e2b-it " +
  "text-embedding-005 text-multilingual-embedding-002 text-embedding-004 multimodalembedding@001 " +
  "imagen-4.0-generate-001 imagen-4.0-ultra-generate-001 imagen-4.0-fast-generate-001 imagen-3.0-generate-001 imagen-3.0-generate-002 " +
  "imagen-3.0-fast-generate-001 imagegeneration@006 imagegeneration@005 imagegeneration@002 " +
  "claude-3-haiku@20240307 claude-3-opus@20240229 claude-3-sonnet@20240229 claude-3-5-haiku@20241022 claude-3-5-sonnet-v2@20241022 " +
  "claude-3-5-sonnet@20240620 claude-3-7-sonnet@20250219 claude-opus-4@20250514 claude-opus-4-1@20250805 claude-sonnet-4@20250514 " +
  "claude-sonnet-4-5@20250929 claude-haiku-4-5@20251001 claude-opus-4-5@20251101 claude-opus-4-6 claude-sonnet-4-6 claude-opus-4-7 " +
  "claude-opus-4-8 claude-sonnet-5 claude-opus-5 claude-fable-5 claude-fable-5-1 claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5 " +
  "claude-haiku-5-5 claude-mythos-5-1 " +
  "meta/llama-4-maverick-17b-128e-instruct-maas meta/llama-4-scout-17b-16e-instruct-maas meta/llama-3.3-70b-instruct-maas " +
  "deepseek-ai/deepseek-r1-0528-maas deepseek-ai/deepseek-v3.1-maas deepseek-ai/deepseek-v3.2-maas deepseek-ai/deepseek-ocr-maas " +
  "openai/gpt-oss-120b-maas openai/gpt-oss-20b-maas qwen/qwen3-235b-a22b-instruct-2507-maas qwen/qwen3-coder-480b-a35b-instruct-maas " +
  "qwen/qwen3-next-80b-a3b-instruct-maas qwen/qwen3-next-80b-a3b-thinking-maas moonshotai/kimi-k2-thinking-maas minimax/minimax-m2-maas " +
  "zai-org/glm-4.7-maas zai-org/glm-5-maas xai/grok-4.20-reasoning xai/grok-4.20-non-reasoning xai/grok-4.1-fast-reasoning " +
  "xai/grok-4.1-fast-non-reasoning"
).split(" ")
