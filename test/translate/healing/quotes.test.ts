// Pieces of refusals that an upstream may have quoted from the call, however it quotes, and pieces that it has not.
// Must not depend on which refusals are known.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { isQuoted } from "../../../src/translate/healing/refusals.ts"

const candidates = "candidateCount must be 1"
const betas = "Unexpected value(s) `context-1m-2025-08-07`, `effort-2025-11-24` for the `anthropic-beta` header"

const call = (body: Json, headers: Readonly<Record<string, string>> = {}, modelId = "gemini-2.5-pro") => ({
  body,
  headers,
  target: { modelId }
})

/** A call with the text where clients write it. */
const saying = (...texts: ReadonlyArray<string>) =>
  call({
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    safetySettings: texts.map((category) => ({ category }))
  })

const escaped = (text: string): string =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0))

it("quotes: a call with more than a mebibyte of text is not compared, and teaches nothing (TH41)", () => {
  const compared = (...texts: ReadonlyArray<string>) => isQuoted(candidates, saying(...texts))
  const most = 2 ** 20 - "gemini-2.5-pro".length - "user".length - "hi".length
  const names = "role".length + "parts".length + "text".length + "category".length
  expect([compared("x".repeat(most - names)), compared("x".repeat(most + 1))]).toEqual([false, true])
})

describe("a piece that is in the call", () => {
  it.each([
    ["as a value", saying(candidates)],
    ["within a longer value", saying(`${"x ".repeat(5_000)}${candidates}${" y".repeat(5_000)}`)],
    ["as a name", call({ tools: [{ parameters: { properties: { [candidates]: { type: "string" } } } }] })],
    ["as a name at the top", call({ [candidates]: true })],
    ["in a header", call({}, { "anthropic-beta": candidates })],
    ["as the model", call({}, {}, candidates)],
    ["in capitals", saying(candidates.toUpperCase())],
    ["with other separators", saying('candidateCount\n\t"must"\u00a0be -- 1')],
    ["with marks that are not shown", saying([...candidates].join("\u200b"))],
    ["in wide letters", saying(fullWidth(candidates))],
    ["in escapes", saying(escaped(candidates))],
    ["in escapes of escapes", saying(escaped(candidates).replaceAll("\\", "\\u005c"))],
    ["in JSON within JSON", saying(JSON.stringify(JSON.stringify({ a: candidates.replaceAll(" ", "\n") })))],
    ["in a URL", saying(`https://a.example/?q=${encodeURIComponent(candidates)}`)],
    ["in a URL within a URL", saying(encodeURIComponent(encodeURIComponent(candidates)))],
    ["in HTML", saying("candidateCount&nbsp;must&#32;be&#x20;&#49;")],
    ["over two values", saying("candidateCount must", "be 1")],
    ["over two values within a word", saying("candidateCou", "nt must be 1")],
    ["over two values far from each other", saying("a candidateCount", "and other words", "must be 1 now")],
    ["over many values in any order", saying("must", "1", "be", "candidateCount")],
    ["over a name and a value", call({ labels: { "my candidateCount": "must be 1 now" } })],
    ["without its last letter", saying("candidateCount must be")],
    ["without its first letter", saying("andidateCount must be 1, not 2")]
  ])("quotes: finds a piece %s (M-908)", (_where, asked) => {
    expect(isQuoted(candidates, asked)).toBe(true)
  })

  it.each([
    ["whole", betas],
    ["without its beginning", "for the `anthropic-beta` header, please"],
    ["without its end", "You send unexpected value(s)"],
    ["as a long text that the upstream cuts", `${betas} ${"and so on ".repeat(1_000)}`]
  ])("quotes: finds a long piece %s (M-908)", (_how, type) => {
    const body = { context_management: { edits: [{ type }] } }
    expect(isQuoted(betas, call(body, { "anthropic-beta": "context-1m-2025-08-07,effort-2025-11-24" }))).toBe(true)
  })

  it("quotes: finds the part of a piece that a sentence of the upstream completes (M-908)", () => {
    const piece = "Thinking level is not supported"
    const texts = ["thinking level", "thinking", "level", "a thinking level", "Thinking level is"]
    expect(texts.map((text) => isQuoted(piece, saying(text)))).toEqual([true, false, false, false, true])
  })

  it("quotes: take a call with more texts or escapes than are compared for the origin of any piece (M-908)", () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `word ${at}`)
    expect([19_990, 20_001].map((count) => isQuoted(candidates, call(words(count))))).toEqual([false, true])
    expect([99_990, 100_001].map((count) => isQuoted(candidates, call("%41".repeat(count))))).toEqual([false, true])
    expect(isQuoted(candidates, call(Array.from({ length: 100_000 }, () => "a")))).toBe(false)
  })

  it("quotes: find any piece of a text, in any case and with any separators (M-908)", () => {
    const word = fc.stringMatching(/^[a-z]{3,9}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), fc.nat(), fc.nat(), (words, from, length) => {
        const text = words.join(" ")
        const start = from % text.length
        const piece = text.slice(start, start + 1 + (length % (text.length - start)))
        fc.pre(/[a-z]/.test(piece))
        expect(isQuoted(piece.toUpperCase(), call({ a: [{ b: words.join("\n- ") }] }))).toBe(true)
      })
    )
  })
})

