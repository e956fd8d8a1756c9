// Tests that every Gemini model gets bodies that its service accepts, whatever of the dialect is asked of it.
// Must not know what a body looks like: the simulator's rules and the published schemas judge it.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { validateGenerate } from "../../../src/demo/google/gemini/validate.ts"
import type { ModelRecord } from "../../../src/domain/models/ModelRecord.ts"
import { builtInModels } from "../../../src/domain/models/modelTable.ts"
import type { BuiltInKind } from "../../../src/domain/ProviderAccount.ts"
import { chatToGeminiRequest } from "../../../src/translate/chat-to-gemini/request.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { runs, sample } from "../../support/release.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const oracles: Readonly<Record<BuiltInKind, ReturnType<typeof schemaOracle>>> = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("bodies of every Gemini model against the published schemas")

const kinds: ReadonlyArray<BuiltInKind> = ["google", "vertex-ai"]
const records = builtInModels.ids.map((id) => builtInModels.find(id).record)
/** Models that chat in text; shut-down models are left out. */
const chats = ({ family, operation, output = [], stage }: ModelRecord): boolean =>
  (family === "gemini" || family === "gemma") &&
  operation === "generateContent" &&
  stage !== "shut_down" &&
  output.includes("text")
const pairs = records
  .filter(chats)
  .flatMap(({ id, providers = kinds }) =>
    kinds.filter((kind) => providers.includes(kind)).map((kind) => ({ id, kind }))
  )

type Words = Partial<ChatRequest>

const user = { role: "user", content: "hi" }
const functionTool = (name: string, strict: boolean) => ({
  type: "function",
  function: { name, strict, parameters: { type: "object", properties: { a: { type: "string" } } } }
})
const efforts = [undefined, "none", "minimal", "low", "medium", "high", "xhigh", "max"]
const thinkings = [
  undefined,
  { type: "disabled" },
  { type: "enabled" },
  { type: "adaptive" },
  ...[-1, 0, 1, 4096, 16_384, 32_768].map((budget_tokens) => ({ type: "enabled", budget_tokens }))
]
const samplings: ReadonlyArray<Words> = [
  {},
  { temperature: 0.5 },
  { top_p: 0.5, top_k: 4 },
  { presence_penalty: 1 },
  { frequency_penalty: -1 },
  { logprobs: true, top_logprobs: 3 },
  { seed: 7, stop: ["END"] }
]
const choices: ReadonlyArray<Words> = [
  undefined,
  "auto",
  "none",
  "required",
  "validated",
  { type: "function", function: { name: "f" } },
  { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] } }
].map((tool_choice) => ({
  tools: [functionTool("f", false), functionTool("g", true)],
  ...(tool_choice === undefined ? {} : { tool_choice })
}))
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const formats: ReadonlyArray<Words> = [
  {},
  { response_format: { type: "json_object" } },
  { response_format: { type: "json_schema", json_schema: { name: "out", schema } } }
]
const histories: ReadonlyArray<ChatRequest["messages"]> = [
  [user],
  [user, { role: "assistant", content: "Once" }],
  [user, { role: "assistant", content: "Once" }, { role: "system", content: "Be brief." }],
  [user, { role: "assistant", content: "" }],
  [
    user,
    { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "{}" }
  ]
]

/** XHIGH is younger than the published schemas. */
const published = (text: string): unknown => JSON.parse(text.replace('"XHIGH"', '"HIGH"'))

/** Bodies that the service of a model, and the published schema of a service, have accepted. Many requests give the same. */
const accepted = new Set<string>()
const valid = new Set<string>()

/** What is wrong with the body of a request; undefined for a good one, and for a request that is refused here. */
const faultOf = (id: string, kind: BuiltInKind, { messages = [user], ...words }: Words, record?: ModelRecord) => {
  const request = chatRequest(messages, words)
  const translated = chatToGeminiRequest(request, chatContext(id, { kind }))
  if (Result.isFailure(translated)) return { refused: translated.failure }
  const { body } = translated.success
  const text = JSON.stringify(body)
  const model = record?.id ?? id
  if (accepted.has(`${kind} ${model} ${text}`)) return undefined
  const service =
    kind === "google"
      ? ({ backend: "google", version: "v1beta" } as const)
      : ({ backend: "vertex", version: "v1" } as const)
  const verdict = validateGenerate(JSON.parse(text), { service, model, acceptForeignSignatures: true })
  if (!verdict.accepted) return { body, fault: verdict.error }
  const check = oracles[kind]
  if (check !== undefined && !valid.has(`${kind} ${text}`) && !check(published(text)))
    return { body, fault: check.errors }
  accepted.add(`${kind} ${model} ${text}`)
  valid.add(`${kind} ${text}`)
  return undefined
}

