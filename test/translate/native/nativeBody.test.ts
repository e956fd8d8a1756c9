// Native bodies: recorded ones keep every byte, repeated models are written over, and bad ones are refused.
import { createHash } from "node:crypto"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import type { NativeVerb } from "../../../src/domain/native/nativePath.ts"
import {
  countedMessages,
  mayNameObjects,
  overriddenBody,
  readNativeBody
} from "../../../src/translate/native/nativeBody.ts"
import { nativeCounts, readNativeReply } from "../../../src/translate/native/nativeReply.ts"
import { noRedaction } from "../../../src/domain/text/redaction.ts"
import { countSearches, geminiUsage, withSearches } from "../../../src/translate/shared/reply/usage.ts"
import { clientRequests } from "../../support/clientRequests.ts"
import { loudlySkipped, recordings, sharedDir } from "../../support/shared.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()
/** Why bytes are no answer; undefined for an answer. */
const faultOf = (bytes: Uint8Array, verb: NativeVerb = "generateContent") =>
  Result.getOrElse(Result.flip(readNativeReply(verb, bytes, noRedaction)), () => undefined)
const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const path = { form: "google", rest: "gemini-2.5-flash", modelId: "gemini-2.5-flash" } as const
const read = (verb: NativeVerb, text: string, of: Parameters<typeof readNativeBody>[1] = path) =>
  readNativeBody(verb, of, encoder.encode(text), defaultLimits)
const sent = (verb: NativeVerb, text: string, of?: Parameters<typeof readNativeBody>[1]) =>
  decoder.decode(Result.getOrThrow(read(verb, text, of)).bytes)
const refusal = (verb: NativeVerb, text: string) => {
  const body = read(verb, text)
  return Result.isFailure(body) ? [body.failure.code, body.failure.param, body.failure.message] : undefined
}

/** A recorded request with its verb and model, as the text a client could have sent. */
const recorded = [
  "gemini-api",
  "vertex-gemini",
  "gemini-embeddings",
  "gemini-count-tokens",
  "vertex-predict",
  "vertex-count-tokens",
  "vertex-anthropic"
]
  .flatMap((folder) => recordings(folder))
  .flatMap(({ id, request }) => {
    const found = /\/models\/([^/:?]+):([A-Za-z]+)/.exec(request.url)
    if (found === null || typeof request.body !== "object" || request.body === null) return []
    const [, model = "", verb = ""] = found
    const form: "google" | "vertex" = request.url.includes("aiplatform") ? "vertex" : "google"
    return [
      [id, verb as NativeVerb, { form, rest: model, modelId: model }, JSON.stringify(request.body, null, 1)] as const
    ]
  })

describe("native bodies: recorded", () => {
  if (sharedDir() === undefined) loudlySkipped("recorded native bodies")
  it.each(recorded)("native body %s: goes up byte for byte (N301)", (_id, verb, of, text) => {
    const bytes = encoder.encode(text)
    const body = readNativeBody(verb, of, bytes, defaultLimits)
    expect(hash(Result.getOrThrow(body).bytes)).toBe(hash(bytes))
  })
  it.runIf(sharedDir() !== undefined)(
    "native bodies: of 329 recordings, all that have a body are compared (N301)",
    () => {
      expect(recorded.length).toBe(recordedCount)
    }
  )
  it.runIf(sharedDir() !== undefined)(
    "client requests: bodies of Google's clients go up byte for byte, but for a repeated slug (N303)",
    () => {
      for (const { id, request } of clientRequests()) {
        const found = /\/(?:models\/)?([^/:?]+):([A-Za-z]+)(\?|$)/.exec(request.path)
        if (found === null || request.body === null) continue
        const [, model = "", verb = ""] = found
        if (verb.includes("/") || model === "abc") continue
        const bytes = encoder.encode(JSON.stringify(request.body))
        const body = readNativeBody(verb as NativeVerb, { ...path, rest: model, modelId: model }, bytes, defaultLimits)
        expect([id, Result.isSuccess(body) && hash(body.success.bytes)]).toStrictEqual([id, hash(bytes)])
      }
    }
  )
  const searchesOf = (body: object): number =>
    "candidates" in body && Array.isArray(body.candidates)
      ? body.candidates.reduce((sum, { groundingMetadata }) => sum + countSearches(groundingMetadata), 0)
      : 0
  it.runIf(sharedDir() !== undefined)("native replies: counts are those of the chat route (N407)", () => {
    for (const { id, response } of [...recordings("gemini-api"), ...recordings("vertex-gemini")]) {
      const { body } = response
      if (response.status !== 200 || typeof body !== "object" || body === null) continue
      const bytes = encoder.encode(JSON.stringify(body, null, 2))
      const metadata =
        "usageMetadata" in body && typeof body.usageMetadata === "object" && body.usageMetadata !== null
          ? { ...body.usageMetadata }
          : undefined
      expect([id, nativeCounts("generateContent", bytes).usage]).toStrictEqual([
        id,
        metadata === undefined ? undefined : withSearches(geminiUsage(metadata), searchesOf(body))
      ])
      expect([id, faultOf(bytes)]).toStrictEqual([id, undefined])
    }
  })
})

