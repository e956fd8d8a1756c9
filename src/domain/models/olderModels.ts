// Facts about ids that the data file does not list: models of earlier years, and names whose ending varies.
// It must not hold a current model; `npm run facts` knows those. The first pattern that matches counts.
import type { ModelOverlay } from "./ModelRecord.ts"

const early: ModelOverlay = { inherits: "gemini-2.0-flash", generation: "1" }
const second: ModelOverlay = { inherits: "gemini-2.0-flash" }

export const olderModels: ReadonlyArray<readonly [pattern: string, ModelOverlay]> = [
  ["gemini-1.*", early],
  ["gemini-pro", early],
  ["gemini-pro-vision", early],
  ["*-thinking-exp*", { ...second, joins_thoughts: true }],
  ["gemini-2.0-*image*", { ...second, output: ["text", "image"] }],
  ["gemini-2.0-*", second],
  ["gemini-exp-*", second],
  ["learnlm-*", second],
  ["gemini-2.5-*audio*", { inherits: "gemini-2.5-flash-tts", operation: "live", generation: "2.5" }],
  ["gemini-2.5-computer-use-*", { inherits: "gemini-2.5-flash" }],
  ["*nano-banana*", { inherits: "gemini-nano-banana-2.1" }],
  ["gemma-1*", { inherits: "gemma-3-1b-it" }],
  ["gemma-2*", { inherits: "gemma-3-1b-it" }],
  ["gemini-embedding-*", { inherits: "gemini-embedding-2" }],
  ["text-embedding-*", { inherits: "text-embedding-005" }],
  ["text-multilingual-embedding-*", { inherits: "text-multilingual-embedding-002" }],
  ["textembedding-gecko*", { inherits: "text-embedding-004" }],
  ["imagen-*", { inherits: "imagen-4.0-generate-001" }],
  ["imagegeneration*", { inherits: "imagegeneration@006" }],
  ["*/*", { inherits: "deepseek-ai/deepseek-r1-0528-maas" }]
]
