// Tests the token estimate of a body: text, dense scripts, numbers, media, and the expected usage of a request.
// Must not depend on prices or on limits.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { estimatePrompt, estimateTextTokens, estimateTokens } from "../../src/domain/estimateTokens.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { estimatedUsage } from "../../src/operations/operationRules.ts"
import { noUsage } from "../../src/operations/usage.ts"

const kib128 = "A".repeat(((128 * 1024) / 3) * 4)
const base64 = (text: string) => Buffer.from(text).toString("base64")

const part = (type: string, member: Json) => [{ role: "user", content: [{ type, [type]: member }] }]
/** The names of a message with one part, whose member is an object with one member. */
const around = "roleusercontenttype".length

const rows: ReadonlyArray<readonly [name: string, input: Json, tokens: number]> = [
  ["an empty value is zero", "", 0],
  ["four characters are a token, rounded up", "abcde", 2],
  ["every Chinese character is a token", "你好世界", 4],
  ["Japanese and Korean characters count as Chinese ones", "こんにちは 안녕", 8],
  ["full-width and Latin text are counted separately", "ＡＢ abc", 3],
  ["ideographs beyond the first plane and emoji count once", "𠮷😀", 2],
  ["other scripts count as Latin does", "Привет, мир!", 3],
  ["numbers may be tokens themselves", [1, 2, 3], 3],
  ["names and strings of objects count", { role: "user", content: "Hi" }, 5],
  ["true, false and null are free", [true, false, null], 0],
  ["an image to be fetched is a tile", { image_url: { url: "https://host/a.png" } }, 258 + 3],
  ["an image as data is a tile", { image_url: { url: "data:image/png;base64,AAAA" } }, 258 + 3],
  ["128 KiB of sound are a tile", { data: { data: kib128, format: "pcm16" } }, 258 + 5],
  ["a byte over 128 KiB of sound is a tile more", { data: { data: `${kib128}AA`, format: "pcm16" } }, 2 * 258 + 5],
  ["data without a type count as text", { data: kib128 }, 32_768 + 1],
  ["little data without a type count as media", { data: "AAAA" }, 258 + 1],
  ["text that begins like data counts as text", "data:image/png;base64,AAAA", 7],
  [
    "text of a message that begins like data counts as text",
    [{ role: "user", content: `data:${"x".repeat(400)}` }],
    Math.ceil((405 + "roleusercontent".length) / 4)
  ],
  [
    "media names on a message are text",
    [{ role: "user", content: "", data: "x".repeat(400), image_url: { url: "x".repeat(400) } }],
    Math.ceil((800 + "roleusercontentdataimage_urlurl".length) / 4)
  ],
  [
    "an image of a part is a tile",
    part("image_url", { url: "data:image/png;base64,AAAA" }),
    258 + Math.ceil((around + "image_url".length * 2 + "url".length) / 4)
  ],
  [
    "128 KiB of sound of a part are a tile",
    part("input_audio", { data: kib128, format: "pcm16" }),
    258 + Math.ceil((around + "input_audio".length * 2 + "dataformatpcm16".length) / 4)
  ],
  [
    "media members of another part type are text",
    [{ content: [{ type: "text", image_url: { url: "x".repeat(400) } }] }],
    Math.ceil((400 + "contenttypetextimage_urlurl".length) / 4)
  ],
  [
    "a text document as data is text",
    part("file", { file_data: `data:text/plain;base64,${"A".repeat(377)}` }),
    Math.ceil((300 + around + "filefilefile_data".length) / 4)
  ],
  [
    "a text document is found by its name",
    part("file", { file_data: "A".repeat(400), filename: "a.csv" }),
    Math.ceil((300 + around + "filefilefile_datafilenamea.csv".length) / 4)
  ],
  [
    "the declared type goes before the name",
    part("file", { file_data: "A".repeat(400), mime_type: "text/csv", filename: "a.png" }),
    Math.ceil((300 + around + "filefilefile_datamime_typetext/csvfilenamea.png".length) / 4)
  ],
  [
    "a PDF counts as media",
    part("file", { file_data: "A".repeat(400), filename: "a.pdf" }),
    258 + Math.ceil((around + "filefilefile_datafilenamea.pdf".length) / 4)
  ],
  [
    "bare base64 in place of an address counts as text",
    part("file", { file_url: "A".repeat(1024 * 1024) }),
    Math.ceil((3 * 256 * 1024 + around + "filefilefile_url".length) / 4)
  ],
  [
    "bare base64 in place of an image's address is media",
    part("image_url", { url: "A".repeat(1024 * 1024) }),
    6 * 258 + Math.ceil((around + "image_urlimage_urlurl".length) / 4)
  ],
  [
    "a text that is declared to be a picture counts as text",
    part("file", { file_data: base64("x".repeat(4_000)), mime_type: "image/png" }),
    Math.ceil((4_002 + around + "filefilefile_datamime_typeimage/png".length) / 4)
  ],
  [
    "a format that contradicts the type of the data counts as the more expensive one",
    part("file", { format: "pdf", file_data: `data:text/plain;base64,${base64("x".repeat(4_000))}` }),
    Math.ceil((4_002 + 17.25 + around + "filefileformatpdffile_data".length) / 4)
  ],
  [
    "a PDF that is declared to be text counts as text",
    part("file", { format: "txt", file_data: base64(`%PDF-1.7${"x".repeat(3_991)}`) }),
    Math.ceil((3_999 + around + "filefileformattxtfile_data".length) / 4)
  ],
  [
    "a small PDF that is declared to be text counts as media",
    part("file", { format: "txt", file_data: base64("%PDF-1.7\n") }),
    258 + Math.ceil((around + "filefileformattxtfile_data".length) / 4)
  ],
  [
    "a PDF without a type is media",
    part("file", { file_data: base64(`%PDF-1.7${"x".repeat(3_991)}`) }),
    258 + Math.ceil((around + "filefilefile_data".length) / 4)
  ],
  [
    "media in the answer of a function of Google's dialect are media",
    [
      {
        role: "user",
        parts: [{ functionResponse: { parts: [{ inlineData: { mimeType: "image/png", data: kib128 } }] } }]
      }
    ],
    258 + Math.ceil("roleuserpartsfunctionResponsepartsinlineDatamimeTypeimage/pngdata".length / 4)
  ],
  [
    "Anthropic's image is a tile",
    [{ content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: kib128 } }] }],
    258 + Math.ceil("contenttypeimagesourcetypebase64media_typeimage/pngdata".length / 4)
  ],
  [
    "Anthropic's document in plain text is text",
    [{ content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: "x".repeat(400) } }] }],
    Math.ceil((400 + "contenttypedocumentsourcetypetextmedia_typetext/plaindata".length) / 4)
  ],
  [
    "an image within a tool result is a tile",
    [
      {
        content: [{ type: "tool_result", content: [{ type: "image", source: { type: "url", url: "https://host/a" } }] }]
      }
    ],
    258 + Math.ceil("contenttypetool_resultcontenttypeimagesourcetypeurlurl".length / 4)
  ],
  [
    "arguments of a tool call are text",
    [{ content: [{ type: "tool_use", input: { type: "image", source: { data: "x".repeat(400) } } }] }],
    Math.ceil((400 + "contenttypetool_useinputtypeimagesourcedata".length) / 4)
  ]
]

