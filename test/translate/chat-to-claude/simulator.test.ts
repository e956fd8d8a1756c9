// Tests every Claude model with every effort, thinking, sampling, tool choice, prefill and format: the simulator and the
// published schema take each body as it is (M-1001, M-1002). Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { validateMessages } from "../../../src/demo/google/claude/validate.ts"
import { parseName } from "../../../src/domain/models/modelName.ts"
import { builtInModels } from "../../../src/domain/models/modelTable.ts"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { chatToClaudeRequest } from "../../../src/translate/chat-to-claude/request.ts"
import type { MessagesBody } from "../../../src/wire/anthropic.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatRequest } from "../../support/chat.ts"
import { assistant, claudeContext, functionTool, type Rest, user } from "../../support/claude.ts"
import { isRelease, sample } from "../../support/release.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const published = schemaOracle("anthropic.schema.json", "VertexMessageCreateRequest")
if (sharedDir() === undefined) loudlySkipped("bodies of every Claude model against the published request schema")

const budget = (budget_tokens: number): Rest => ({ thinking: { type: "enabled", budget_tokens } })
const thoughts: ReadonlyArray<Rest> = [
  {},
  ...["none", "minimal", "low", "medium", "high", "xhigh", "max"].map((reasoning_effort): Rest => ({
    reasoning_effort
  })),
  ...[0, -1, 1, 4_000, 10_000, 50_000, 200_000].map(budget),
  ...["enabled", "adaptive", "disabled"].map((type): Rest => ({ thinking: { type } })),
  { ...budget(2_000), reasoning_effort: "max" },
  { thinking: { type: "disabled" }, reasoning_effort: "max" }
]
const samplings: ReadonlyArray<Rest> = [{}, { temperature: 1.5, top_p: 0.5, top_k: 5 }]
const declared = { tools: [functionTool("f"), functionTool("g")] }
const named = { type: "function", function: { name: "f" } }
const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [named] } })
const choices: ReadonlyArray<Rest> = [
  {},
  declared,
  ...["auto", "none", "required", named, allowed("auto"), allowed("required")].map((tool_choice): Rest => ({
    ...declared,
    tool_choice
  }))
]
const schemaFormat = (schema: JsonObject): Rest => ({
  response_format: { type: "json_schema", json_schema: { name: "n", schema } }
})
const string = { type: "string" }
const formats: ReadonlyArray<Rest> = [
  {},
  { response_format: { type: "json_object" } },
  schemaFormat({ type: "object", properties: { a: string, b: { type: "number", minimum: 1 } }, required: ["a"] }),
  schemaFormat({ type: "array", items: string }),
  schemaFormat({ type: "object", properties: { a: { $ref: "#" } } })
]
const talks: ReadonlyArray<ChatRequest["messages"]> = [[user("q")], [user("q"), assistant("The answer is ")]]

const requests: ReadonlyArray<ChatRequest> = thoughts.flatMap((thought) =>
  samplings.flatMap((sampling) =>
    choices.flatMap((choice) =>
      formats.flatMap((format) =>
        talks.map((talk) => chatRequest(talk, { ...thought, ...sampling, ...choice, ...format }))
      )
    )
  )
)

const refusalOf = (body: MessagesBody, model: string): string | undefined => {
  const verdict = validateMessages(body, { model, betaHeader: undefined, acceptForeignSignatures: false })
  return verdict.accepted ? undefined : verdict.message
}

/** 500 of them have every pair of values of two axes. */
const taken = sample(requests, 500)
const bodies = new Map<string, ReadonlySet<string>>()

/** The distinct bodies of these requests for one model, as JSON text. */
const bodiesOf = (model: string): ReadonlySet<string> => {
  const context = claudeContext(model)
  const made =
    bodies.get(model) ??
    new Set(taken.map((request) => JSON.stringify(Result.getOrThrow(chatToClaudeRequest(request, context)).body)))
  bodies.set(model, made)
  return made
}

/** Many models get the same bodies. */
const valid = new Set<string>()

const refusalsOf = (texts: ReadonlySet<string>, models: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  [...texts].flatMap((text) => {
    const body = JSON.parse(text) as MessagesBody
    const isValid = published === undefined || valid.has(text) || published(body)
    if (isValid) valid.add(text)
    return [
      ...(isValid ? [] : [[published.errors, text]]),
      ...models.flatMap((model) => {
        const refusal = refusalOf(body, model)
        return refusal === undefined ? [] : [[model, refusal, text]]
      })
    ]
  })

const claudeModels = builtInModels.ids.filter((id) => builtInModels.find(id).record.family === "claude")

describe("every Claude model with every parameter", () => {
  it("covers all models and all combinations of parameters (M-1001)", () => {
    expect([claudeModels.length, requests.length]).toStrictEqual([26, 3_200])
    const count = claudeModels.map((model) => bodiesOf(model).size).reduce((sum, size) => sum + size, 0)
    if (isRelease) expect(count).toBe(7_123)
  })
  it.each(claudeModels)("the simulator takes every body: %s (M-1001)", (model) => {
    expect(refusalsOf(bodiesOf(model), [model]).slice(0, 3)).toStrictEqual([])
  })
})

/** Families that exist, and families to come. */
const families = ["opus", "sonnet", "haiku", "fable", "mythos", "saga", "ode", "epic"]
const unknown = families.flatMap((family) =>
  Array.from({ length: 25 }, (_, at) => `claude-${family}-${6 + Math.floor(at / 5)}-${at % 5}`)
)

/** The newest known model of the id's family; of another family all models of the newest generation. */
const nearest = (id: string): ReadonlyArray<string> => {
  const newest = claudeModels.filter((known) => builtInModels.find(known).record.generation === "5.5")
  const tier = parseName(id)?.tier
  return families.indexOf(tier ?? "") < 5 ? [builtInModels.find(id).from] : newest
}

describe("Claude models to come", () => {
  it("the newest generation takes the bodies of 200 unknown ids (M-1002)", () => {
    expect(unknown).toHaveLength(200)
    const byRecord = Map.groupBy(unknown, (id) => `${builtInModels.find(id).from} ${nearest(id).join(",")}`)
    const refused = [...byRecord.values()].flatMap(([id = ""]) => refusalsOf(bodiesOf(id), nearest(id)).slice(0, 3))
    expect([refused, [...byRecord.keys()].toSorted()]).toStrictEqual([
      [],
      [
        "claude-fable-5-2 claude-fable-5-2",
        "claude-haiku-5-5 claude-haiku-5-5",
        "claude-mythos-5-1 claude-mythos-5-1",
        "claude-opus-5-5 claude-opus-5-5",
        "claude-opus-5-5 claude-opus-5-5,claude-sonnet-5-5,claude-haiku-5-5",
        "claude-sonnet-5-5 claude-sonnet-5-5"
      ]
    ])
  })
})