/** A long conversation about models, with words of refusals. */
const talk = [
  "Is a thinking level the same as a budget? Which level is low, and is it supported?",
  "The parameter candidateCount is in generationConfig. It must be a number. Let it be 1 or 2.",
  "What is temperature? It is a penalty for certainty. Multiple candidates cost more.",
  "Please write a function call with a response of type application/json",
  "This model is not mine. It does not end. Not supported: nothing.",
  "for this I need logprobs"
]

describe("a piece of the upstream's own words", () => {
  const tools = [{ name: "set_level", parameters: { properties: { level: { enum: ["is", "low", "minimal"] } } } }]
  const body: JsonObject = {
    contents: talk.map((text) => ({ role: "user", parts: [{ text }] })),
    tools,
    generationConfig: {
      candidateCount: 2,
      temperature: 1,
      presencePenalty: 1,
      responseLogprobs: true,
      stopSequences: ["be", "1"],
      thinkingConfig: { thinkingLevel: "MINIMAL", thinkingBudget: 52_428 }
    }
  }
  it.each([
    "Thinking level is not supported",
    "Thinking level MINIMAL is not supported",
    "thinking budget (52428) is invalid",
    "Budget 0 is invalid",
    "Requests ending with a model turn are not supported",
    "Penalty is not enabled for",
    "Logprobs is not enabled for",
    "Logprobs is not supported for",
    "Multiple candidates is not enabled",
    candidates,
    "Function calling with a response mime type",
    "function call `set_level` in the 2. content block is missing a `thought_signature"
  ])("quotes: does not find %s in a talk about models (M-908)", (piece) => {
    expect(isQuoted(piece, call(body))).toBe(false)
  })

  const claude: JsonObject = {
    anthropic_version: "2026-10-21",
    messages: [...talk, "anthropic_version is a field, context_management too"].map((content) => ({
      role: "user",
      content
    })),
    system: [{ type: "text", text: "x", cache_control: { type: "ephemeral", scope: "global" } }],
    thinking: { type: "disabled", block_binding: {} },
    output_config: { effort: "xhigh" },
    tool_choice: { type: "any" },
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] }
  }
  it.each([
    "temperature` is deprecated for this model",
    "does not support assistant message prefill",
    'tool_choice: type "tool" and "any" are not supported',
    'thinking.type.disabled" is not supported',
    '"type": "between_tools"} instead of {"type": "disabled"',
    "output_config.effort 'xhigh' is not supported when thinking is disabled",
    betas,
    "context_management: Extra inputs are not permitted",
    "thinking.block_binding: Extra inputs are not permitted",
    "cache_control.ephemeral.scope: Extra inputs are not permitted",
    "anthropic_version: Input should be 'vertex-2023-10-16'"
  ])("quotes: does not find %s in a call of Claude (M-908)", (piece) => {
    const headers = { "anthropic-beta": "context-1m-2025-08-07,effort-2025-11-24" }
    expect(isQuoted(piece, call(claude, headers, "claude-opus-4-6"))).toBe(false)
  })
})
