// Paths of Google's dialects: every form, every refusal, and hostile spellings.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { type NativeCall, readNativeModel, readNativePath } from "../../../src/domain/native/nativePath.ts"
import { queryKey, readNativeQuery } from "../../../src/domain/native/nativeQuery.ts"

const post = (path: string) => readNativePath("POST", path, true)
const get = (path: string) => readNativePath("GET", path, true)
const call = (facts: Partial<NativeCall>): NativeCall => ({
  _tag: "Call",
  form: "vertex",
  version: "v1",
  verb: "generateContent",
  model: "gemini-2.5-flash",
  place: undefined,
  ...facts
})
const google = (facts: Partial<NativeCall>): NativeCall => call({ form: "google", version: "v1beta", ...facts })
const place = { project: "p", location: "global" }
const below = "/v1/projects/p/locations/global"
const unknown = { _tag: "Unknown" }

describe("native paths: calls", () => {
  it.each<readonly [string, NativeCall]>([
    ["/v1beta/models/gemini-2.5-flash:generateContent", google({})],
    ["/v1/models/gemini-2.5-flash:generateContent", google({ version: "v1" })],
    ["/v1alpha/models/gemini-2.5-flash:countTokens", google({ version: "v1alpha", verb: "countTokens" })],
    ["//v1beta/models/gemini-2.5-flash:generateContent/", google({})],
    ["/v1/v1beta/models/gemini-2.5-flash:generateContent", google({})],
    [
      "/v1/models/@google/gemini-2.5-flash:generateContent",
      google({ version: "v1", model: "@google/gemini-2.5-flash" })
    ],
    ["/v1beta/models/@google/gemini-2.5-flash:generateContent", google({ model: "@google/gemini-2.5-flash" })],
    ["/v1beta/models/%40google%2Fgemini-2.5-flash:generateContent", google({ model: "@google/gemini-2.5-flash" })],
    ["/v1beta/@google/gemini-2.5-flash:generateContent", google({ model: "@google/gemini-2.5-flash" })],
    ["/v1beta/models/gemini-2.5-flash%3AgenerateContent", google({})],
    [
      "/v1beta/models/gemini-embedding-001:batchEmbedContents",
      google({ verb: "batchEmbedContents", model: "gemini-embedding-001" })
    ],
    ["/v1/publishers/google/models/gemini-2.5-flash:generateContent", call({})],
    ["/v1/publishers/google/@google/gemini-2.5-flash:generateContent", call({ model: "@google/gemini-2.5-flash" })],
    [
      "/v1beta1/publishers/@vertex-ai/models/gemini-2.5-flash:generateContent",
      call({ version: "v1beta1", model: "@vertex-ai/gemini-2.5-flash" })
    ],
    [
      `${below}/publishers/google/models/gemini-2.5-flash:streamGenerateContent`,
      call({ verb: "streamGenerateContent", place })
    ],
    [
      `${below}/publishers/google/models/multimodalembedding@001:predict`,
      call({ verb: "predict", model: "multimodalembedding@001", place })
    ],
    [`${below}/publishers/google/models/gemini-2.5-flash:computeTokens`, call({ verb: "computeTokens", place })],
    [`${below}/endpoints/123:predict`, call({ verb: "predict", model: "endpoints.123", place })],
    [`${below}/endpoints/123:generateContent`, call({ model: "endpoints.123", place })],
    [
      `${below}/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict`,
      call({ verb: "rawPredict", model: "claude-sonnet-4@20250514", place })
    ],
    [
      `${below}/publishers/anthropic/models/@a/claude-x:streamRawPredict`,
      call({ verb: "streamRawPredict", model: "@a/claude-x", place })
    ],
    [
      `${below}/publishers/anthropic/models/newest:rawPredict`,
      call({ verb: "rawPredict", model: "anthropic.newest", place })
    ],
    [`${below}/publishers/@a/models/claude-x:rawPredict`, call({ verb: "rawPredict", model: "@a/claude-x", place })],
    [`${below}/publishers/anthropic/models/count-tokens:rawPredict`, call({ verb: "countMessages", model: "", place })]
  ])("native path %s: is read as its call (N102)", (path, expected) => {
    expect(post(path)).toStrictEqual(expected)
  })
})

