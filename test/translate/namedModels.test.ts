// Tests which models a body names: the table against every request of the published schemas, in both spellings.
// Must not know which models may be called.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/text/json.ts"
import { namedModels, namingMembers } from "../../src/translate/namedInBody.ts"
import { camelName } from "../../src/translate/native/memberNames.ts"
import { loudlySkipped, sharedDir } from "../support/shared.ts"

const shared = sharedDir()
if (shared === undefined) loudlySkipped("models in bodies against the published schemas")

type Place = ReadonlyArray<string | 0>

/** Where the requests of a schema name a model: members called `model` or ending so, which are texts. */
const placesIn = (file: string, roots: RegExp): ReadonlyArray<Place> => {
  const schema: { readonly $defs: Readonly<Record<string, Json>> } = JSON.parse(
    readFileSync(join(shared ?? "", "specs", file), "utf8")
  )
  const found = new Map<string, Place>()
  const walk = (value: Json | undefined, path: Place, open: ReadonlyArray<string>): void => {
    if (!isJsonObject(value)) return
    const { $ref: ref, items, properties } = value
    const last = String(path.at(-1))
    if (/(?:^m|M)odel(?:Name)?$/.test(camelName(last)) && JSON.stringify(value).includes('"string"'))
      found.set(JSON.stringify(path), path)
    if (typeof ref === "string") {
      const name = ref.split("/").at(-1) ?? ""
      if (!open.includes(name)) walk(schema.$defs[name], path, [...open, name])
    }
    for (const name of ["anyOf", "oneOf", "allOf"]) {
      const kinds = value[name]
      if (Array.isArray(kinds)) for (const kind of kinds) walk(kind, path, open)
    }
    walk(items, [...path, 0], open)
    if (isJsonObject(properties))
      for (const [name, inner] of Object.entries(properties)) walk(inner, [...path, name], open)
  }
  for (const name of Object.keys(schema.$defs).filter((one) => roots.test(one))) walk(schema.$defs[name], [], [name])
  return [...found.values()]
}

/** The body that has a model at a place and nothing else. */
const bodyAt = (place: Place, model: string): Json => {
  const [step, ...rest] = place
  if (step === undefined) return model
  if (step === 0) return [bodyAt(rest, model)]
  // A tool with a model is an advisor.
  return { [step]: bodyAt(rest, model), ...(step === "model" ? { type: "advisor_20260301" } : {}) }
}

/** Rankers of documents are no models of the lists; `from` and `to` are models that answered earlier. */
const isOther = (place: Place): boolean => !place.some((step) => /^(?:rank_?[sS]ervice|from|to)$/.test(String(step)))

const requests = /^(GenerateContent|CountTokens|EmbedContent|BatchEmbedContents|Predict)Request$/

describe("models in bodies", () => {
  it.runIf(shared !== undefined).each([
    ["google-generativelanguage-v1beta.schema.json", "google", requests, 4],
    ["google-aiplatform-v1.schema.json", "google", requests, 4],
    ["google-aiplatform-v1beta1.schema.json", "google", requests, 4],
    ["anthropic.schema.json", "anthropic", /^VertexBetaMessageCreateRequest$/, 4]
  ] as const)(
    "named models: every place of %s is in the table, in both spellings (N203b)",
    (file, dialect, roots, least) => {
      const places = placesIn(file, roots).filter(isOther)
      expect(places.length).toBeGreaterThanOrEqual(least)
      const missed = places.filter((place) => {
        const body = bodyAt(place, "other")
        const bytes = Buffer.from(JSON.stringify(body))
        return [body, namingMembers(dialect, bytes)].some((one) => namedModels(dialect, one)[0]?.model !== "other")
      })
      expect(missed).toEqual([])
    }
  )

  const named = (body: JsonObject, dialect: "google" | "anthropic" = "google") => [
    namedModels(dialect, body),
    namedModels(dialect, namingMembers(dialect, Buffer.from(JSON.stringify(body))))
  ]

  it("named models: names the place as the body wrote it, and what is no text (N203b)", () => {
    const ranking = { llm_ranker: { model_name: "a" } }
    const tools = [{}, { retrieval: { vertexRagStore: { rag_retrieval_config: { ranking } } } }]
    const found = [
      { param: "model", model: 7 },
      { param: "tools[1].retrieval.vertexRagStore.ragRetrievalConfig.ranking.llmRanker.modelName", model: "a" }
    ]
    expect(named({ tools, model: 7 })).toEqual([found, found])
    const fallbacks = [{ param: "fallbacks[0].model", model: "b" }]
    expect(named({ fallbacks: [{ model: "b" }] }, "anthropic")).toEqual([fallbacks, fallbacks])
    const chosen = [{ param: "fallbacks", model: "default" }]
    expect(named({ fallbacks: "default" }, "anthropic")).toEqual([chosen, chosen])
  })

  it("named models: finds a member whose name has escapes (N203b)", () => {
    const bytes = Buffer.from(
      '{"contents":[],"generation\\u0043onfig":{"routingConfig":{"manualMode":{"modelN\\u0061me":"a"}}}}'
    )
    expect(namedModels("google", namingMembers("google", bytes))).toEqual([
      { param: "generationConfig.routingConfig.manualMode.modelName", model: "a" }
    ])
  })

  it("named models: reads nothing of a body without a mark, and no schema, text or argument (N203b)", () => {
    expect(namingMembers("google", Buffer.from('{"contents":[{"parts":[{"text":"a model"}]}]}'))).toEqual({})
    expect(
      named({
        contents: [{ parts: [{ text: "x", functionCall: { args: { model: "a" } } }] }],
        generationConfig: { responseSchema: { properties: { model: { type: "STRING" } } } }
      })
    ).toEqual([[], []])
  })
})
