// Estimates of native requests: text, media in both spellings, bounds of the output.
import { describe, expect, it } from "vitest"
import { nativeEstimate } from "../../../src/translate/native/nativeEstimate.ts"

const text = "x".repeat(400)
const media = { mimeType: "image/png", data: "A".repeat(4 * 1024) }

describe("native estimates", () => {
  it("native estimate: text counts by its length, media by their size (N306)", () => {
    const plain = nativeEstimate("generateContent", { contents: [{ role: "user", parts: [{ text }] }] }, 10)
    expect(plain).toStrictEqual({ input: 105, output: 10, images: 0 })
    const camel = nativeEstimate(
      "generateContent",
      { contents: [{ role: "user", parts: [{ text }, { inlineData: media }] }] },
      10
    )
    const snake = nativeEstimate(
      "generateContent",
      {
        contents: [
          { role: "user", parts: [{ text }, { inline_data: { mime_type: media.mimeType, data: media.data } }] }
        ]
      },
      10
    )
    expect([camel.input, snake.input]).toStrictEqual([370, 371])
  })
  it("native estimate: the output is bounded by the request, in either spelling (N306)", () => {
    const contents = [{ parts: [] }]
    expect(
      [
        { contents, generationConfig: { maxOutputTokens: 7, candidateCount: 2 } },
        { contents, generation_config: { max_output_tokens: 7 } },
        { contents, generationConfig: { thinkingConfig: { thinkingBudget: 5 } } }
      ].map((body) => nativeEstimate("streamGenerateContent", body, 100).output)
    ).toStrictEqual([14, 7, 105])
  })
  it("native estimate: pictures of predict are counted, and counts of tokens are free (N306)", () => {
    expect([
      nativeEstimate("predict", { instances: [{ prompt: "x" }], parameters: { sampleCount: 3 } }, 1).images,
      nativeEstimate("predict", { instances: [{ content: "x" }] }, 1).images,
      nativeEstimate("rawPredict", { messages: [], max_tokens: 9 }, 1).output,
      nativeEstimate("countTokens", { contents: [text] }, 1)
    ]).toStrictEqual([3, 0, 9, { input: 0, output: 0, images: 0 }])
  })
})