/** Recorded requests with a body below a model's path. */
const recordedCount = 213

describe("native bodies: repeated models", () => {
  const c = '"contents" : [{"parts":[{"text":"hi \\u00e9 12345678901234567890"}]}]'
  it("native body: the same model stays, in any spelling (N302)", () => {
    const text = ` {${c}, "model":"models/gemini-2.5-flash"}\n`
    expect(sent("generateContent", text)).toBe(text)
    expect(sent("generateContent", `{"model":"gemini-2.5-flash",${c}}`)).toBe(`{"model":"gemini-2.5-flash",${c}}`)
    expect(sent("generateContent", `{"model":"models/@google/gemini-2.5-flash",${c}}`)).toBe(
      `{"model":"models/gemini-2.5-flash",${c}}`
    )
  })
  it("native body: on Vertex AI a repeated model is taken out (N302)", () => {
    expect(
      sent("countTokens", `{"model":"publishers/google/models/gemini-2.5-flash",${c}}`, { ...path, form: "vertex" })
    ).toBe(`{${c}}`)
  })
  it("native body: the wrapper's model is written over (N302)", () => {
    expect(sent("countTokens", `{"generateContentRequest":{"model":"@a/gemini-2.5-flash",${c}}}`)).toBe(
      `{"generateContentRequest":{"model":"models/gemini-2.5-flash",${c}}}`
    )
  })
  it("native body: each request of a batch loses the slug (N303)", () => {
    expect(
      sent(
        "batchEmbedContents",
        '{"requests":[{"model":"models/@a/gemini-2.5-flash","content":{}},{"content":{},"x":1e400}]}'
      )
    ).toBe('{"requests":[{"model":"models/gemini-2.5-flash","content":{}},{"content":{},"x":1e400}]}')
  })
  it.each<readonly [NativeVerb, string, string]>([
    ["generateContent", `{"model":"models/other",${c}}`, "model"],
    ["countTokens", `{"generateContentRequest":{"model":"models/other",${c}}}`, "generateContentRequest.model"],
    ["batchEmbedContents", '{"requests":[{"content":{}},{"model":"models/other"}]}', "requests[1].model"],
    ["countTokens", `{"generate_content_request":{"model":"models/other",${c}}}`, "generateContentRequest.model"],
    ["embedContent", '{"content":{},"model":"models/other"}', "model"],
    ["predict", '{"instances":[{}],"model":"models/other"}', "model"]
  ])("native body of %s %s: another model is refused (N203)", (verb, text, param) => {
    expect(refusal(verb, text)).toStrictEqual(["invalid_value", param, `${param} is not the model of the path.`])
  })
})