it.each(rows)("token estimate: %s", (_name, input, tokens) => expect(estimateTokens(input)).toBe(tokens))

it("token estimate: schemas contain no media", () => {
  const schema = {
    data: "x".repeat(40),
    image_url: { url: "x".repeat(40) },
    file: { file_data: `data:${"x".repeat(35)}` }
  }
  expect(estimateTextTokens(schema)).toBe(Math.ceil((120 + "dataimage_urlurlfilefile_data".length) / 4))
})

it("token estimate: two texts together are at most one token less than their sum", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
      const apart = estimateTokens(one) + estimateTokens(other)
      const joined = estimateTokens(one + other)
      expect(joined).toBeLessThanOrEqual(apart)
      expect(joined).toBeGreaterThanOrEqual(apart - 1)
    })
  )
})

it.each([
  ["declared by its format", { type: "input_audio", input_audio: { data: "AAAA", format: "pcm16" } }, 258],
  ["found in its bytes", { inlineData: { data: base64(`ID3${"\0".repeat(200_000)}`) } }, 2 * 258],
  ["declared by the extension of its address", { file_data: { file_uri: "gs://b/a", mime_type: "audio/mp3" } }, 258],
  ["none in a picture", { inlineData: { mimeType: "image/png", data: "AAAA" } }, 0],
  ["none in what counts as text", { inlineData: { mimeType: "audio/mp3", data: base64("x".repeat(4_000)) } }, 0]
])("token estimate: sound is %s (N310)", (_name, input, audio) => expect(estimatePrompt([input]).audio).toBe(audio))

