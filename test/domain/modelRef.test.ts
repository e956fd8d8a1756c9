// Tests the parser of model names: slug and name, family, and the names it refuses.
// Must not depend on the model table or on accounts.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parseFamily, parseModelRef } from "../../src/domain/ModelRef.ts"

const ok = <A, E>(result: Result.Result<A, E>) => (Result.isSuccess(result) ? result.success : result.failure)

describe("parseModelRef", () => {
  it("parseModelRef: splits at the first slash; the rest may contain / and @ (T2101)", () => {
    expect(ok(parseModelRef("@vertex-ai/publishers/google/models/gemini-2.5-pro"))).toEqual({
      slug: "vertex-ai",
      rest: "publishers/google/models/gemini-2.5-pro"
    })
    expect(ok(parseModelRef("@v/imagegeneration@006"))).toEqual({ slug: "v", rest: "imagegeneration@006" })
    expect(ok(parseModelRef("gemini-2.5-pro"))).toEqual({ slug: undefined, rest: "gemini-2.5-pro" })
  })
  it.each(["@", "@/x", "@slug/", "@slug", "@Slug/x", "@sl ug/x"])("parseModelRef: refuses %j (B34)", (model) => {
    expect(ok(parseModelRef(model))).toMatchObject({ _tag: "BodyInvalid", code: "invalid_model", param: "model" })
  })
})

describe("parseFamily", () => {
  it.each([
    ["gemini-2.5-pro", "gemini", "gemini-2.5-pro"],
    ["models/gemini-2.5-pro", "gemini", "gemini-2.5-pro"],
    ["google/gemini-2.5-pro", "gemini", "gemini-2.5-pro"],
    ["publishers/google/models/gemini-2.5-pro", "gemini", "gemini-2.5-pro"],
    ["anthropic.claude-sonnet-4-5@20250929", "claude", "claude-sonnet-4-5@20250929"],
    ["publishers/anthropic/models/claude-x", "claude", "claude-x"],
    ["claude-3-5-haiku", "claude", "claude-3-5-haiku"],
    ["claude-sonnet-4-5-20250929", "claude", "claude-sonnet-4-5@20250929"],
    ["anthropic/claude-sonnet-4-5-20250929", "claude", "claude-sonnet-4-5@20250929"],
    ["anthropic.claude-sonnet-4-5@default", "claude", "claude-sonnet-4-5@default"],
    ["anthropic.claude-x@y-20250929", "claude", "claude-x@y-20250929"],
    ["gemini-x-20250929", "gemini", "gemini-x-20250929"],
    ["meta.llama-4-maverick", "openai", "meta/llama-4-maverick"],
    ["meta/llama-4-maverick", "openai", "meta/llama-4-maverick"],
    ["publishers/meta/models/llama-4-maverick", "openai", "meta/llama-4-maverick"],
    ["deepseek-ai/deepseek-r1", "openai", "deepseek-ai/deepseek-r1"],
    ["publishers/qwen/models/qwen3", "openai", "qwen/qwen3"],
    ["endpoints.my-llm", "endpoint", "my-llm"]
  ])("parseFamily: reads %s (T2102)", (rest, family, modelId) => {
    expect(ok(parseFamily(rest))).toEqual({ family, modelId })
  })
  it.each([
    "",
    "../x",
    "a..b",
    "a//b",
    "a/",
    "a\\b",
    "a?b",
    "a#b",
    "a%2eb",
    "a b",
    "a:generateContent",
    "projects/p/locations/l",
    "x\u2028",
    "anthropic.",
    "meta."
  ])("parseFamily: refuses %j (B39, B41)", (rest) =>
    expect(ok(parseFamily(rest))).toMatchObject({ _tag: "BodyInvalid", code: "invalid_model", param: "model" })
  )
  it.each([
    "mistralai.mistral-medium-3",
    "mistralai/mistral-medium-3",
    "ai21.jamba-1.5-mini@001",
    "publishers/ai21/models/jamba"
  ])("parseFamily: does not offer %s (T2017)", (rest) => {
    expect(ok(parseFamily(rest))).toMatchObject({ _tag: "UnsupportedOperation" })
  })
  it("parseFamily: quotes a refused name cut and printable (B39)", () => {
    expect(ok(parseFamily(`a"\n${"b".repeat(99)}`))).toMatchObject({
      message: `"a??${"b".repeat(61)}" is not a model id: letters, digits, ".", "_", "-", "/" and one "@version" are allowed.`
    })
  })
  it.each(["endpoints.", "endpoints.a/b", "endpoints.a:x", "endpoints..", "endpoints.a?x"])(
    "parseFamily: refuses the endpoint %j (B40)",
    (rest) => {
      expect(ok(parseFamily(rest))).toMatchObject({ _tag: "BodyInvalid", code: "invalid_endpoint", param: "model" })
    }
  )
})
