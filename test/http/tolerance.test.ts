// Law W2 by generation: no value of the right JSON type of a tuning parameter refuses a request.
// It must not know how a value is bent.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import type { ChatParameters } from "../../src/wire/openai/Chat.ts"
import type { ImagesParameters } from "../../src/wire/openai/Images.ts"
import type { ResponsesParameters } from "../../src/wire/openai/Responses.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewaysOver } from "../support/scripted.ts"
import { runs } from "../support/release.ts"

const gatewayOver = gatewaysOver()
const accounts = [
  googleAccount,
  { ...vertexAccount, endpoints: { "3001": { dialect: "predict", host: undefined, model: undefined } as const } }
]

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, 0.5, 2 ** 53, 1e300, -1e300),
  fc.integer().map(String),
  fc.constantFrom("0.7", " 1 ", "1e3")
)
const text = fc.oneof(fc.string(), fc.constantFrom("", "auto", "none", "HIGH", "flex", "low"))
const flag = fc.boolean()
const json = fc.jsonValue({ maxDepth: 2 })
const words = fc.dictionary(text, fc.oneof(text, number, flag), { maxKeys: 20 })

const thinking = fc.record({ type: text, budget_tokens: number }, { requiredKeys: [] })

/** The values of each tuning parameter of a chat; parameters of the content are not among them. */
const chat: Partial<Record<keyof typeof ChatParameters.fields, fc.Arbitrary<unknown>>> = {
  max_tokens: number,
  max_completion_tokens: number,
  temperature: number,
  top_p: number,
  top_k: number,
  n: number,
  stop: fc.oneof(text, fc.array(text, { maxLength: 30 })),
  seed: number,
  presence_penalty: number,
  frequency_penalty: number,
  logprobs: flag,
  top_logprobs: number,
  logit_bias: words,
  user: text,
  store: flag,
  metadata: words,
  prediction: json,
  verbosity: text,
  moderation: json,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_options: words,
  prompt_cache_retention: text,
  service_tier: text,
  parallel_tool_calls: flag,
  reasoning_effort: text,
  thinking,
  media_resolution: text
}
const responses: Partial<
  Record<keyof typeof ResponsesParameters.fields | "top_k" | "seed" | "stop", fc.Arbitrary<unknown>>
> = {
  max_tool_calls: number,
  reasoning: fc.record({ effort: text, summary: text, generate_summary: text }, { requiredKeys: [] }),
  max_output_tokens: number,
  truncation: text,
  temperature: number,
  top_p: number,
  top_k: number,
  seed: number,
  stop: fc.array(text, { maxLength: 30 }),
  top_logprobs: number,
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: words,
  metadata: words,
  include: fc.array(text, { maxLength: 20 }),
  context_management: json
}
const images: Partial<Record<keyof typeof ImagesParameters.fields, fc.Arbitrary<unknown>>> = {
  n: number,
  seed: number,
  size: text,
  quality: text,
  style: text,
  background: text,
  moderation: text,
  output_compression: number,
  output_format: text,
  response_format: text,
  guidance_scale: number,
  partial_images: number,
  user: text
}

const fieldsOf = (values: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
      ])
    ),
    { requiredKeys: [] }
  )

const models = [
  "@google/gemini-2.5-flash",
  "@vertex-ai/gemini-2.0-flash",
  "@google/gemini-4-neon",
  "@google/gemma-4-31b-it",
  "@vertex-ai/claude-sonnet-4-5",
  "@vertex-ai/claude-opus-4-8",
  "@vertex-ai/claude-3-haiku",
  "@vertex-ai/meta/llama-4-maverick-17b-128e-instruct-maas",
  "@vertex-ai/endpoints.3001"
]
const pictures = ["@google/gemini-2.5-flash-image", "@vertex-ai/imagen-4.0-generate-001"]
const messages = [{ role: "user", content: "hi" }]

const routes = [
  ["/v1/chat/completions", models, chat, { messages }],
  ["/v1/responses", models.slice(0, 8), responses, { input: "hi" }],
  ["/v1/images/generations", pictures, images, { prompt: "A red cat" }]
] as const

it.each(routes)("%s: no value of a tuning parameter is refused (W2, W24)", async (path, ids, values, body) => {
  const { post } = gatewayOver(() => ({ status: 200, chunks: ["{}"] }), { accounts })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ids), fieldsOf(values), async (model, fields) => {
      const answer = await post(path, { ...fields, ...body, model }, { "x-gateway-dry-run": "true" })
      expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toStrictEqual([200, ""])
    }),
    { numRuns: runs(400) }
  )
})