describe("expected usage of a request", () => {
  const messages = [{ role: "user", content: "x".repeat(25) }]
  const input = 10
  it.each([
    ["a chat without a bound has the usual length", "chat", { messages }, { input, output: 500 }],
    ["a chat is bounded by its own limit", "chat", { messages, max_tokens: 7, n: 2 }, { input, output: 14 }],
    [
      "a bound above every number is the largest one",
      "chat",
      { messages, max_tokens: Infinity, n: 2 },
      { input, output: 2 * Number.MAX_SAFE_INTEGER }
    ],
    [
      "the newer name of the bound wins",
      "chat",
      { messages, max_tokens: 7, max_completion_tokens: 9 },
      { input, output: 9 }
    ],
    [
      "members that no model reads are left out",
      "chat",
      { messages, model: "m".repeat(400), user: "u".repeat(400) },
      { input, output: 500 }
    ],
    ["tools count as input", "chat", { messages, tools: ["x".repeat(40)], max_tokens: 1 }, { input: 20, output: 1 }],
    ["a native message is counted", "messages", { messages, system: "abcd", max_tokens: 3 }, { input: 11, output: 3 }],
    ["embeddings have no output", "embeddings", { input: ["abcd", [1, 2]] }, { input: 3 }],
    [
      "the larger of two bounds counts",
      "chat",
      { messages, max_tokens: 9, max_completion_tokens: 7 },
      { input, output: 9 }
    ],
    [
      "a bound of null is no bound",
      "chat",
      { messages, max_tokens: 9, max_completion_tokens: null },
      { input, output: 9 }
    ],
    [
      "thinking adds to the usual length",
      "chat",
      { messages, reasoning_effort: "medium" },
      { input, output: 500 + 8192 }
    ],
    ["thinking turned off adds nothing", "chat", { messages, reasoning_effort: "none" }, { input, output: 500 }],
    [
      "a budget of thinking goes before an effort",
      "chat",
      { messages, reasoning_effort: "high", thinking: { budget_tokens: 100 } },
      { input, output: 600 }
    ],
    [
      "thinking fits inside a bound",
      "chat",
      { messages, reasoning_effort: "high", max_tokens: 1000 },
      { input, output: 1000 }
    ],
    [
      "a native bound includes thinking",
      "messages",
      { messages, max_tokens: 100, thinking: { type: "enabled", budget_tokens: 1024 } },
      { input, output: 100 }
    ],
    ["unknown members count as input", "chat", { messages, documents: ["x".repeat(40)] }, { input: 20, output: 500 }],
    [
      "an image in a chat counts",
      "chat",
      { messages, max_tokens: 10, modalities: ["text", "image"] },
      { input, output: 1300, imageOutput: 1290 }
    ],
    [
      "images are counted by number",
      "images",
      { prompt: "abcd", n: 3 },
      { input: 3, output: 3870, imageOutput: 3870, images: 3 }
    ],
    [
      "larger images cost more",
      "images",
      { prompt: "abcd", size: "2048x1024" },
      { input: 1, output: 1680, imageOutput: 1680, images: 1 }
    ],
    [
      "the largest images cost the most",
      "images",
      { prompt: "abcd", image_size: "4K" },
      { input: 1, output: 2520, imageOutput: 2520, images: 1 }
    ],
    [
      "an unknown size counts as the largest",
      "images",
      { prompt: "abcd", imageSize: "9K" },
      { input: 1, output: 2520, imageOutput: 2520, images: 1 }
    ],
    [
      "an aspect ratio is not a size",
      "images",
      { prompt: "abcd", size: "16:9" },
      { input: 1, output: 1290, imageOutput: 1290, images: 1 }
    ],
    [
      "a number as a text counts in Google's own parameters",
      "chat",
      { messages, google: { thinking_config: { thinkingBudget: "24000" } } },
      { input, output: 24_500 }
    ],
    [
      "a cached content may fill the context",
      "chat",
      { messages, max_tokens: 1, extra_body: { google: { cached_content: "cachedContents/a" } } },
      { input: input + 2 ** 20, cached: 2 ** 20, output: 1 }
    ],
    [
      "a spoken answer has the price of sound",
      "chat",
      { messages, max_tokens: 10, modalities: ["audio"] },
      { input, output: 10, audioOutput: 10 }
    ],
    ["counting tokens is free", "countTokens", { messages }, {}],
    ["counting tokens natively is free", "messagesCountTokens", { messages }, {}]
  ] as const)("expected usage: %s", (_name, operation, body, used) =>
    expect(estimatedUsage(operation, body, 500)).toEqual({ ...noUsage, ...used })
  )

  it("expected usage: an image model's chat includes an image, and Claude's bound grows by a larger budget", () => {
    expect(estimatedUsage("chat", { messages, max_tokens: 10 }, 500, "gemini-nano-banana-2.1")).toEqual({
      ...noUsage,
      input,
      output: 1300,
      imageOutput: 1290
    })
    expect(
      estimatedUsage("chat", { messages, max_tokens: 1000, reasoning_effort: "medium" }, 500, "claude-haiku-4-5")
    ).toEqual({ ...noUsage, input, output: 9192 })
  })
})
