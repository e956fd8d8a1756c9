// What a model's price has next to its rates: factors of tiers and places, and the fee of a search.
// It must not know rates.
// Sources: ai.google.dev/gemini-api/docs/pricing, cloud.google.com/vertex-ai/generative-ai/pricing, claude.com/pricing.
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { versionOf } from "../domain/models/modelName.ts"
import type { Price } from "../domain/Usage.ts"

type Terms = Pick<Price, "regional" | "search" | "tiers">

/** Priority is published as 1.75 to 2 times the standard price; the upper end is charged. */
const geminiTiers = { flex: 0.5, batch: 0.5, priority: 2 } as const

/** Up to Gemini 2.5 a grounded answer has one fee, later each search has its own. */
const geminiSearch = (version: number): NonNullable<Price["search"]> =>
  version < 3 ? { usd: 0.035, per: "answer" } : { usd: 0.014, per: "search" }

/** Claude's endpoints outside `global` cost a tenth more since 4.5. */
const regionalClaude = 1.1

const none: Terms = {}

export const priceTerms = (record: ModelRecord): Terms => {
  const version = versionOf(record)
  if (record.family === "gemini")
    return { tiers: geminiTiers, ...(version === undefined ? {} : { search: geminiSearch(version) }) }
  if (record.family !== "claude") return none
  return {
    tiers: { batch: 0.5 },
    search: { usd: 0.01, per: "search" },
    ...(version !== undefined && version >= 4.5 ? { regional: regionalClaude } : {})
  }
}