describe("native bodies: refusals", () => {
  it.each<readonly [NativeVerb, string, ReadonlyArray<unknown>]>([
    ["generateContent", "", ["empty_body", null, "The request body is empty; send a JSON object."]],
    ["generateContent", "  ", ["empty_body", null, "The request body is empty; send a JSON object."]],
    ["generateContent", "[]", ["body_not_object", null, "The request body must be a JSON object."]],
    ["generateContent", '{"contents":[1]', ["invalid_json", null, "The request body is not valid JSON."]],
    ["generateContent", '{"contents":[1]} x', ["invalid_json", null, "The request body is not valid JSON."]],
    ["generateContent", '{"contents" [1]}', ["invalid_json", null, "The request body is not valid JSON."]],
    ["generateContent", '{"contents":[1] "a":1}', ["invalid_json", null, "The request body is not valid JSON."]],
    ["generateContent", "{'contents':[1]}", ["invalid_json", null, "The request body is not valid JSON."]],
    [
      "generateContent",
      '{"a":1,"a":2,"contents":[1]}',
      ["duplicate_key", "a", 'The key "a" is in the body twice; send it once.']
    ],
    [
      "generateContent",
      `{"contents":${"[".repeat(300)}}`,
      ["json_too_deep", null, `The request body is nested deeper than ${defaultLimits.jsonDepth} levels.`]
    ],
    ["generateContent", "{}", ["missing_required_parameter", "contents", "contents is missing."]],
    [
      "generateContent",
      '{"contents":[ ]}',
      ["empty_array", "contents", "contents is empty; send at least one element."]
    ],
    [
      "generateContent",
      '{"contents":"hi"}',
      ["invalid_type", "contents", "contents has the wrong type: expected array."]
    ],
    ["predict", '{"instances":[]}', ["empty_array", "instances", "instances is empty; send at least one element."]],
    ["embedContent", '{"content":[]}', ["invalid_type", "content", "content has the wrong type: expected object."]],
    [
      "batchEmbedContents",
      `{"requests":[${Array(101).fill("{}").join()}]}`,
      ["invalid_value", "requests", "requests holds more than 100 elements."]
    ],
    ["rawPredict", '{"messages":[1]}', ["missing_required_parameter", "max_tokens", "max_tokens is missing."]],
    [
      "rawPredict",
      '{"messages":[1],"max_tokens":1,"stream":true}',
      ["invalid_value", "stream", "stream is true, but rawPredict does not stream: use streamRawPredict."]
    ],
    [
      "streamRawPredict",
      '{"messages":[1],"max_tokens":1,"stream":false}',
      ["invalid_value", "stream", "stream is not true, but streamRawPredict streams: use rawPredict."]
    ],
    ["countMessages", '{"messages":[1]}', ["missing_required_parameter", "model", "model is missing."]]
  ])("native body of %s %s: is refused (N305)", (verb, text, expected) => {
    expect(refusal(verb, text)).toStrictEqual(expected)
  })
})

