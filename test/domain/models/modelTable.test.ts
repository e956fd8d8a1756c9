// Tests the table of model facts: look-up, inheritance for unknown ids, overlays, and the data file itself.
// Must not depend on a translator or a provider.
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { builtInModels, modelTable, recordOn } from "../../../src/domain/models/modelTable.ts"
import { ModelFields, type ModelRecord } from "../../../src/domain/models/ModelRecord.ts"
import { matchesPattern } from "../../../src/domain/models/modelName.ts"
import { factsFile, factsTarget } from "../../support/generateFacts.ts"
import { loudlySkipped, sharedDir } from "../../support/shared.ts"

const { find, ids } = builtInModels
const root = join(import.meta.dirname, "../../..")

/** The source and the record that an id leads to. */
const found = (id: string): readonly [source: string, from: string] => {
  const { from, source } = find(id)
  return [source, from]
}

describe("data file of model facts", () => {
  it("data file: every record is valid and stays the same when decoded (M-100)", () => {
    const decode = Schema.decodeUnknownSync(ModelFields)
    for (const id of ids) {
      const { id: written, ...fields } = find(id).record
      expect(written).toBe(id)
      expect(decode(fields, { onExcessProperty: "error" })).toStrictEqual(fields)
    }
    expect(ids).toHaveLength(118)
  })

  it("data file: one line states a model in full (M-100)", () => {
    expect(find("gemini-4-hydrogen").record).toStrictEqual({
      id: "gemini-4-hydrogen",
      family: "gemini",
      generation: "4",
      stage: "ga",
      release: "2026-11-12",
      context: 1_048_576,
      max_output: 1_048_576,
      input: [
        "text",
        "image",
        "audio",
        "video",
        "pdf",
        "docx",
        "dotx",
        "doc",
        "pptx",
        "ppt",
        "xlsx",
        "xls",
        "odt",
        "odp",
        "ods"
      ],
      output: ["text"],
      operation: "generateContent",
      providers: ["google", "vertex-ai"],
      locations: ["global", "us", "eu"],
      allows_prefill: false,
      tools_with_json: true,
      builtin_with_functions: true,
      forced_tool_choice: true,
      forced_tool_choice_with_thinking: true,
      candidate_count_max: 1,
      requires_signatures: true,
      sampling: {
        refused: ["presence_penalty", "frequency_penalty", "candidate_count>1", "thinking_budget"],
        ignored: ["temperature", "top_p", "top_k"]
      },
      thinking: { control: "level", levels: ["low", "medium", "high", "xhigh"], default: "high", can_disable: false },
      caching: { implicit: true, explicit: false, min_tokens: 4_096 },
      long_decode: { stream: 65_536, unary: 65_536 },
      price: { input: 1.5, cached_input: 0.075, output: 7.5 }
    })
  })

  it("data file: equals the output of npm run facts (M-100)", () => {
    const shared = sharedDir()
    if (shared === undefined) return loudlySkipped("the comparison of the facts with their source")
    const source = readFileSync(join(shared, "specs/models.json"), "utf8")
    expect(readFileSync(join(root, factsTarget), "utf8")).toBe(factsFile(source))
  })

  it("data file: the five listed Imagen models are marked as shut down (M-100)", () => {
    const asked = [
      "imagen-3.0-generate-001",
      "imagen-3.0-fast-generate-001",
      ...[6, 5, 2].map((n) => `imagegeneration@00${n}`)
    ]
    expect(asked.map((id) => [find(id).record.id, find(id).record.stage])).toEqual(asked.map((id) => [id, "shut_down"]))
  })

  it("data file: the moving names have no level MINIMAL, no prefill and no sampling (M-111)", () => {
    for (const id of ["gemini-flash-latest", "gemini-flash-lite-latest", "gemini-pro-latest"]) {
      const { allows_prefill, sampling, thinking } = find(id).record
      expect([allows_prefill, sampling?.ignored, thinking?.levels]).toEqual([
        false,
        ["temperature", "top_p", "top_k"],
        ["low", "medium", "high"]
      ])
    }
  })

  it("data file: Claude models that refuse a forced tool take schemas natively, others as a tool (M-421, M-422)", () => {
    const native = ids.filter((id) => find(id).record.structured_output === "native")
    expect(native).toEqual([
      "claude-fable-5-1",
      "claude-fable-5-2",
      "claude-opus-5-5",
      "claude-sonnet-5-5",
      "claude-mythos-5-1"
    ])
  })
})

