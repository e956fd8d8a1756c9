// List prices of models that the price list in use does not know, in US dollars.
// It must not know how a price is used. Source: cloud.google.com/vertex-ai/generative-ai/pricing.
import type { Price } from "../domain/Usage.ts"

/** Told per 1,000 characters ($0.000025), counted in tokens: four characters each, as the same page has it. */
const textEmbedding: Price = { input: 0.1 }
const perPicture = (image: number): Price => ({ image })

/** Ids as their provider spells them. */
export const priceSupplement: Readonly<Record<string, Price>> = {
  "text-embedding-004": textEmbedding,
  "text-embedding-005": textEmbedding,
  "text-multilingual-embedding-002": textEmbedding,
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
  "meta/llama-3.1-405b-instruct-maas": { input: 5, output: 16 }
}