describe("native paths: lists and refusals", () => {
  it.each<readonly [string, unknown]>([
    ["/v1beta/models", { _tag: "Models", form: "google", publisher: "google", model: undefined }],
    ["/v1/models", { _tag: "Models", form: "google", publisher: "google", model: undefined }],
    ["/v1beta/models/@google/x", { _tag: "Models", form: "google", publisher: "google", model: "@google/x" }],
    ["/v1beta1/publishers/google/models", { _tag: "Models", form: "vertex", publisher: "google", model: undefined }],
    ["/v1/publishers/@a/models/x", { _tag: "Models", form: "vertex", publisher: "google", model: "@a/x" }],
    [`${below}/publishers/google/models/x`, { _tag: "Models", form: "vertex", publisher: "google", model: "x" }],
    ["/v1beta/models/x:generateContent", { _tag: "WrongMethod", allow: ["POST"] }]
  ])("native path GET %s: is read (N109)", (path, expected) => {
    expect(get(path)).toStrictEqual(expected)
  })

  it("native path: a list takes GET and HEAD only (N110)", () => {
    expect(readNativePath("DELETE", "/v1beta/models", false)).toStrictEqual({ _tag: "WrongMethod", allow: ["GET"] })
    expect(readNativePath("HEAD", "/v1beta/models", false)).toStrictEqual(get("/v1beta/models"))
  })

  it.each([
    ["/v1beta/files", "files"],
    ["/v1beta/files/abc:download", "files"],
    ["/upload/v1beta/files", "upload"],
    ["/v1beta/cachedContents/1", "cachedContents"],
    ["/v1beta/batches", "batches"],
    ["/v1beta/tunedModels/abc:generateContent", "tunedModels"],
    ["/v1/operations/1", "operations"],
    ["/v1alpha/auth_tokens", "auth_tokens"],
    ["/v1beta/interactions", "interactions"],
    ["/v1beta/models/m:predictLongRunning", "predictLongRunning"],
    ["/v1beta/models/m:batchGenerateContent", "batchGenerateContent"],
    ["/v1beta/models/m:computeTokens", "computeTokens"],
    ["/v1beta/models/claude-x:rawPredict", "rawPredict"],
    [`${below}/cachedContents`, "cachedContents"],
    [`${below}/batchPredictionJobs`, "batchPredictionJobs"],
    [`${below}/models`, "The list of a project's models"],
    [`${below}/endpoints/openapi/chat/completions`, "endpoints/openapi"],
    [`${below}/endpoints/1:rawPredict`, "rawPredict of an endpoint"],
    [`${below}/publishers/meta/models/x:rawPredict`, 'The publisher "meta"'],
    [`${below}/publishers/google/models/x:rawPredict`, "rawPredict of publishers/google"],
    [`${below}/publishers/google/models/x:batchEmbedContents`, "batchEmbedContents"],
    [`${below}/publishers/anthropic/models/x:generateContent`, "generateContent of publishers/anthropic"],
    [`${below}/publishers/anthropic/models/count-tokens:streamRawPredict`, "streamRawPredict of publishers/anthropic"],
    ["/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent", "Live (BidiGenerateContent)"]
  ])("native path %s: is refused by name (N901)", (path, what) => {
    const read = post(path)
    expect(read).toStrictEqual({ _tag: "NotOffered", what, message: read?._tag === "NotOffered" ? read.message : "" })
    expect(read?._tag === "NotOffered" && read.message.startsWith(`${what} is not offered by this gateway: `)).toBe(
      true
    )
  })

  it.each([
    "/v1beta/models/m:fly",
    "/v1beta/models/..:generateContent",
    "/v1beta/models/a/../b:generateContent",
    "/v1beta/models/%2e%2e/b:generateContent",
    "/v1beta/models//b:generateContent",
    "/v1beta/models/%252Fb:generateContent",
    "/v1beta/models/a%00:generateContent",
    "/v1beta/models/a%:generateContent",
    "/v1beta/models/a%3Fkey=1:generateContent",
    "/v1beta/models/:generateContent",
    "/v1beta/models/a:b:generateContent",
    "/v1beta/chat/completions",
    "/v1beta/publishers/google/models/x:generateContent",
    "/v1/projects/p/publishers/google/models/x:generateContent",
    "/v1/publishers/google/x:generateContent",
    "/v1/endpoints/1:predict",
    `${below}/endpoints/a_b:predict`,
    "///v1beta/models"
  ])("native path %s: has no reading (N101)", (path) => {
    expect(post(path) ?? unknown).toStrictEqual(unknown)
  })

  it.each([
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/models/gemini",
    "/admin/v1/keys",
    "/health",
    "/v1/files",
    "/v1/batches"
  ])("native path %s: belongs to other routes for clients of other dialects (N109)", (path) => {
    expect(readNativePath("GET", path, false)).toBeUndefined()
  })
})

