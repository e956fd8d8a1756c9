// Native requests for the other Google product: recorded ones against its published schema, and the rows of the table.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { crossRequest, withoutSignatures } from "../../../src/translate/native/crossing.ts"
import { crossCall } from "../../../src/translate/native/crossVerbs.ts"
import { loudlySkipped, type Recording, recordings, schemaOracle, sharedDir } from "../../support/shared.ts"
import { builtInModels } from "../../../src/domain/models/modelTable.ts"

const crossing = (
  verb: Parameters<typeof crossCall>[0],
  body: JsonObject,
  id: string,
  target: Parameters<typeof crossCall>[3]
) => crossCall(verb, body, { id, record: builtInModels.find(id).record }, target)

const to = (kind: "vertex-ai" | "google", more: object = {}) => ({
  kind,
  mixesTools: false,
  sharedRequestType: undefined,
  ...more
})
const toVertex = (body: JsonObject) => crossRequest(body, to("vertex-ai"))
const toGoogle = (body: JsonObject, more: object = {}) => crossRequest(body, to("google", more))
const crossed = (read: ReturnType<typeof toVertex>) => Result.getOrThrow(read)
const refusal = (read: Result.Result<unknown, { readonly _tag: string }>) =>
  Result.isFailure(read) && "param" in read.failure ? read.failure.param : undefined

const contents = [{ role: "user", parts: [{ text: "hi" }] }]

const generating = (folder: string): ReadonlyArray<readonly [string, JsonObject]> =>
  recordings(folder).flatMap((one: Recording) => {
    const { body } = one.request
    return typeof body === "object" && body !== null && "contents" in body
      ? [[one.id, body as JsonObject] as const]
      : []
  })

/** Every text, medium, call and result of a body, in order. */
const leaves = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value.flatMap(leaves)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === "text" || name === "data") return [inner]
    const isWhole = name === "args" || name === "response"
    return isWhole ? [JSON.stringify(inner)] : leaves(inner)
  })
}

describe("crossing: recorded requests", () => {
  it("recorded requests: are there when the recordings are (N1102)", () => {
    expect(generating("gemini-api").length > 0).toBe(sharedDir() !== undefined)
  })
  if (sharedDir() === undefined) loudlySkipped("recorded requests for crossing")
  const vertex = schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
  const google = schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest")
  it.each(generating("gemini-api"))(
    "crossing %s: fits the schema of Vertex AI, or is refused by name (N1102)",
    (_id, body) => {
      const read = toVertex(body)
      if (Result.isFailure(read)) {
        expect(refusal(read)).toMatch(
          /^(cachedContent|contents\[\d+\]\.parts\[\d+\]\.(fileData\.(fileUri|mimeType)|toolCall|toolResponse))$/
        )
        return
      }
      expect([vertex?.(read.success.body), vertex?.errors ?? null]).toStrictEqual([true, null])
      expect(leaves(read.success.body["contents"])).toStrictEqual(leaves(body["contents"]))
    }
  )
  it.each(generating("vertex-gemini"))(
    "crossing %s: fits the schema of the Gemini API, or is refused by name (N1102)",
    (_id, body) => {
      const read = toGoogle(body)
      if (Result.isFailure(read)) {
        expect(refusal(read)).toMatch(
          /^(cachedContent|modelArmorConfig|contents\[\d+\]\.parts\[\d+\]\.fileData\.fileUri)$/
        )
        return
      }
      expect([google?.(read.success.body), google?.errors ?? null]).toStrictEqual([true, null])
      expect(leaves(read.success.body["contents"])).toStrictEqual(leaves(body["contents"]))
    }
  )
})

