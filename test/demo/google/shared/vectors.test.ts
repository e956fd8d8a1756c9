import { describe, expect, it } from "vitest"
import { embed, shorten } from "../../../../src/demo/google/shared/vectors.ts"

const dot = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number =>
  left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)

describe("simulated vectors", () => {
  const texts = [
    "The cat sits on the mat",
    "A cat sat on a mat",
    "Stock markets fell sharply today",
    "",
    "🎉",
    "日本語のテキスト"
  ]
  it("vectors: are of length one at full size", () => {
    for (const text of texts) expect(dot(embed(text, 768), embed(text, 768))).toBeCloseTo(1, 5)
  })
  it("vectors: are equal for equal texts, different for different ones", () => {
    for (const text of texts) expect(embed(text, 64)).toEqual(embed(text, 64))
    expect(new Set(texts.map((text) => JSON.stringify(embed(text, 64)))).size).toBe(texts.length)
  })
  it("vectors: are nearer for texts that share words than for others, in every size", () => {
    for (const size of [256, 768, 3072]) {
      const [first = [], second = [], third = []] = texts.map((text) => embed(text, size))
      expect(dot(first, second)).toBeGreaterThan(dot(first, third) + 0.2)
    }
  })
  it("vectors: turn a little with a mark", () => {
    const [plain, marked] = [embed("a question", 768), embed("a question", 768, ["RETRIEVAL_QUERY"])]
    expect(dot(plain, marked)).toBeGreaterThan(0.8)
    expect(dot(plain, marked)).toBeLessThan(0.999)
  })
  it("vectors: are shortened by cutting", () => {
    expect(shorten(embed("a", 768), 3)).toEqual(embed("a", 768).slice(0, 3))
    expect(shorten(embed("a", 768), undefined)).toHaveLength(768)
  })
})