describe("native paths: laws", () => {
  const piece = fc.constantFrom(
    "v1",
    "v1beta",
    "models",
    "publishers",
    "google",
    "anthropic",
    "@a",
    "..",
    ".",
    "",
    "%2F",
    "%2e",
    "%40",
    ":",
    "gemini-x",
    "é",
    "\u0000",
    "\\",
    "projects",
    "locations",
    "endpoints",
    "generateContent",
    "%25",
    "a".repeat(200)
  )
  const path = fc
    .array(piece, { maxLength: 14 })
    .chain((pieces) =>
      fc
        .array(fc.constantFrom("/", ":", ""), { minLength: pieces.length, maxLength: pieces.length })
        .map((gaps) => pieces.map((one, at) => `${gaps[at]}${one}`).join(""))
    )
  it("native paths: a model of any path is in the closed grammar, or refused (N1105)", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          path,
          fc.string({ unit: "binary" }).map((text) => `/v1beta/models/${text}:generateContent`)
        ),
        (text) => {
          const read = readNativePath("POST", text, true)
          if (read?._tag !== "Call" || read.verb === "countMessages") return
          const model = readNativeModel(read, read.model)
          if (Result.isFailure(model)) return
          expect(model.success.modelId).toMatch(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}(@[A-Za-z0-9._-]{1,64})?$/)
          expect(model.success.modelId).not.toMatch(/\.\.|\/\//)
        }
      ),
      { numRuns: 4_000 }
    )
  })
})

describe("native models", () => {
  const refusal = (path: string) => {
    const read = post(path)
    if (read?._tag !== "Call") return undefined
    const model = readNativeModel(read, read.model)
    return Result.isFailure(model) ? [model.failure._tag, model.failure.message] : model.success
  }
  it("native model: slug, family and id are read (N102)", () => {
    expect(refusal(`${below}/publishers/anthropic/models/@a/claude-sonnet-4-5-20250929:rawPredict`)).toStrictEqual({
      family: "claude",
      modelId: "claude-sonnet-4-5@20250929",
      slug: "a",
      rest: "claude-sonnet-4-5-20250929"
    })
  })
  it("native model: full resource names are refused (N108)", () => {
    expect(refusal("/v1beta/models/projects/p/locations/l/endpoints/1:generateContent")).toStrictEqual([
      "BodyInvalid",
      "Full resource names are not taken: project and location come from the credential, endpoints are written endpoints/{id}."
    ])
  })
  it("native model: a model of another dialect is refused with the routes (N804)", () => {
    expect(refusal("/v1beta/models/claude-sonnet-4-5:generateContent")).toStrictEqual([
      "UnsupportedOperation",
      '"claude-sonnet-4-5" is not served by generateContent: Gemini is called by generateContent, Claude by rawPredict below publishers/anthropic or by /v1/messages, every model by /v1/chat/completions.'
    ])
  })
})

