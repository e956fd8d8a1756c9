// How many tokens a body is taken for: text, dense scripts, numbers, media.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { estimateTokens } from "../../src/domain/estimateTokens.ts"
import type { Json } from "../../src/domain/json.ts"
import { estimatedUsage } from "../../src/http/estimatedUsage.ts"
import { nothing } from "../../src/http/usageOf.ts"

const kib128 = "A".repeat(128 * 1024 / 3 * 4)

const rows: ReadonlyArray<readonly [name: string, input: Json, tokens: number]> = [
  ["nothing", "", 0],
  ["four characters a token, the rest rounded up", "abcde", 2],
  ["Chinese: every character", "你好世界", 4],
  ["Japanese and Korean", "こんにちは 안녕", 8],
  ["full-width and Latin side by side", "ＡＢ abc", 3],
  ["ideographs beyond the first plane and emoji count once", "𠮷😀", 2],
  ["other scripts count as Latin does", "Привет, мир!", 3],
  ["numbers may be tokens themselves", [1, 2, 3], 3],
  ["names and strings of objects", { role: "user", content: "Hi" }, 5],
  ["true, false and null are free", [true, false, null], 0],
  ["a picture to be fetched is a tile", { image_url: { url: "https://host/a.png" } }, 258 + 3],
  ["a picture as data", { image_url: { url: "data:image/png;base64,AAAA" } }, 258 + 3],
  ["128 KiB of sound", { data: kib128 }, 258 + 1],
  ["a byte more is a tile more", { data: `${kib128}AA` }, 2 * 258 + 1]
]

it.each(rows)("%s", (_name, input, tokens) => expect(estimateTokens(input)).toBe(tokens))

it("of two texts is never more than one token less than that of both", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
    const apart = estimateTokens(one) + estimateTokens(other)
    const joined = estimateTokens(one + other)
    expect(joined).toBeLessThanOrEqual(apart)
    expect(joined).toBeGreaterThanOrEqual(apart - 1)
  }))
})

describe("what a request will probably use", () => {
  const messages = [{ role: "user", content: "x".repeat(25) }]
  const input = 10
  it.each([
    ["a chat of unbounded length", "chat", { messages }, { input, output: 500 }],
    ["a chat that bounds its answers", "chat", { messages, max_tokens: 7, n: 2 }, { input, output: 14 }],
    ["a bound beyond all numbers", "chat", { messages, max_tokens: Infinity, n: 2 }, { input, output: 2 * Number.MAX_SAFE_INTEGER }],
    ["the newer name of that wins", "chat", { messages, max_tokens: 7, max_completion_tokens: 9 }, { input, output: 9 }],
    ["what no model reads is left out", "chat", { messages, model: "m".repeat(400), user: "u".repeat(400) }, { input, output: 500 }],
    ["tools are read", "chat", { messages, tools: ["x".repeat(40)], max_tokens: 1 }, { input: 20, output: 1 }],
    ["a native message", "messages", { messages, system: "abcd", max_tokens: 3 }, { input: 11, output: 3 }],
    ["embeddings have no output", "embeddings", { input: ["abcd", [1, 2]] }, { input: 3 }],
    ["pictures by the piece", "images", { prompt: "abcd", n: 3 }, { input: 1, images: 3 }],
    ["counting is free", "countTokens", { messages }, {}],
    ["counting natively as well", "messagesCountTokens", { messages }, {}]
  ] as const)("%s", (_name, operation, body, used) => expect(estimatedUsage(operation, body, 500)).toEqual({ ...nothing, ...used }))
})