describe("crossing: fields of the table", () => {
  it("crossing to Vertex AI: fields of the Gemini API are removed and named (N501)", () => {
    expect(
      crossed(
        toVertex({
          model: "models/x",
          contents: [
            {
              parts: [
                { text: "hi", part_metadata: { a: 1 } },
                { functionResponse: { name: "f", response: { some_key: 1 }, willContinue: true } }
              ]
            }
          ],
          serviceTier: "flex",
          store: true,
          safety_settings: [
            { category: "HARM_CATEGORY_TOXICITY", threshold: "BLOCK_NONE" },
            { category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }
          ],
          tools: [{ googleSearch: {}, functionDeclarations: [{ name: "f", parameters: { any_of: [] } }] }],
          toolConfig: { includeServerSideToolInvocations: true },
          generationConfig: { translationConfig: {}, max_output_tokens: 5 },
          newField: 1
        })
      )
    ).toStrictEqual({
      body: {
        contents: [
          { role: "user", parts: [{ text: "hi" }, { functionResponse: { name: "f", response: { some_key: 1 } } }] }
        ],
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
        tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "f", parameters: { any_of: [] } }] }],
        toolConfig: {},
        generationConfig: { maxOutputTokens: 5 },
        newField: 1
      },
      headers: { "x-vertex-ai-llm-shared-request-type": "flex" },
      ignored: [
        "store",
        "contents[0].parts[0].partMetadata",
        "contents[0].parts[1].functionResponse.willContinue",
        "toolConfig.includeServerSideToolInvocations",
        "safetySettings[0]",
        "generationConfig.translationConfig"
      ]
    })
  })
  it("crossing to the Gemini API: fields of Vertex AI are removed and named (N501)", () => {
    expect(
      crossed(
        toGoogle(
          {
            contents: [
              {
                role: "model",
                parts: [
                  { functionCall: { name: "f", args: {}, willContinue: false } },
                  { inlineData: { mimeType: "image/png", data: "AA==", displayName: "a" } }
                ]
              }
            ],
            labels: { a: "b" },
            safetySettings: [
              { category: "HARM_CATEGORY_IMAGE_HATE", threshold: "OFF" },
              { category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF", method: "SEVERITY" }
            ],
            tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "f" }] }],
            generationConfig: {
              audioTimestamp: true,
              imageConfig: { aspectRatio: "1:1", personGeneration: "ALLOW_ALL" }
            }
          },
          { mixesTools: true, sharedRequestType: "priority" }
        )
      )
    ).toStrictEqual({
      body: {
        contents: [
          {
            role: "model",
            parts: [{ functionCall: { name: "f", args: {} } }, { inlineData: { mimeType: "image/png", data: "AA==" } }]
          }
        ],
        serviceTier: "priority",
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
        tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "f" }] }],
        toolConfig: { includeServerSideToolInvocations: true },
        generationConfig: { imageConfig: { aspectRatio: "1:1" } }
      },
      headers: {},
      ignored: [
        "labels",
        "contents[0].parts[0].functionCall.willContinue",
        "contents[0].parts[1].inlineData.displayName",
        "safetySettings[0]",
        "safetySettings[1].method",
        "generationConfig.audioTimestamp",
        "generationConfig.imageConfig.personGeneration"
      ]
    })
  })
  it.each<readonly [string, ReturnType<typeof toVertex>]>([
    ["cachedContent", toVertex({ contents, cachedContent: "cachedContents/1" })],
    ["cachedContent", toGoogle({ contents, cached_content: "cachedContents/1" })],
    ["modelArmorConfig", toGoogle({ contents, modelArmorConfig: {} })],
    ["tools[0].fileSearch", toVertex({ contents, tools: [{ fileSearch: {} }] })],
    ["tools[0].retrieval", toGoogle({ contents, tools: [{ retrieval: {} }] })],
    ["contents[0].parts[0].toolCall", toVertex({ contents: [{ parts: [{ toolCall: {} }] }] })],
    [
      "contents[0].parts[0].fileData.fileUri",
      toVertex({
        contents: [{ parts: [{ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/a" } }] }]
      })
    ],
    [
      "contents[0].parts[0].fileData.mimeType",
      toVertex({ contents: [{ parts: [{ fileData: { fileUri: "https://a.example/b" } }] }] })
    ],
    [
      "contents[0].parts[0].fileData.fileUri",
      toGoogle({ contents: [{ parts: [{ fileData: { fileUri: "gs://a/b.png" } }] }] })
    ]
  ])("crossing: %s is refused by name (N501)", (param, read) => {
    expect(refusal(read)).toBe(param)
  })
  it("crossing: a file without a type gets that of its name (N501)", () => {
    expect(
      crossed(toVertex({ contents: [{ parts: [{ fileData: { fileUri: "https://a.example/b.png" } }] }] })).body[
        "contents"
      ]
    ).toStrictEqual([
      { role: "user", parts: [{ fileData: { fileUri: "https://a.example/b.png", mimeType: "image/png" } }] }
    ])
  })
  it("crossing: signatures are taken out for one more try, with the sentinel on first calls (N506)", () => {
    const call = (signature?: string) => ({
      functionCall: { name: "f", args: {} },
      ...(signature === undefined ? {} : { thoughtSignature: signature })
    })
    const body = { contents: [{ role: "model", parts: [{ text: "t", thoughtSignature: "a" }, call("b"), call()] }] }
    expect(withoutSignatures(body, true)).toStrictEqual({
      contents: [{ role: "model", parts: [{ text: "t" }, call("skip_thought_signature_validator"), call()] }]
    })
    expect(withoutSignatures(body, false)).toStrictEqual({
      contents: [{ role: "model", parts: [{ text: "t" }, call(), call()] }]
    })
  })
})

describe("crossing: verbs", () => {
  const calls = (read: ReturnType<typeof crossCall>) => Result.getOrThrow(read)
  const one = (verb: string, body: object) => ({ verb, body, headers: {}, ignored: [] })
  const text = (words: string) => ({ parts: [{ text: words }] })
  it("crossing: a batch of embeddings becomes calls of predict, and one answer (N504)", () => {
    const { answer, calls: made } = calls(
      crossing(
        "batchEmbedContents",
        {
          requests: [
            { content: text("a"), taskType: "RETRIEVAL_QUERY" },
            { content: text("b"), outputDimensionality: 2 }
          ]
        },
        "gemini-embedding-001",
        to("vertex-ai")
      )
    )
    expect(made).toStrictEqual([
      one("predict", { instances: [{ content: "a", task_type: "RETRIEVAL_QUERY" }] }),
      one("predict", { instances: [{ content: "b" }], parameters: { outputDimensionality: 2 } })
    ])
    const reply = (value: number) => ({ predictions: [{ embeddings: { values: [value] } }] })
    expect(answer?.([reply(1), reply(2)])).toStrictEqual({ embeddings: [{ values: [1] }, { values: [2] }] })
  })
  it("crossing: a batch of the newest model becomes calls of embedContent (N504)", () => {
    const { answer, calls: made } = calls(
      crossing(
        "batchEmbedContents",
        { requests: [{ content: text("a"), taskType: "X" }] },
        "gemini-embedding-2",
        to("vertex-ai")
      )
    )
    expect(made).toStrictEqual([one("embedContent", { content: text("a"), embedContentConfig: { taskType: "X" } })])
    expect(answer?.([{ embedding: { values: [1] } }])).toStrictEqual({ embeddings: [{ values: [1] }] })
  })
  it("crossing: texts of predict become a batch, and predictions (N504)", () => {
    const { answer, calls: made } = calls(
      crossing(
        "predict",
        { instances: [{ content: "a", task_type: "X" }], parameters: { outputDimensionality: 2 } },
        "gemini-embedding-001",
        to("google")
      )
    )
    expect(made).toStrictEqual([
      one("batchEmbedContents", {
        requests: [{ model: "models/gemini-embedding-001", content: text("a"), taskType: "X", outputDimensionality: 2 }]
      })
    ])
    expect(answer?.([{ embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 3 } }])).toStrictEqual({
      predictions: [{ embeddings: { values: [1], statistics: { token_count: 3 } } }]
    })
  })
  it("crossing: settings of embedContent move between the two places (N504)", () => {
    expect(
      calls(
        crossing(
          "embedContent",
          { content: text("a"), embedContentConfig: { title: "t", taskType: "X" } },
          "m",
          to("google")
        )
      ).calls
    ).toStrictEqual([one("embedContent", { content: text("a"), taskType: "X", title: "t" })])
    expect(
      calls(crossing("embedContent", { content: text("a"), taskType: "X" }, "gemini-embedding-2", to("vertex-ai")))
        .calls
    ).toStrictEqual([one("embedContent", { content: text("a"), embedContentConfig: { taskType: "X" } })])
  })
  it("crossing: the wrapper of countTokens is opened and closed (N505)", () => {
    expect(
      calls(
        crossing(
          "countTokens",
          { generateContentRequest: { model: "models/m", contents, safetySettings: [] } },
          "m",
          to("vertex-ai")
        )
      ).calls
    ).toStrictEqual([one("countTokens", { contents })])
    expect(calls(crossing("countTokens", { contents, tools: [] }, "m", to("google"))).calls).toStrictEqual([
      one("countTokens", { generateContentRequest: { model: "models/m", contents, tools: [] } })
    ])
  })
  it("crossing: Claude is not crossed (N804)", () => {
    expect(refusal(crossing("rawPredict", {}, "claude-x", to("google")))).toBe("model")
  })
})