describe("native bodies: repeated members", () => {
  const c = '"contents":[{"parts":[{"text":"hi"}]}]'
  const names = (param: string, first: string, second: string) => [
    "duplicate_key",
    param,
    `"${first}" and "${second}" are two names of ${param}; send one of them.`
  ]
  const twice = (param: string) => ["duplicate_key", param, `${param} is in the body twice; send it once.`]
  it.each<readonly [NativeVerb, string, ReadonlyArray<unknown>]>([
    [
      "generateContent",
      `{${c},"generationConfig":{},"generation_config":{}}`,
      names("generationConfig", "generationConfig", "generation_config")
    ],
    [
      "streamGenerateContent",
      `{${c},"generationConfig":{"max_output_tokens":1,"maxOutputTokens":60000}}`,
      names("generationConfig.maxOutputTokens", "max_output_tokens", "maxOutputTokens")
    ],
    [
      "generateContent",
      '{"contents":[{"parts":[{"inlineData":{},"inline_data":{}}]}]}',
      names("contents[0].parts[0].inlineData", "inlineData", "inline_data")
    ],
    ["generateContent", '{"contents":[{"parts":[],"parts":[]}]}', twice("contents[0].parts")],
    ["countTokens", `{${c},"systemInstruction":{"parts":[],"parts":[]}}`, twice("systemInstruction.parts")],
    ["embedContent", '{"content":{"parts":[],"parts":[]}}', twice("content.parts")],
    [
      "batchEmbedContents",
      '{"requests":[{"taskType":"A","task_type":"B"}]}',
      names("requests[0].taskType", "taskType", "task_type")
    ],
    [
      "predict",
      '{"instances":[{}],"parameters":{"sampleCount":1,"sample_count":8}}',
      names("parameters.sampleCount", "sampleCount", "sample_count")
    ],
    [
      "rawPredict",
      '{"messages":[{"role":"user","content":"a","content":"b"}],"max_tokens":1}',
      twice("messages[0].content")
    ]
  ])("native body of %s %s: is refused (N309)", (verb, text, expected) => {
    expect(refusal(verb, text)).toStrictEqual(expected)
  })
  it.each<readonly [NativeVerb, string]>([
    ["generateContent", `{${c},"labels":{"team_a":"1","teamA":"2"}}`],
    ["generateContent", '{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"user_id":1,"userId":2}}}]}]}'],
    ["generateContent", '{"contents":[{"parts":[{"functionResponse":{"response":{"user_id":1,"userId":2}}}]}]}'],
    [
      "generateContent",
      `{${c},"tools":[{"functionDeclarations":[{"parameters":{"properties":{"user_id":{},"userId":{}}}}]}]}`
    ],
    ["generateContent", `{${c},"generation_config":{"response_schema":{"properties":{"a_b":{},"aB":{}}}}}`],
    ["predict", '{"instances":[{"user_id":1,"userId":2}]}'],
    ["rawPredict", '{"messages":[{"content":[{"type":"tool_use","input":{"a_b":1,"aB":2}}]}],"max_tokens":1}']
  ])("native body of %s %s: names that are the client's own pass (N309)", (verb, text) => {
    expect(refusal(verb, text)).toBe(undefined)
  })
})

describe("native bodies: Claude and configs", () => {
  const messages = '"messages":[1],"max_tokens":1'
  it("native body: Claude keeps its version, and gets one where it has none (N304)", () => {
    expect(sent("rawPredict", `{${messages},"anthropic_version":"2026-10-21"}`)).toBe(
      `{${messages},"anthropic_version":"2026-10-21"}`
    )
    expect(sent("streamRawPredict", `{"model":"m",${messages},"anthropic_beta":["a-1"]}`)).toBe(
      `{${messages},"anthropic_version":"vertex-2023-10-16","stream":true}`
    )
  })
  it("native body: betas and the counted model are read (N802)", () => {
    expect(
      Result.getOrThrow(read("countMessages", '{"model":"@a/claude-x","messages":[1],"anthropic_beta":"a-1,b"}'))
    ).toMatchObject({ betas: ["a-1", "b"], model: "@a/claude-x" })
    expect(
      decoder.decode(
        countedMessages(encoder.encode('{"model":"@a/x","messages":[1],"stream":true}'), "claude-x@latest")
      )
    ).toBe('{"model":"claude-x","messages":[1]}')
  })
  it("native body: a config's members are merged, and contents are not (N601)", () => {
    const bytes = encoder.encode('{"contents":[1],"generation_config":{"a":1,"b":{"c":2}}}')
    expect(
      decoder.decode(
        overriddenBody(
          bytes,
          { contents: [], model: "x", generationConfig: { b: { d: 3 } }, safetySettings: [] },
          { team: "a" }
        )
      )
    ).toBe('{"contents":[1],"generation_config":{"a":1,"b":{"c":2,"d":3}},"safetySettings":[],"labels":{"team":"a"}}')
    expect(overriddenBody(bytes, {}, undefined)).toBe(bytes)
  })
  it("native body: a config's member keeps the name that the body has for it (N309, N601)", () => {
    const over = (text: string, google: JsonObject, labels?: JsonObject) =>
      decoder.decode(overriddenBody(encoder.encode(text), google, labels))
    expect([
      over('{"generation_config":{"max_output_tokens":1}}', { generationConfig: { maxOutputTokens: 9 } }),
      over('{"generationConfig":{"maxOutputTokens":1}}', { generation_config: { max_output_tokens: 9 } }),
      over("{}", { generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 }, generation_config: { topP: 1 } }),
      over('{"labels":{"team_a":"1"}}', {}, { teamA: "2" }),
      over('{"generationConfig":{"responseSchema":{"properties":{"a_b":1}}}}', {
        generationConfig: { responseSchema: { properties: { aB: 2 } } }
      })
    ]).toStrictEqual([
      '{"generation_config":{"max_output_tokens":9}}',
      '{"generationConfig":{"maxOutputTokens":9}}',
      '{"generationConfig":{"maxOutputTokens":9,"topP":1}}',
      '{"labels":{"team_a":"1","teamA":"2"}}',
      '{"generationConfig":{"responseSchema":{"properties":{"a_b":1,"aB":2}}}}'
    ])
  })
  it("native body: only bodies that may name an object of a store are parsed (N306)", () => {
    const may = (text: string) => mayNameObjects(encoder.encode(text))
    expect(
      [
        '{"contents":[{"parts":[{"text":"hi"}]}]}',
        '"gs://b/o"',
        '"\\u0067s://b"',
        '"cachedContent"',
        '"cached_content"',
        '"storageUri"',
        '"retrieval"'
      ].map(may)
    ).toStrictEqual([false, true, true, true, true, true, true])
  })
})

