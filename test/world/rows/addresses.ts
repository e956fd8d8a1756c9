// Reports about addresses: base URLs of other services, and lists of models.
// Must not depend on the service.
import type { Row } from "../row.ts"

const hi = { messages: [{ role: "user", content: "hi" }] }
const body = { model: "@d/gemini-3.8-flash", ...hi }
const sent = [{ contents: [{ role: "user", parts: [{ text: "hi" }] }] }]
const called = ["/v1beta/models/gemini-3.8-flash:generateContent"]

const chat = (id: string, path: string, more: Partial<Row> = {}): Row => ({
  id,
  kind: "W34",
  title: `${path} is the chat route`,
  path,
  body,
  expected: { sent, called },
  ...more
})

export const addresses: ReadonlyArray<Row> = [
  chat("RB21", "/v1beta/openai/chat/completions"),
  chat("RB21", "/v1/projects/p/locations/l/endpoints/openapi/chat/completions"),
  chat("RB21", "/v1beta1/projects/p/locations/us-central1/endpoints/openapi/chat/completions", {
    body: { model: "@d/google/gemini-3.8-flash", ...hi }
  }),
  {
    id: "RB21",
    kind: "W34",
    title: "embeddings of Gemini's own OpenAI endpoint",
    path: "/v1beta/openai/embeddings",
    body: { model: "@d/gemini-embedding-2", input: "x" },
    expected: { called: ["/v1beta/models/gemini-embedding-2:batchEmbedContents"] }
  },
  {
    id: "RB21",
    kind: "W34",
    title: "one model of Gemini's own OpenAI endpoint",
    path: "/v1beta/openai/models/@d/gemini-3.8-flash",
    method: "GET",
    expected: { answer: { id: "@d/gemini-3.8-flash", object: "model", created: 0, owned_by: "google" } }
  },
  ...["/v1/v1/chat/completions", "/chat/completions", "//v1/chat/completions", "/v1/chat/completions/"].map((path) =>
    chat("RB114", path)
  ),
  ...["/openai/v1/chat/completions", "/api/v1/chat/completions", "/v1beta/openai/chat/completions/"].map((path) =>
    chat("W34-1", path)
  ),
  ...[
    "/v1/engines/@d/gemini-3.8-flash/chat/completions",
    "/openai/deployments/%40d%2Fgemini-3.8-flash/chat/completions?api-version=2024-10-21"
  ].map((path) =>
    chat("W34-2", path, {
      title: `${path} names the model, whatever the body names`,
      body: { ...hi, model: "gpt-4o" }
    })
  ),
  chat("RB115", "/v1/chat/completions", {
    title: "the key in the header of Azure's SDKs",
    headers: { "x-gateway-api-key": "", "api-key": "mgk_test0000000000000000000000000000" }
  }),
  chat("RB115", "/v1/chat/completions", {
    title: "the key as a bearer in small letters",
    headers: { "x-gateway-api-key": "", authorization: "bearer mgk_test0000000000000000000000000000" }
  }),
  {
    id: "RB96",
    kind: "W34",
    title: "Anthropic's dated name of a model on Vertex AI",
    body: { model: "@p/claude-haiku-4-5-20251001", ...hi },
    expected: {
      called: [
        "/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict"
      ]
    }
  },
  {
    id: "RB106",
    kind: "W34",
    title: "a WebSocket on /v1/responses is answered with 426",
    path: "/v1/responses",
    method: "GET",
    headers: { upgrade: "websocket" },
    expected: { status: 426 }
  },
  ...["generationOutputConfig.outputUriPrefix", "generation_output_config.output_uri_prefix"].flatMap((member) =>
    ["gs://other/x", "GS://other/x"].map((address): Row => {
      const [holder = "", name = ""] = member.split(".")
      return {
        id: "W1-1",
        kind: "W1",
        title: `a stored credential writes nowhere by ${member}: ${address}`,
        path: "/v1/publishers/google/models/gemini-3.8-flash:generateContent",
        headers: { "x-gateway-provider": "p" },
        body: { contents: [{ role: "user", parts: [{ text: "hi" }] }], [holder]: { [name]: address } },
        expected: { status: 403, sent: [] }
      }
    })
  ),
  {
    id: "W1-2",
    kind: "W1",
    title: "rawPredict of a Gemini model below Anthropic's publisher is refused by name",
    path: "/v1/projects/p/locations/l/publishers/anthropic/models/gemini-3.8-flash:rawPredict",
    headers: { "x-gateway-provider": "p", "x-request-id": "r" },
    body: { anthropic_version: "vertex-2023-10-16", max_tokens: 1, ...hi },
    expected: {
      status: 400,
      sent: [],
      answer: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            "rawPredict of a model that is not Claude is not offered by this gateway: use generateContent of publishers/google."
        },
        request_id: "r"
      }
    }
  }
]
