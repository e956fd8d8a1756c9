// Tests the labels of attribution: their section, their values in Google's grammar, and how they stand under those of a call.
// Must not depend on requests.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import {
  attributionLabels,
  attributionSection,
  labelsUnder,
  labelValue
} from "../../../src/domain/settings/attribution.ts"
import { digestOfText } from "../../../src/store/Carriers.ts"

const valueOf = (text: string) => labelValue(text, digestOfText)
const grammar = /^[a-z0-9_-]{0,63}$/

describe("values of labels", () => {
  it("labels: a text in Google's grammar stays as it is (K30)", () => {
    const plain = ["ci", "team-a_1", "0", "", "x".repeat(63)]
    expect(plain.map(valueOf)).toEqual(plain)
  })

  it("labels: any other text is mapped, ends in its digest, and stays apart from its like (K30)", () => {
    expect(valueOf("Team A")).toBe(`team-a-${digestOfText("Team A").slice(0, 8)}`)
    const alike = [
      "Team A",
      "team a",
      "TEAM A",
      "team  a",
      "team.a",
      "équipe",
      "É",
      "x".repeat(64),
      `${"x".repeat(64)}y`
    ]
    const values = alike.map(valueOf)
    expect([values.every((value) => grammar.test(value)), new Set(values).size]).toEqual([true, alike.length])
  })
})

describe("labels of a request", () => {
  const sources = { gateway_key: "key", team: "metadata.team", env: "prod" }

  it("labels: come from the key, the metadata and fixed texts; absent metadata has none (K30)", () => {
    const key = { name: "CI" }
    expect([
      attributionLabels(sources, { key, metadata: { team: "search" } }, (text) => `<${text}>`),
      attributionLabels(sources, { key, metadata: {} }, (text) => `<${text}>`),
      attributionLabels({ a: "metadata.toString" }, { key, metadata: {} }, (text) => text)
    ]).toEqual([{ gateway_key: "<CI>", team: "<search>", env: "<prod>" }, { gateway_key: "<CI>", env: "<prod>" }, {}])
  })

  it("labels: those of the call win, and all together are at most 64 (K30)", () => {
    const full = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`l${at}`, "x"]))
    expect([labelsUnder({ env: "dev" }, { env: "prod", team: "a" }), labelsUnder(full, { a: "1", b: "2" })]).toEqual([
      { env: "dev", team: "a" },
      { ...full, a: "1" }
    ])
  })
})

describe("the section attribution", () => {
  const decode = Schema.decodeUnknownResult(attributionSection)
  const isTaken = (labels: unknown) => Result.isSuccess(decode({ labels }))

  it("attribution: takes names in Google's grammar, and known sources or fixed texts (K30)", () => {
    expect(isTaken({ gateway_key: "key", team: "metadata.team", env: "prod" })).toBe(true)
    const refused = [
      { Env: "prod" },
      { a: "" },
      { "1a": "x" },
      { a: "Prod" },
      { a: "metadata." },
      { a: "team" },
      { a: "end_user" }
    ]
    expect(refused.map(isTaken)).toEqual(refused.map(() => false))
  })

  it("attribution: takes at most 32 labels, as many as Google takes for its partners (K30)", () => {
    const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, "x"]))
    expect([isTaken(labels(32)), isTaken(labels(33))]).toEqual([true, false])
  })
})