describe("native replies", () => {
  const counts = (verb: NativeVerb, body: object) => nativeCounts(verb, encoder.encode(JSON.stringify(body, null, 2)))
  const tokens = (prompt: number) => ({ prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt })
  it("native reply: predictions count tokens and pictures (N408)", () => {
    expect(
      counts("predict", {
        predictions: [
          { embeddings: { values: [0.1], statistics: { token_count: 3 } } },
          { embeddings: { statistics: { token_count: 4 } } }
        ]
      })
    ).toStrictEqual({ usage: tokens(7), images: 0 })
    expect(
      counts("predict", {
        predictions: [
          { bytesBase64Encoded: "AA==" },
          { raiFilteredReason: "x", bytesBase64Encoded: "" },
          { gcsUri: "gs://b" }
        ]
      })
    ).toStrictEqual({ usage: tokens(0), images: 2 })
  })
  it("native reply: embeddings, Claude and counts are read (N407)", () => {
    expect(
      counts("batchEmbedContents", { embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 5 } })
    ).toStrictEqual({ usage: tokens(5), images: 0 })
    expect(counts("rawPredict", { usage: { input_tokens: 2, output_tokens: 3 } })).toMatchObject({
      usage: { prompt_tokens: 2, completion_tokens: 3 }
    })
    expect(counts("countTokens", { totalTokens: 5 })).toStrictEqual({ usage: undefined, images: 0 })
  })
  it("native reply: what is no answer is a fault (N401)", () => {
    const fault = (text: string) => faultOf(encoder.encode(text))
    expect([
      fault('{"candidates":[]}\n'),
      fault('{"a":'),
      fault("<html>"),
      fault('{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}')
    ]).toStrictEqual([
      undefined,
      { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an answer that is not a JSON object." },
      { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an answer that is not a JSON object." },
      { _tag: "Overloaded", code: "upstream_unavailable", message: "m" }
    ])
  })
  it("native reply: an object without candidates, feedback or counts is no content (N401)", () => {
    const none = {
      _tag: "BadReply",
      kind: "unreadable",
      message: "The upstream sent an answer without candidates, feedback on the prompt or counts."
    }
    const fault = (facts: object) => [
      faultOf(encoder.encode(JSON.stringify(facts))),
      // Larger answers are walked, not parsed.
      faultOf(encoder.encode(JSON.stringify({ pad: "x".repeat(5_000), ...facts })))
    ]
    const wrong = [{}, { candidates: 7 }, { candidates: {} }, { promptFeedback: [] }, { usageMetadata: "x" }]
    const right = [{ candidates: [] }, { promptFeedback: {} }, { usageMetadata: {}, modelVersion: "m" }]
    expect(wrong.map(fault)).toStrictEqual(wrong.map(() => [none, none]))
    expect(right.map(fault)).toStrictEqual(right.map(() => [undefined, undefined]))
    expect(faultOf(encoder.encode("{}"), "countTokens")).toBe(undefined)
  })
})
