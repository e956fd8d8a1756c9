// Refusals that depend on the generation of a Gemini model, in the words of each service (table H).
import { describe, expect, it } from "vitest"
import { validateGenerate } from "../../../../src/demo/google/gemini/validate.ts"
import type { Service } from "../../../../src/demo/google/gemini/validate.ts"

const services: Readonly<Record<string, Service>> = {
  google: { backend: "google", version: "v1beta" },
  vertex: { backend: "vertex", version: "v1" }
}
const user = { role: "user", parts: [{ text: "Hi" }] }
const model = { role: "model", parts: [{ text: "Hello" }] }

const verdict = (service: string, id: string, body: object): string => {
  const result = validateGenerate(
    { contents: [user], ...body },
    { service: services[service] ?? { backend: "google", version: "v1" }, model: id, acceptForeignSignatures: true }
  )
  return result.accepted ? "accepted" : result.error.message
}
const config = (generationConfig: object) => ({ generationConfig })
const level = (thinkingLevel: string) => config({ thinkingConfig: { thinkingLevel } })
const budget = (thinkingBudget: number) => config({ thinkingConfig: { thinkingBudget } })
const page = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
const answered = { functionDeclarations: [{ name: "f", description: "" }] }

type Row = readonly [service: string, id: string, body: object, message: string]

const rows: ReadonlyArray<Row> = [
  ["google", "gemini-2.5-flash", level("LOW"), "Thinking level is not supported for this model."],
  [
    "google",
    "gemini-3.8-flash",
    level("MINIMAL"),
    "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level."
  ],
  [
    "vertex",
    "gemini-3-pro-preview",
    level("MEDIUM"),
    `Unable to submit request because thinking_level MEDIUM is not supported by this model. ${page}`
  ],
  ["google", "gemini-4-neon", level("XHIGH"), "accepted"],
  [
    "google",
    "gemini-4-argon",
    level("XHIGH"),
    "Thinking level XHIGH is not supported for this model. Please retry with other thinking level."
  ],
  ["google", "gemma-4-31b-it", level("HIGH"), "accepted"],
  [
    "google",
    "gemma-4-31b-it",
    level("LOW"),
    "Thinking level LOW is not supported for this model. Please retry with other thinking level."
  ],
  [
    "vertex",
    "gemini-2.5-pro",
    budget(0),
    "Unable to submit request because The model does not support setting thinking_budget to 0"
  ],
  ["google", "gemini-2.5-pro", budget(0), "Budget 0 is invalid. This model only works in thinking mode."],
  [
    "google",
    "gemini-2.5-pro",
    budget(52_428),
    "The thinking budget (52428) is invalid. Please choose a value between 128 and 32768."
  ],
  ["google", "gemini-3.8-flash", budget(1024), "accepted"],
  ["vertex", "gemini-4-neon", budget(1024), "Thinking budget is not supported for this model."],
  ["google", "gemini-3.5-flash", { contents: [user, model] }, "accepted"],
  ["google", "gemini-3.6-flash", { contents: [user, model] }, "Requests ending with a model turn are not supported."],
  ["vertex", "gemini-4-neon", { contents: [user, model] }, "Requests ending with a model turn are not supported."],
  ["google", "gemini-2.5-flash", config({ presencePenalty: 1 }), "Penalty is not enabled for models/gemini-2.5-flash"],
  ["vertex", "gemini-2.5-flash", config({ presencePenalty: 1 }), "accepted"],
  ["vertex", "gemini-3.8-flash", config({ frequencyPenalty: 1 }), "Penalty is not enabled for this model"],
  [
    "google",
    "gemini-2.5-flash",
    config({ responseLogprobs: true }),
    "Logprobs is not enabled for models/gemini-2.5-flash"
  ],
  [
    "vertex",
    "gemini-3.5-flash",
    config({ responseLogprobs: true, logprobs: 2 }),
    "Unable to submit request because Logprobs is not supported for this model."
  ],
  ["google", "gemini-2.5-flash", config({ candidateCount: 8 }), "accepted"],
  ["google", "gemini-3.8-flash", config({ candidateCount: 2 }), "Multiple candidates is not enabled for this model"],
  [
    "vertex",
    "gemini-4-neon",
    config({ candidateCount: 3 }),
    "Unable to submit request because candidateCount must be 1 but the entered value was 3. " +
      "Update the candidateCount value and try again."
  ],
  [
    "vertex",
    "gemini-2.5-flash",
    { tools: [answered], ...config({ responseMimeType: "application/json" }) },
    "Function calling with a response mime type: 'application/json' is unsupported"
  ],
  [
    "vertex",
    "gemini-3.8-flash",
    { tools: [answered], ...config({ responseMimeType: "application/json" }) },
    "accepted"
  ],
  ["google", "gemini-4-neon", { cachedContent: "cachedContents/a" }, "CachedContent is not supported for this model."],
  ["google", "gemini-3.8-flash", config({ temperature: 1.5, topP: 0.5, topK: 3 }), "accepted"]
]

describe("refusals of Gemini by generation", () => {
  it.each(rows)("the simulator judges as %s does for %s: case %# (M-1000)", (service, id, body, message) => {
    expect(verdict(service, id, body)).toBe(message)
  })
})

describe("contents of one role in a row", () => {
  const call = (name: string) => ({ role: "model", parts: [{ functionCall: { name, args: {} } }] })
  const result = (name: string) => ({ role: "user", parts: [{ functionResponse: { name, response: {} } }] })

  it("the simulator takes two texts, two calls and two results in contents of their own (T108)", () => {
    expect([
      verdict("google", "gemini-2.5-flash", { contents: [user, user, model, model, user] }),
      verdict("google", "gemini-2.5-flash", {
        contents: [user, call("a"), call("b"), result("a"), result("b")],
        tools: [answered]
      }),
      verdict("google", "gemini-2.5-flash", { contents: [user, model, call("a"), result("a")], tools: [answered] })
    ]).toEqual(["accepted", "accepted", "accepted"])
  })

  it("the simulator refuses a result that is missing, wherever the others are (T108)", () => {
    expect(verdict("google", "gemini-2.5-flash", { contents: [user, call("a"), call("b"), result("a")] })).toBe(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
    )
  })
})
