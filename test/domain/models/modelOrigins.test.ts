// The origin of each fact about a model.
import { expect, it } from "vitest"
import { builtInModels, explainModel, modelTable } from "../../../src/domain/models/modelTable.ts"

const originsOf = (names: ReadonlyArray<string>, origin: string) =>
  Object.fromEntries(names.map((name) => [name, origin]))

it("a known model has the facts of the file (M-103)", () => {
  const { record } = builtInModels.find("gemini-3.8-flash")
  expect(explainModel(builtInModels, "models/gemini-3.8-flash")).toEqual({
    object: "model_facts",
    model: "gemini-3.8-flash",
    from: "gemini-3.8-flash",
    record,
    origins: originsOf(Object.keys(record), "file")
  })
})

it("an unknown model names the model it inherits from (M-103)", () => {
  const { from, origins } = explainModel(builtInModels, "gemini-9-foo")
  expect([from, new Set(Object.values(origins))]).toEqual([
    "gemini-4-argon",
    new Set(["inherited from gemini-4-argon"])
  ])
})

it("what the operator states is the operator's, by id or pattern (M-103)", () => {
  const overlays = {
    "gemini-5-*": { inherits: "gemini-4-neon", context: 5 },
    "gemini-3.8-flash": { max_output: 7 }
  }
  const unknown = explainModel(modelTable(overlays), "gemini-5-one")
  const known = explainModel(modelTable(overlays), "gemini-3.8-flash")
  expect([unknown.from, unknown.origins["context"], unknown.origins["input"]]).toEqual([
    "gemini-5-*",
    "user",
    "inherited from gemini-4-neon"
  ])
  expect([known.from, known.origins["max_output"], known.origins["input"], known.record.max_output]).toEqual([
    "gemini-3.8-flash",
    "user",
    "file",
    7
  ])
})
