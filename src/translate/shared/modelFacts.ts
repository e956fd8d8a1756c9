// What is known about a Gemini model from its id: generation, thinking knob, schema field.
// It must not know requests; an unknown id counts as the newest generation.

export type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH"

export interface ModelFacts {
  readonly generation: "gemma" | "g1" | "g2.0" | "g2.5" | "g3" | "tuned"
  /** The old experimental models whose chain of thought is joined to the answer. */
  readonly joinsThoughts: boolean
  readonly thinking: "none" | "budget" | "level"
  /** True when thinking can be switched off. */
  readonly canStop: boolean
  /** Legal budgets besides 0 and -1; undefined: as sent. */
  readonly budget: readonly [number, number] | undefined
  /** Legal levels in rising order; empty unless `thinking` is `level`. */
  readonly levels: ReadonlyArray<ThinkingLevel>
  /** `json` is `parametersJsonSchema`, `subset` the older OpenAPI subset in `parameters`. */
  readonly toolSchema: "json" | "subset"
  /** True when the documented sentinel stands in for a signature that is not known. */
  readonly sentinel: boolean
  readonly image: boolean
}
