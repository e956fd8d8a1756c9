// What shows which client asks: its paths, the places of its key, its dialect.
import { describe, expect, it } from "vitest"
import { clientDialect, dialectOfUnknown, insteadOf, knownPath, presentedKeys } from "../../src/api/clientRequests.ts"
import { queryless, withoutQueryKeys } from "../../src/domain/text/publicText.ts"

describe("paths of clients", () => {
  it.each([
    ["/chat/completions", "/v1/chat/completions"],
    ["/chat/completions/count_tokens", "/v1/chat/completions/count_tokens"],
    ["/messages", "/v1/messages"],
    ["/models", "/v1/models"],
    ["/models/@a/b", "/v1/models/@a/b"],
    ["/embeddings/", "/v1/embeddings"],
    ["/images/generations", "/v1/images/generations"],
    ["/v1/v1/messages", "/v1/messages"],
    ["/v1/messages/", "/v1/messages"],
    ["//v1/messages", "/v1/messages"],
    ["/", "/"],
    ["/admin/v1/keys", "/admin/v1/keys"],
    ["/v1beta/models/x:generateContent", "/v1beta/models/x:generateContent"],
    ["/modelsque", "/modelsque"],
    ["///models", "///models"]
  ])("path %s: is known as %s (N109)", (path, known) => {
    expect(knownPath(path)).toStrictEqual({ path: known, model: undefined })
    expect(knownPath(known)).toStrictEqual({ path: known, model: undefined })
  })
  it.each([
    ["/v1beta/openai/chat/completions", "/v1/chat/completions"],
    ["/v1beta/openai/models/", "/v1/models"],
    ["/v1beta/openai/v1/embeddings", "/v1/embeddings"],
    ["/v1alpha/openai/files", "/v1/files"],
    ["//v1beta/openai/responses", "/v1/responses"],
    ["/openai/v1/chat/completions", "/v1/chat/completions"],
    ["/openai/responses/input_tokens", "/v1/responses/input_tokens"],
    ["/api/v1/chat/completions", "/v1/chat/completions"],
    ["/api/v1/models", "/v1/models"],
    ["/api/openai/v1/models", "/v1/models"],
    ["/anthropic/v1/messages", "/v1/messages"],
    ["/v1beta/v1/messages", "/v1/messages"],
    ["/v1/projects/p/locations/l/endpoints/openapi/chat/completions", "/v1/chat/completions"],
    ["/v1beta1/projects/p/locations/l/endpoints/openapi/embeddings", "/v1/embeddings"],
    ["/v1/projects/p/locations/l/endpoints/openapi:predict", "/v1/projects/p/locations/l/endpoints/openapi:predict"],
    ["/api/hello", "/api/hello"],
    ["/api/v1/keys", "/api/v1/keys"],
    ["/openaiish/v1/models", "/openaiish/v1/models"]
  ])("path of another service %s: is known as %s (W34)", (path, known) => {
    expect(knownPath(path)).toStrictEqual({ path: known, model: undefined })
  })
  it.each([
    ["/openai/deployments/gemini-3.8-flash/chat/completions", "/v1/chat/completions", "gemini-3.8-flash"],
    ["/openai/deployments/@d/gemini-3.8-flash/embeddings", "/v1/embeddings", "@d/gemini-3.8-flash"],
    ["/openai/deployments/%40d%2Fgemini-3.8-flash/chat/completions/", "/v1/chat/completions", "@d/gemini-3.8-flash"],
    ["/deployments/imagen/images/generations", "/v1/images/generations", "imagen"],
    ["/v1/engines/gemini-3.8-flash/chat/completions", "/v1/chat/completions", "gemini-3.8-flash"],
    ["/v1/engines/a%/embeddings", "/v1/embeddings", "a%"],
    ["/v1/projects/p/locations/l/endpoints/12/chat/completions", "/v1/chat/completions", "endpoints.12"]
  ])("path %s: names the model (W34)", (path, known, model) => {
    expect(knownPath(path)).toStrictEqual({ path: known, model })
  })
  it("unknown path: its answer names what is served (N903)", () => {
    expect(
      [
        "/v1/completions",
        "/v1/complete",
        "/v1/messages/nothing",
        "/v1/messages/batches",
        "/v1/files",
        "/v1/batches",
        "/v1/audio/speech"
      ].map(insteadOf)
    ).toStrictEqual([
      "use /v1/chat/completions",
      "use /v1/messages",
      "served are /v1/messages, /v1/messages/count_tokens, /v1/models, and rawPredict and streamRawPredict of publishers/anthropic/models",
      "message batches are not offered; send the messages one by one",
      "files are not kept here; send data inline, or as gs:// on Vertex AI",
      "batches are not offered; send the requests one by one",
      "of OpenAI's API chat completions, responses, embeddings, images and models are offered"
    ])
  })
})

describe("keys of clients", () => {
  it("gateway key: its own header is the only place where it is sent (N204)", () => {
    expect(
      presentedKeys({ "x-gateway-api-key": " k ", authorization: "Bearer ya29.x", "x-goog-api-key": "AIza" }, "q")
    ).toStrictEqual(["k"])
  })
  it("gateway key: every place of an SDK is tried in order, whatever its form (N204)", () => {
    expect(
      presentedKeys({ authorization: "Bearer sk-a", "x-api-key": "b", "x-goog-api-key": "c", "api-key": "b" }, "d")
    ).toStrictEqual(["sk-a", "b", "c", "d"])
    expect(presentedKeys({ authorization: "Basic a b", "x-api-key": "" }, undefined)).toStrictEqual([])
  })
})

describe("dialects of clients", () => {
  it("client dialect: is known by its headers (N109)", () => {
    expect(
      [
        { "anthropic-version": "2023-06-01", "x-goog-api-key": "k" },
        { "x-goog-api-key": "k" },
        { "x-goog-api-client": "x" },
        { authorization: "Bearer k" }
      ].map(clientDialect)
    ).toStrictEqual(["anthropic", "google", "google", "openai"])
  })
  it("client dialect: an unknown path of Anthropic's needs no header (N903)", () => {
    expect([
      dialectOfUnknown("/v1/messages/batches", {}),
      dialectOfUnknown("/v1/files", {}),
      dialectOfUnknown("/v1/files", { "anthropic-version": "x" }),
      dialectOfUnknown("/v1/files", { "x-goog-api-key": "k" })
    ]).toStrictEqual(["anthropic", "openai", "anthropic", "google"])
  })
})

describe("queries in texts", () => {
  it("request target: loses its query (N204)", () => {
    expect([
      queryless("/v1beta/models/x:generateContent?alt=sse&key=mgk_a"),
      queryless("/a#b"),
      queryless("/a")
    ]).toStrictEqual(["/v1beta/models/x:generateContent", "/a", "/a"])
  })
  it("text: loses the values of keys in queries, encoded or not (N1104)", () => {
    expect(
      [
        "GET /x?key=AIzaSecret&alt=sse failed",
        "https://h/x?alt=sse&api_key=abc)",
        "%3Fkey%3Dsecret",
        "monkey=1",
        "access_token=ya29.x and more",
        "no query"
      ].map(withoutQueryKeys)
    ).toStrictEqual([
      "GET /x?key=[redacted]&alt=sse failed",
      "https://h/x?alt=sse&api_key=[redacted])",
      "%3Fkey%3D[redacted]",
      "monkey=1",
      "access_token=[redacted] and more",
      "no query"
    ])
  })
})