describe("native queries", () => {
  const read = (query: string, form: "google" | "vertex" = "google") =>
    Result.getOrThrow(readNativeQuery(query, { form }))
  const refusal = (query: string) => {
    const found = readNativeQuery(query, { form: "google" })
    return Result.isFailure(found) ? [found.failure.code, found.failure.param, found.failure.message] : found.success
  }
  it("native query: framing and the passing parameters are kept, all else is dropped (N209)", () => {
    expect(read("alt=sse&key=mgk_x&prettyPrint=false&quotaUser=a&upload_protocol=raw&$.xgafv=2")).toStrictEqual({
      framing: "sse",
      upstream: "?alt=sse&prettyPrint=false",
      pageSize: undefined,
      pageToken: undefined,
      ignored: []
    })
    expect(read("prettyPrint=true&pageSize=5&pageToken=t", "vertex")).toStrictEqual({
      framing: "array",
      upstream: "",
      pageSize: 5,
      pageToken: "t",
      ignored: []
    })
  })
  it("native query: masks and wrappers of the answer are dropped, and named (N209)", () => {
    const { ignored, upstream } = read("fields=candidates&$fields=x&FIELDS=y&callback=f&$callback=g&fields=z")
    expect([ignored, upstream]).toStrictEqual([["fields", "$fields", "FIELDS", "callback", "$callback"], ""])
  })
  it.each(["alt=sse", "$alt=sse", "%24alt=sse", "a%6Ct=s%73e", "ALT=SSE", "alt=sse&$alt=sse&alt=sse"])(
    "native query %s: is a stream of events in each of its spellings (N212)",
    (query) => {
      const { framing, upstream } = read(query)
      expect([framing, upstream]).toStrictEqual(["sse", "?alt=sse"])
    }
  )
  it.each(["alt=json", "$alt=json;enum-encoding=int", "alt=JSON"])(
    "native query %s: is JSON, with enumerations as names (N212)",
    (query) => {
      const { framing, upstream } = read(query)
      expect([framing, upstream]).toStrictEqual(["array", ""])
    }
  )
  it.each([
    ["alt=media", "alt"],
    ["alt=proto", "alt"],
    ["$alt=proto", "$alt"],
    ["%24alt=proto", "$alt"],
    ["alt=json&alt=proto", "alt"],
    ["alt=sse&$alt=media", "$alt"],
    ["$ALT=Proto", "$ALT"],
    ["alt=", "alt"],
    ["alt=json;x=1", "alt"]
  ])("native query %s: another form of the answer is refused (N212)", (query, param) => {
    expect(refusal(query)).toStrictEqual(["invalid_value", param, `${param} is "sse" or "json".`])
  })
  it("native query: two forms of the answer are refused (N212)", () => {
    expect(refusal("alt=json&$alt=sse")).toStrictEqual([
      "invalid_value",
      "$alt",
      "$alt is given twice with different values; send one."
    ])
  })
  it.each(["access_token", "oauth_token", "$oauth_token", "bearer_token"])(
    "native query: %s is no place of a credential (N212)",
    (name) => {
      expect(refusal(`${name}=ya29.secret`)).toStrictEqual([
        "invalid_value",
        name,
        `${name} is not read: send the token in the header authorization, and the gateway key in x-gateway-api-key.`
      ])
    }
  )
  it("native query: only a stream asks the upstream for events (N212)", () => {
    const of = (verb: "generateContent" | "streamGenerateContent" | "countTokens") =>
      Result.getOrThrow(readNativeQuery("alt=sse", { form: "vertex", verb })).upstream
    expect([of("streamGenerateContent"), of("generateContent"), of("countTokens")]).toStrictEqual(["?alt=sse", "", ""])
  })
  it("native query: the key is read (N204)", () => {
    expect([queryKey("alt=sse&key=mgk_a%2Bb"), queryKey("monkey=1"), queryKey("key="), queryKey("")]).toStrictEqual([
      "mgk_a+b",
      undefined,
      undefined,
      undefined
    ])
  })
})