describe("look-up of a model id", () => {
  it.each([
    ["gemini-2.5-flash", "gemini-2.5-flash"],
    ["models/Gemini-2.5-Flash", "gemini-2.5-flash"],
    ["publishers/google/models/gemini-4-neon", "gemini-4-neon"],
    ["gemini-2.5-pro-preview-06-05", "gemini-2.5-pro"],
    ["gemini-3.1-pro", "gemini-3.1-pro-preview"],
    ["gemini-3.8-flash-001", "gemini-3.8-flash"],
    ["claude-sonnet-4-5", "claude-sonnet-4-5@20250929"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"],
    ["claude-opus-4-8@default", "claude-opus-4-8"],
    ["claude-opus-5-5-latest", "claude-opus-5-5"],
    ["multimodalembedding", "multimodalembedding@001"]
  ])("look-up: %s is known as %s (M-101)", (written, id) => {
    expect(found(written)).toEqual(["file", id])
  })

  it.each([
    ["gemini-4.5-flash", "gemini-4-argon"],
    ["gemini-3.9-flash", "gemini-3.8-flash"],
    ["gemini-5-xenon", "gemini-4-argon"],
    ["gemini-3.5-pro", "gemini-3.1-pro-preview"],
    ["gemini-3.5-flash-image", "gemini-3.1-flash-image"],
    ["gemini-4-argon-tts", "gemini-3.8-flash-tts"],
    ["gemma-5-9b", "gemma-4-31b-it"],
    ["claude-opus-6", "claude-opus-5-5"],
    ["claude-haiku-6", "claude-haiku-5-5"],
    ["claude-opus-4-0", "claude-opus-4@20250514"],
    ["claude-verse-9", "claude-opus-5-5"],
    ["something-else", "gemini-4-argon"],
    ["claude", "gemini-4-argon"]
  ])("look-up: %s is unknown and inherits from %s (M-110)", (id, from) => {
    expect(found(id)).toEqual(["inherited", from])
  })

  it("look-up: every id of Claude means the same with @default (M-810)", () => {
    const claude = ids.filter((id) => find(id).record.family === "claude" && !id.includes("@"))
    expect(claude.length).not.toBe(0)
    expect(claude.map((id) => find(`${id}@default`).record)).toEqual(claude.map((id) => find(id).record))
  })

  it("look-up: an unknown id inherits no price, stage, days or successor (M-110)", () => {
    const { generation, price, release, shutdown, stage, successor } = find("gemini-3.9-flash").record
    expect({ generation, price, release, shutdown, stage, successor }).toEqual({ generation: "3.7" })
  })

  it.each([
    ["gemini-nano-banana-2.1", true],
    ["gemini-nano-banana-3", true],
    ["gemini-3-pro-image", true],
    ["gemini-2.0-flash-preview-image-generation", true],
    ["gemini-3.8-flash", false]
  ])("look-up: %s draws images: %s (M-112)", (id, draws) => {
    expect(find(id).record.output?.includes("image")).toBe(draws)
  })

  it("look-up: Gemma 4 takes the levels MINIMAL and HIGH, Gemma 3 takes none (M-113)", () => {
    expect(find("gemma-4-31b-it").record.thinking?.levels).toEqual(["minimal", "high"])
    expect(find("gemma-3-27b-it").record.thinking?.control).toBe("none")
  })

  const newest = ids
    .map((id) => find(id).record)
    .filter(({ generation, operation }) => generation === "4" && operation === "generateContent")

  it("look-up: a newer Gemini name gets facts that every model of its newest generation accepts (M-110)", () => {
    const name = fc.tuple(fc.integer({ min: 4, max: 99 }), fc.nat(9), fc.stringMatching(/^[a-z]{3,8}$/))
    const accepts = (mine: ModelRecord, theirs: ModelRecord): boolean =>
      (mine.thinking?.levels ?? []).every((level) => theirs.thinking?.levels?.includes(level)) &&
      mine.allows_prefill === false &&
      mine.sampling?.ignored?.length === 3
    const outcome = fc.check(
      fc.property(name, ([major, minor, tier]) => {
        fc.pre(!/image|banana|tts|live|audio|exp|preview|latest|default/.test(tier))
        const { record } = find(`gemini-${major}.${minor}-${tier}`)
        return newest.filter(({ output }) => !output?.includes("image")).every((one) => accepts(record, one))
      }),
      { numRuns: 200 }
    )
    expect(outcome.counterexample).toBe(null)
  })

  it("look-up: is total, and an id of the file has its own record (M-101)", () => {
    expect(fc.check(fc.property(fc.string(), (id) => find(id).record.family !== undefined)).failed).toBe(false)
    expect(ids.map((id) => find(id).record.id)).toEqual(ids)
  })
})

describe("model facts of the operator", () => {
  const table = modelTable({
    "gemini-5-*": { inherits: "gemini-4-neon", thinking: { levels: ["low", "medium", "high"], default: "medium" } },
    "claude-opus-5-5": { structured_output: "tool" },
    "*-exact": { context: 1 },
    "gemini-5-exact": { context: 2 }
  })

  it("overlay: fields are merged over the record one by one (M-102)", () => {
    const { record, source, from } = table.find("gemini-5-xenon")
    const { price: _, release: __, stage: ___, ...neon } = find("gemini-4-neon").record
    expect([source, from]).toEqual(["user", "gemini-5-*"])
    expect(record).toStrictEqual({
      ...neon,
      thinking: { control: "level", levels: ["low", "medium", "high"], default: "medium", can_disable: false }
    })
    expect(table.find("claude-opus-5-5").record).toStrictEqual({
      ...find("claude-opus-5-5").record,
      structured_output: "tool"
    })
  })

  it("overlay: an exact id precedes a pattern, and both precede the file (M-101)", () => {
    expect(table.find("gemini-5-exact").record.context).toBe(2)
    expect(table.find("gemini-9-exact").record.context).toBe(1)
    expect(table.find("claude-opus-5-5").from).toBe("claude-opus-5-5")
    expect(table.find("gemini-4-neon")).toBe(find("gemini-4-neon"))
  })

  it("overlay: a pattern matches a whole id", () => {
    expect(["a*", "*a", "a*c", "*b*", "abc", "*", "a*b*c"].map((pattern) => matchesPattern(pattern, "abc"))).toEqual([
      true,
      false,
      true,
      true,
      true,
      true,
      true
    ])
    expect(["ab", "ab*bc", "*abcd", "abc*c"].map((pattern) => matchesPattern(pattern, "abc"))).toEqual([
      false,
      false,
      false,
      false
    ])
  })
})

describe("routed model ids", () => {
  it("routed id: has the facts of the model that answers from its day on, on that provider (M-722)", () => {
    const idsOn = (provider: string, day: string): string => recordOn(builtInModels, "gemini-2.5-pro", provider, day).id
    expect([idsOn("google", "2026-11-30"), idsOn("google", "2026-12-01"), idsOn("vertex-ai", "2026-12-01")]).toEqual([
      "gemini-2.5-pro",
      "gemini-3.8-flash",
      "gemini-2.5-pro"
    ])
  })
})
