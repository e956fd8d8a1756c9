// List prices in US dollars for models that are missing in the public price list.
// It must not know how prices are used.
// Sources: cloud.google.com/vertex-ai/generative-ai/pricing, ai.google.dev/gemini-api/docs/pricing.
import type { Price, Rate } from "../domain/Usage.ts"

/** Published as $0.000025 per 1,000 characters; the same page counts four characters as one token. */
const textEmbedding: Price = { input: 0.1 }
const perPicture = (image: number): Price => ({ image })
/** A base rate, and a second rate for requests with more than `thousands` thousand input tokens. */
const longer = (base: number, price: number, thousands = 200): Rate => ({
  base,
  tiers: [{ start: thousands * 1000, price }]
})

/** Prices by the id as the provider spells it. */
export const priceSupplement: Readonly<Record<string, Price>> = {
  "text-embedding-004": textEmbedding,
  "text-embedding-005": textEmbedding,
  "text-multilingual-embedding-002": textEmbedding,
  // Text is priced per 1,000 characters. A picture costs $0.0001; its tile of 258 tokens costs twice that by this rate.
  "multimodalembedding@001": { input: 0.8 },
  "imagen-4.0-generate-001": perPicture(0.04),
  "imagen-4.0-fast-generate-001": perPicture(0.02),
  "imagen-4.0-ultra-generate-001": perPicture(0.06),
  "imagen-3.0-generate-002": perPicture(0.04),
  "imagen-3.0-generate-001": perPicture(0.04),
  "imagen-3.0-fast-generate-001": perPicture(0.02),
  "imagegeneration@006": perPicture(0.02),
  "imagegeneration@005": perPicture(0.02),
  "imagegeneration@002": perPicture(0.02),
  "meta/llama-4-maverick-17b-128e-instruct-maas": { input: 0.35, output: 1.15 },
  "meta/llama-4-scout-17b-16e-instruct-maas": { input: 0.25, output: 0.7 },
  "meta/llama-3.3-70b-instruct-maas": { input: 0.72, output: 0.72 },
  "meta/llama-3.1-405b-instruct-maas": { input: 5, output: 16 },
  "deepseek-ai/deepseek-v3.1-maas": { input: 0.6, output: 1.7, cached: 0.06 },
  "deepseek-ai/deepseek-v3.2-maas": { input: 0.56, output: 1.68, cached: 0.056 },
  "openai/gpt-oss-120b-maas": { input: 0.09, output: 0.36 },
  "openai/gpt-oss-20b-maas": { input: 0.07, output: 0.25 },
  "qwen/qwen3-235b-a22b-instruct-2507-maas": { input: 0.22, output: 0.88 },
  "qwen/qwen3-next-80b-a3b-instruct-maas": { input: 0.15, output: 1.2 },
  "qwen/qwen3-next-80b-a3b-thinking-maas": { input: 0.15, output: 1.2 },
  "moonshotai/kimi-k2-thinking-maas": { input: 0.6, output: 2.5 },
  "zai-org/glm-4.7-maas": { input: 0.6, output: 2.2 },
  "zai-org/glm-5-maas": { input: 1, output: 3.2, cached: 0.1 },
  // Aliases that change their model, each at the price of the most expensive model it has named or may name.
  "gemini-flash-latest": { input: 1.5, output: 9, cached: 0.15, audioInput: 1.5 },
  "gemini-flash-lite-latest": { input: 0.3, output: 2.5, cached: 0.03, audioInput: 0.5 },
  "gemini-pro-latest": { input: longer(2, 4), output: longer(12, 18), cached: longer(0.2, 0.4) },
  // The facts lack the price of writing to the cache in a long context.
  "claude-haiku-5-5": {
    input: longer(0.1, 0.5, 100),
    output: longer(0.5, 2.5, 100),
    cached: longer(0.01, 0.05, 100),
    cacheWritten: longer(0.125, 0.625, 100)
  }
}