/** Functions with JSON are sent as asked; some models refuse both together (M-404). */
const isPossible = ({ tools_with_json }: ModelRecord, words: Words): boolean =>
  words.tools === undefined || words.response_format === undefined || tools_with_json === true

/** Each axis over the plainest request, then all pairs of values of two axes. */
const axes: ReadonlyArray<ReadonlyArray<Words>> = [
  efforts.flatMap((reasoning_effort) => [reasoning_effort === undefined ? {} : { reasoning_effort }]),
  thinkings.flatMap((thinking) => [thinking === undefined ? {} : { thinking }]),
  samplings,
  [{}, ...choices],
  formats,
  histories.map((messages) => ({ messages }))
]
const combinations: ReadonlyArray<Words> = axes.flatMap((one, at) =>
  axes.slice(at + 1).flatMap((other) => one.flatMap((first) => other.map((second) => ({ ...first, ...second }))))
)

describe("every Gemini model of the facts", () => {
  it("covers all models, both services and all pairs of parameters (M-1001)", () => {
    const possible = pairs.map(({ id }) => {
      const { record } = builtInModels.find(id)
      return combinations.filter((words) => isPossible(record, words)).length
    })
    expect([pairs.length, combinations.length, possible.reduce((sum, count) => sum + count, 0)]).toStrictEqual([
      57, 685, 38_667
    ])
  })
  it.each(pairs)("$id on $kind gets bodies that are accepted, for every two parameters (M-1001)", ({ id, kind }) => {
    const { record } = builtInModels.find(id)
    const faults = sample(combinations, 200)
      .filter((words) => isPossible(record, words))
      .flatMap((words) => {
        const fault = faultOf(id, kind, words)
        return fault === undefined ? [] : [{ words, ...fault }]
      })
    expect(faults).toStrictEqual([])
  })
  it("any combination of parameters is accepted by any model (M-1001)", () => {
    const anyWords = fc
      .tuple(...axes.map((axis) => fc.constantFrom(...axis)))
      .map((parts): Words => Object.assign({}, ...parts))
    fc.assert(
      fc.property(fc.constantFrom(...pairs), anyWords, ({ id, kind }, words) => {
        fc.pre(isPossible(builtInModels.find(id).record, words))
        expect(faultOf(id, kind, words)).toBe(undefined)
      }),
      { numRuns: runs(2_000) }
    )
  })
})

describe("unknown Gemini models", () => {
  const newest = records.filter(
    (record) => chats(record) && record.generation === "4" && record.output?.includes("image") !== true
  )
  const tiers = ["flash", "flash-lite", "pro", "xenon", "ultra"]
  /** A newer version of a known tier has the facts of that tier, which may be more than its generation takes. */
  const knownTiers = newest.map(({ id }) => id.slice("gemini-4-".length))
  const idsOf = (names: ReadonlyArray<string>) =>
    fc
      .tuple(fc.integer({ min: 4, max: 30 }), fc.integer({ min: 0, max: 9 }), fc.constantFrom(...names))
      .filter(([major, minor]) => major > 4 || minor > 0)
      .map(([major, minor, tier]) => ({ id: `gemini-${major}${minor === 0 ? "" : `.${minor}`}-${tier}`, tier }))
  it("the body of a newer version of a known tier is accepted by that tier (M-110, M-1002)", () => {
    expect(knownTiers.toSorted()).toStrictEqual(["argon", "argon-cyber-permissive", "carbon", "hydrogen", "neon"])
    fc.assert(
      fc.property(
        idsOf(knownTiers),
        fc.constantFrom(...kinds),
        fc.constantFrom(...combinations),
        (asked, kind, words) => {
          const { record } = builtInModels.find(`gemini-4-${asked.tier}`)
          expect(builtInModels.find(asked.id).from).toBe(record.id)
          expect(faultOf(asked.id, kind, words, record)).toBe(undefined)
        }
      ),
      { numRuns: runs(200) }
    )
  })
  it("the body of a newer id is accepted by every model of the newest generation (M-1002)", () => {
    fc.assert(
      fc.property(idsOf(tiers), fc.constantFrom(...kinds), fc.constantFrom(...combinations), ({ id }, kind, words) => {
        for (const record of newest) expect(faultOf(id, kind, words, record)).toBe(undefined)
      }),
      { numRuns: runs(200) }
    )
  })
})
