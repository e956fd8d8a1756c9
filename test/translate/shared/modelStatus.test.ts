// The life of a model as the Gemini API reports it.
import { expect, it } from "vitest"
import { endingText } from "../../../src/domain/models/modelLife.ts"
import { chunks, reply, stop } from "../../support/gemini.ts"
import { endingOf, modelStatusField } from "../../../src/translate/shared/gemini.ts"

it("the field has what the provider gives, and is absent without it (M-703)", () => {
  expect([
    modelStatusField(undefined),
    modelStatusField(null),
    modelStatusField({ modelStage: "STABLE" }),
    modelStatusField({ modelStage: "RETIRED", retirementTime: "2026-06-01T00:00:00Z", message: "Gone." })
  ]).toEqual([
    {},
    {},
    { model_status: { stage: "STABLE" } },
    { model_status: { stage: "RETIRED", retirement_time: "2026-06-01T00:00:00Z", message: "Gone." } }
  ])
})

it("deprecated and retired models end, and others do not (M-703)", () => {
  const warning = (stage: string, time?: string) => {
    const ending = endingOf({ stage, ...(time === undefined ? {} : { retirement_time: time }) })
    return ending === undefined ? undefined : endingText(ending)
  }
  expect([
    endingOf(undefined),
    warning("STABLE"),
    warning("LEGACY"),
    warning("DEPRECATED", "2027-06-01T00:00:00Z"),
    warning("DEPRECATED", "soon"),
    warning("RETIRED", "2026-06-01T00:00:00Z")
  ]).toEqual([
    undefined,
    undefined,
    undefined,
    "deprecated; shutdown=2027-06-01",
    "deprecated",
    "shut_down; shutdown=2026-06-01"
  ])
})

it("a stream has it in the chunk that ends an answer (M-703)", () => {
  const modelStatus = { modelStage: "DEPRECATED" }
  const seen = chunks([reply([{ text: "a" }], {}, { modelStatus }), reply([{ text: "b" }], stop)])
  expect(seen.map((chunk) => [chunk.choices[0]?.finish_reason, chunk.model_status])).toEqual([
    [null, undefined],
    [null, undefined],
    [null, undefined],
    ["stop", { stage: "DEPRECATED" }],
    [undefined, undefined]
  ])
})
