// Tests the patterns of conditions: JavaScript's results in bounded time, and the faults of refused patterns.
// Must not depend on conditions or configs.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parsePattern } from "../../../src/domain/text/linearPattern.ts"

const matches = (source: string, text: string): boolean =>
  Result.getOrThrowWith(parsePattern(source), (fault) => new Error(`${source} ${fault}`))(text, { left: 10_000_000 })

/** Sources JavaScript reads as well, so that its verdict is the oracle. */
const source: fc.Arbitrary<string> = fc.letrec<{
  readonly atom: string
  readonly piece: string
  readonly source: string
}>((tie) => ({
  atom: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      "a",
      "b",
      "-",
      "_",
      "0",
      " ",
      ".",
      "\\d",
      "\\D",
      "\\w",
      "\\W",
      "\\s",
      "\\S",
      "\\.",
      "\\x61",
      "\\u0062",
      "\\n",
      "]",
      "}"
    ),
    fc.constantFrom("[ab]", "[^a]", "[a-c0]", "[\\d-]", "[\\w-b]", "[-a]", "[]", "[^]", "[\\b]", "[.]", "{", "{a}"),
    tie("source").map((inner) => `(${inner})`),
    tie("source").map((inner) => `(?:${inner})`)
  ),
  piece: fc.oneof(
    fc.constantFrom("^", "$", "\\b", "\\B"),
    fc
      .tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "*?", "{2}", "{1,}", "{0,2}", "{1,2}?"))
      .map((both) => both.join(""))
  ),
  source: fc
    .array(
      fc.array(tie("piece"), { maxLength: 4 }).map((pieces) => pieces.join("")),
      { minLength: 1, maxLength: 2 }
    )
    .map((ways) => ways.join("|"))
})).source

describe("linear patterns", () => {
  it("pattern: matches what JavaScript's own expression matches", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "c", "0", "-", "_", " ", "\n", ".", "}", "{", "é"),
      maxLength: 8
    })
    fc.assert(
      fc.property(source, text, (pattern, subject) => {
        fc.pre(Result.isSuccess(parsePattern(pattern)))
        expect(matches(pattern, subject)).toBe(new RegExp(pattern).test(subject))
      }),
      { numRuns: 2_000, seed: 7 }
    )
  })

  it("pattern: stays linear where backtracking would not (TH33)", () => {
    const text = `${"a".repeat(4_000)}!`
    for (const pattern of [
      "^(a+)+$",
      "^(a|a)*$",
      "^(a|aa)+$",
      "a*a*a*a*a*a*b",
      "^(([a-z])+.)+[A-Z]$",
      "^(a*)*$",
      "(?:a?){20}a{20}b"
    ]) {
      expect(matches(pattern, text)).toBe(false)
    }
  })

  it("pattern: counts its steps, and stops within one character of the end of its budget (TH33)", () => {
    const read = Result.getOrThrow(parsePattern("a{0,200}b"))
    const stepsFor = (length: number): number => {
      const budget = { left: 10_000_000 }
      read("a".repeat(length), budget)
      return 10_000_000 - budget.left
    }
    expect([stepsFor(0), stepsFor(1), stepsFor(4_096) / stepsFor(2_048) < 2.1]).toEqual([3, 11, true])
    const budget = { left: 50_000 }
    expect(read("a".repeat(4_096), budget)).toBe(false)
    expect([budget.left < 0, budget.left > -2 * 512]).toEqual([true, true])
  })

  it("pattern: takes the same steps through a set whatever it lists", () => {
    const stepsOf = (source: string): number => {
      const budget = { left: 10_000_000 }
      Result.getOrThrow(parsePattern(source))("a".repeat(1_000), budget)
      return budget.left
    }
    expect(stepsOf("[acegikmoqsuwyACEGIKMOQSUWY02468]{0,200}!")).toBe(stepsOf("a{0,200}!"))
  })

  it("pattern: matches no text beyond its bound", () => {
    expect([matches("a", "a".repeat(4_096)), matches("a", "a".repeat(4_097))]).toEqual([true, false])
  })

  it.each([
    ["(?=a)", "may not use lookahead, lookbehind or named groups"],
    ["(?<n>a)", "may not use lookahead, lookbehind or named groups"],
    ["(a)\\1", 'may not hold "\\1"'],
    ["\\p", 'may not hold "\\p"'],
    ["\\u00g0", 'may not hold "\\u"'],
    ["a\\", 'may not hold "\\"'],
    ["(a", 'has a "(" without its ")"'],
    ["a)", 'has a ")" without its "("'],
    ["[a", 'has a "[" without its "]"'],
    ["[b-a]", "has a range of characters that ends before it begins"],
    ["*a", "repeats nothing"],
    ["a|+", "repeats nothing"],
    ["^*", "repeats an anchor"],
    ["a{2,1}", "has a range of repeats that ends before it begins"],
    ["a{201}", "repeats more than 200 times"],
    ["((a{20}){20}){20}", "repeats too much"],
    ["a".repeat(257), "is longer than 256 characters"]
  ])("pattern: refuses %s", (pattern, fault) => {
    expect(parsePattern(pattern)).toEqual(Result.fail(fault))
  })
})
