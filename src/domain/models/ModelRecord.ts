// The record of one model: every fact that a rule of the product reads. A missing field was not found; it never means no.
// It must not hold a fact about any particular model.
import * as Schema from "effect/Schema"
import { calendarDay as day } from "../config/configured.ts"

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(schema)
const words = Schema.Array(Schema.String)
const tokens = Schema.Number.check(
  Schema.makeFilter((value: number) =>
    Number.isSafeInteger(value) && value >= 0 ? undefined : "expected a whole number"
  )
)
const price = Schema.Number.check(
  Schema.makeFilter((value: number) =>
    value >= 0 && value < 1e6 ? undefined : "expected US dollars per million tokens"
  )
)

const rates = {
  input: optional(price.annotate({ description: "text, image, audio, video, pdf, or the ending of an office file." })),
  cached_input: optional(price),
  output: optional(price.annotate({ description: "text, image, audio or vector." })),
  cache_write_5m: optional(price),
  cache_write_1h: optional(price),
  audio_input: optional(price),
  audio_output: optional(price),
  image_input: optional(price),
  image_output: optional(price),
  video_input: optional(price)
}

/** The levels of Gemini and the efforts of Claude, in rising order. */
export const thinkingLevels = ["minimal", "low", "medium", "high", "xhigh", "max"] as const
export type ThinkingWord = (typeof thinkingLevels)[number]

/** Fields as the configuration and the data file spell them. */
export const ModelFields = Schema.Struct({
  family: optional(Schema.Literals(["gemini", "gemma", "embedding", "imagen", "claude", "open"])),
  /** `2.5`, `3`, `3.6`, `3.7`, `4` of Gemini; `3` to `5.5` of Claude; `alias`, `media`, `other`, ... */
  generation: optional(Schema.String.annotate({ description: "2.5, 3, 3.6, 3.7 or 4 of Gemini; 3 to 5.5 of Claude." })),
  /** `deprecated`: the end is announced. */
  stage: optional(
    Schema.Literals(["ga", "preview", "deprecated", "shut_down"]).annotate({
      description: "deprecated: its end is announced."
    })
  ),
  release: optional(day.annotate({ description: "Day of its release, as 2026-11-12." })),
  /** A day for each provider; `claude-api` is Anthropic's own calendar. */
  shutdown: optional(Schema.Record(Schema.String, day).annotate({ description: "Day of its end, by provider." })),
  successor: optional(Schema.String.annotate({ description: "Id of the model that follows it." })),
  /** For each provider: from that day another model answers under this id. */
  routed: optional(Schema.Record(Schema.String, Schema.Struct({ from: day, to: Schema.String }))),
  context: optional(tokens.annotate({ description: "Tokens of prompt and answer together." })),
  max_output: optional(tokens.annotate({ description: "Most tokens of an answer." })),
  /** `text`, `image`, `audio`, `video`, `pdf`, or the ending of an office file. */
  input: optional(words),
  output: optional(words),
  operation: optional(
    Schema.Literals([
      "generateContent",
      "rawPredict",
      "openapi",
      "predict",
      "embedContent",
      "live",
      "transcribe",
      "interactions",
      "decisions"
    ])
  ),
  /** What one call on Vertex AI embeds. */
  inputs_per_call: optional(tokens),
  tokens_per_call: optional(tokens.annotate({ description: "Tokens of all texts that one call on Vertex AI embeds." })),
  providers: optional(words),
  /** `global`, `us`, `eu`, single regions by name, or `regions` for several that are not listed. */
  locations: optional(words.annotate({ description: "global, us, eu, single regions by name, or regions for any." })),
  allows_prefill: optional(
    Schema.Boolean.annotate({ description: "Whether a chat may end with an assistant message." })
  ),
  tools_with_json: optional(Schema.Boolean),
  builtin_with_functions: optional(Schema.Boolean),
  forced_tool_choice: optional(Schema.Boolean.annotate({ description: "Whether a tool may be demanded." })),
  forced_tool_choice_with_thinking: optional(Schema.Boolean),
  candidate_count_max: optional(tokens.annotate({ description: "Most answers to one request." })),
  requires_signatures: optional(Schema.Boolean),
  /** Open models: the reasoning of earlier turns goes back to them. */
  keeps_reasoning: optional(
    Schema.Boolean.annotate({ description: "Open models: the reasoning of earlier turns goes back to them." })
  ),
  /** Thoughts come as the beginning of the answer. */
  joins_thoughts: optional(Schema.Boolean),
  structured_output: optional(
    Schema.Literals(["native", "tool"]).annotate({ description: "Claude: how a schema of the answer is sent." })
  ),
  /** Claude: values of `output_config.effort`. */
  effort: optional(Schema.Array(Schema.Literals(thinkingLevels))),
  default_effort: optional(Schema.Literals(thinkingLevels)),
  /** Parameters; `@google` or `@vertex-ai` at the end limits one to a provider. */
  sampling: optional(
    Schema.Struct({ refused: optional(words), ignored: optional(words), with_thinking_refused: optional(words) })
  ),
  thinking: optional(
    Schema.Struct({
      control: optional(Schema.Literals(["none", "budget", "level", "adaptive", "effort"])),
      levels: optional(Schema.Array(Schema.Literals(thinkingLevels))),
      default: optional(Schema.String),
      can_disable: optional(Schema.Boolean),
      budget_min: optional(tokens),
      budget_max: optional(tokens),
      /** The `thinking.type` that stands for `disabled`. */
      off_value: optional(Schema.String),
      /** The highest effort while thinking is off. */
      off_at_most: optional(Schema.Literals(thinkingLevels))
    })
  ),
  caching: optional(
    Schema.Struct({
      implicit: optional(Schema.Boolean),
      explicit: optional(Schema.Boolean),
      min_tokens: optional(tokens)
    })
  ),
  /** Tokens of one hop. */
  long_decode: optional(Schema.Struct({ stream: optional(tokens), unary: optional(tokens) })),
  /** US dollars per million tokens; `until` ends an introductory price, `after` follows it. */
  price: optional(
    Schema.Struct({
      ...rates,
      until: optional(day),
      after: optional(Schema.Struct(rates)),
      long_context: optional(Schema.Struct({ above: tokens, ...rates }))
    })
  )
})

export type ModelFields = Schema.Schema.Type<typeof ModelFields>

/** A model by the id of its record; every record has a family and a generation. */
export type ModelRecord = ModelFields & {
  readonly id: string
  readonly family: NonNullable<ModelFields["family"]>
  readonly generation: string
}

/** What the operator states of a model, or of all ids that a pattern matches. */
export const ModelOverlay = Schema.Struct({
  inherits: optional(Schema.String.annotate({ description: "The known model whose facts the id has." })),
  ...ModelFields.fields
})
export type ModelOverlay = Schema.Schema.Type<typeof ModelOverlay>
