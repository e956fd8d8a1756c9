// Makes the safety ratings of both services and finds the demo words in a prompt that trigger a block.
// Must not depend on how a reply is framed.

import { lastUserText } from "../shared/generateRequest.ts"
import type { Backend, GenerateRequest } from "../shared/generateRequest.ts"

export interface SafetyRating {
  readonly category: string
  readonly probability: string
  readonly blocked?: boolean
  readonly probabilityScore?: number
  readonly severity?: string
  readonly severityScore?: number
}

const categories = ["HATE_SPEECH", "DANGEROUS_CONTENT", "HARASSMENT", "SEXUALLY_EXPLICIT"].map(
  (word) => `HARM_CATEGORY_${word}`
)

/** Ratings of every category; `high` names the one that blocks. Vertex AI adds scores and severities (recorded). */
export const ratings = (backend: Backend, high: string | undefined): ReadonlyArray<SafetyRating> =>
  categories.map((category) => {
    const probability = category === high ? "HIGH" : "NEGLIGIBLE"
    const scores =
      backend === "google"
        ? {}
        : {
            probabilityScore: category === high ? 0.9375 : 0.0625,
            severity: `HARM_SEVERITY_${probability}`,
            severityScore: category === high ? 0.875 : 0.03125
          }
    return { category, probability, ...(category === high ? { blocked: true } : {}), ...scores }
  })

/** Which block the prompt triggers: `demo:block-prompt` blocks the prompt, `demo:block-answer` the answer. */
export const safetyTrigger = (model: string, request: GenerateRequest): "prompt" | "answer" | "none" => {
  const text = lastUserText(request)
  if (model === "demo-safety-block" || text.includes("demo:block-prompt")) return "prompt"
  return text.includes("demo:block-answer") ? "answer" : "none"
}

export const blockingCategory = "HARM_CATEGORY_DANGEROUS_CONTENT"
