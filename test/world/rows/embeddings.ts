// Reports about embeddings: media, lists, and the vectors that come back.
// Must not depend on the service.
import type { Row } from "../row.ts"

const path = "/v1/embeddings"
const png = "iVBORw0KGgo="
const inline = { inlineData: { mimeType: "image/png", data: png } }
const two = "gemini-embedding-2"
const batch = (...parts: ReadonlyArray<ReadonlyArray<unknown>>) => [
  { requests: parts.map((own) => ({ model: `models/${two}`, content: { parts: own } })) }
]
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }

const picture = (id: string, title: string, input: unknown, sent: unknown): Row => ({
  id,
  kind: "W35",
  title,
  path,
  body: { model: `@d/${two}`, input },
  expected: { sent: [sent].flat() }
})

const answer = (vectors: ReadonlyArray<ReadonlyArray<number>>, model: string, tokens = 0) => ({
  object: "list",
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens }
})

const words = (count: number) => Array.from({ length: count }, () => "word".repeat(30).concat(" x"))

export const embeddings: ReadonlyArray<Row> = [
  picture("RB23", "a picture as a part of a chat", [image], batch([inline])),
  picture("RB23", "a picture as base64", [{ image: { base64: png } }], batch([inline])),
  picture(
    "W35-1",
    "a picture and a text of one vector",
    [{ text: "a", image: { base64: png } }],
    batch([{ text: "a" }, inline])
  ),
  picture(
    "W35-2",
    "parts of one vector, next to a text of another",
    [{ content: [{ type: "text", text: "a" }, image] }, "b"],
    batch([{ text: "a" }, inline], [{ text: "b" }])
  ),
  picture("W35-3", "a list of parts in a list", [[{ type: "text", text: "a" }, image]], batch([{ text: "a" }, inline])),
  picture("W35-4", "Google's own parts", [{ parts: [inline] }], batch([inline])),
  {
    id: "W35-5",
    kind: "W35",
    title: "a picture on Vertex AI",
    path,
    body: { model: `@p/${two}`, input: [image] },
    expected: { sent: [{ content: { parts: [inline] } }] }
  },
  {
    id: "W35-6",
    kind: "W35",
    title: "a part of a chat on multimodalembedding@001",
    path,
    body: { model: "@p/multimodalembedding@001", input: [image] },
    upstream: [{ status: 200, body: { predictions: [{ imageEmbedding: [1, 2] }] } }],
    expected: {
      sent: [{ instances: [{ image: { bytesBase64Encoded: png, mimeType: "image/png" } }] }],
      answer: answer([[1, 2]], "multimodalembedding@001")
    }
  },
  {
    id: "RB09",
    kind: "W35",
    title: "token arrays of LangChain are refused with its own setting",
    path,
    body: { model: `@d/${two}`, input: [[9906, 1917]] },
    expected: {
      status: 400,
      sent: [],
      answer: {
        error: {
          message:
            "Token arrays mean nothing to this model, whose tokens are others; send texts. In LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False.",
          type: "invalid_request_error",
          param: "input",
          code: "unsupported_input"
        }
      }
    }
  },
  {
    id: "W35-7",
    kind: "W35",
    title: "an empty text is sent",
    path,
    body: { model: `@d/${two}`, input: ["a", ""] },
    expected: { sent: batch([{ text: "a" }], [{ text: "" }]) }
  },
  {
    id: "W35-8",
    kind: "W35",
    title: "an empty text that the provider refuses is named",
    path,
    body: { model: `@d/${two}`, input: ["a", ""] },
    upstream: [
      { status: 400, body: { error: { code: 400, message: "Content is empty.", status: "INVALID_ARGUMENT" } } }
    ],
    expected: {
      status: 400,
      answer: {
        error: {
          message: "Content is empty. input[1] has no text; leave it out or send a text.",
          type: "invalid_request_error",
          param: "input[1]",
          code: "upstream_invalid_argument"
        }
      }
    }
  },
  {
    id: "RB24",
    kind: "W35",
    title: "a shortened vector of gemini-embedding-001 has unit length",
    path,
    body: { model: "@p/gemini-embedding-001", input: "x", dimensions: 768 },
    expected: { answer: answer([[0.6, 0.8]], "gemini-embedding-001", 1) }
  },
  {
    id: "RB24",
    kind: "W35",
    title: "the same on the Gemini API, as base64",
    path,
    body: { model: "@d/gemini-embedding-001", input: "x", dimensions: 2, encoding_format: "base64" },
    expected: {
      answer: {
        ...answer([], "gemini-embedding-001"),
        data: [{ object: "embedding", index: 0, embedding: "mpkZP83MTD8=" }]
      }
    }
  },
  {
    id: "W35-9",
    kind: "W35",
    title: "a vector that was not shortened keeps its numbers",
    path,
    body: { model: "@p/gemini-embedding-001", input: "x" },
    expected: { answer: answer([[3, 4]], "gemini-embedding-001", 1) }
  },
  {
    id: "RB49",
    kind: "W35",
    title: "dimensions reach the model",
    path,
    body: { model: `@d/${two}`, input: "x", dimensions: 1536 },
    expected: {
      sent: [
        { requests: [{ model: `models/${two}`, content: { parts: [{ text: "x" }] }, outputDimensionality: 1536 }] }
      ]
    }
  },
  {
    id: "RB49",
    kind: "W35",
    title: "a batch of the SDK passes",
    path: `/v1beta/models/${two}:batchEmbedContents`,
    headers: { "x-gateway-provider": "d" },
    body: { requests: [{ content: { parts: [{ text: "x" }] }, outputDimensionality: 1536 }] },
    expected: {
      sent: [{ requests: [{ content: { parts: [{ text: "x" }] }, outputDimensionality: 1536 }] }],
      answer: { embeddings: [{ values: [3, 4] }] }
    }
  },
  {
    id: "RB109",
    kind: "W47",
    title: "251 texts are two calls",
    path,
    body: { model: "@p/text-embedding-005", input: Array.from({ length: 251 }, () => "x") },
    expected: {
      sent: [{ instances: Array.from({ length: 250 }, () => ({ content: "x" })) }, { instances: [{ content: "x" }] }],
      answer: answer(
        Array.from({ length: 251 }, () => [3, 4]),
        "text-embedding-005",
        251
      )
    }
  },
  {
    id: "RB76",
    kind: "W47",
    title: "calls have at most 20,000 tokens",
    path,
    body: { model: "@p/text-embedding-005", input: words(500) },
    expected: {
      sent: [
        { instances: words(250).map((content) => ({ content })) },
        { instances: words(250).map((content) => ({ content })) }
      ]
    }
  },
  {
    id: "RB76",
    kind: "W47",
    title: "long texts are more calls than their number needs",
    path,
    body: { model: "@p/text-embedding-005", input: Array.from({ length: 3 }, () => "abc".repeat(9_000)) },
    expected: {
      sent: [2, 1].map((count) => ({
        instances: Array.from({ length: count }, () => ({ content: "abc".repeat(9_000) }))
      }))
    }
  },
  {
    id: "W47-1",
    kind: "W47",
    title: "a native batch on Vertex AI is one call for 250 inputs",
    path: "/v1beta/models/text-embedding-005:batchEmbedContents",
    headers: { "x-gateway-provider": "p" },
    body: { requests: ["a", "b", "c"].map((text) => ({ content: { parts: [{ text }] } })) },
    expected: {
      sent: [{ instances: [{ content: "a" }, { content: "b" }, { content: "c" }] }],
      answer: { embeddings: [{ values: [3, 4] }, { values: [3, 4] }, { values: [3, 4] }] }
    }
  }
]
