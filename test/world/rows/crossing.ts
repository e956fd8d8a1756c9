// Reports about bodies of one of Google's products that the other one serves: spellings, nulls, objects in the place of lists.
// Must not depend on the service.
import type { Row } from "../row.ts"

const said = [{ role: "user", parts: [{ text: "hi" }] }]
const quiet = { "x-gateway-ignored-params": null }

/** What a client of one product sends, and what the other one gets. */
const bodies: ReadonlyArray<readonly [title: string, body: object, sent: object]> = [
  [
    "members in either spelling, numbers as texts and nulls",
    {
      contents: said,
      system_instruction: { parts: [{ text: "S" }], role: null },
      generation_config: { max_output_tokens: "12", temperature: "0.5", topK: "3", responseMimeType: null },
      safetySettings: null,
      tools: null,
      tool_config: null,
      labels: null,
      cachedContent: null,
      modelArmorConfig: null,
      serviceTier: null,
      store: null
    },
    {
      contents: said,
      systemInstruction: { parts: [{ text: "S" }] },
      generationConfig: { maxOutputTokens: "12", temperature: "0.5", topK: "3" }
    }
  ],
  [
    "nulls in the parts of a history, and what a function answered",
    {
      contents: [
        {
          parts: [{ inline_data: { mime_type: "image/png", data: "iVBORw0KGgo=", displayName: null }, toolCall: null }]
        },
        { role: "model", parts: [{ function_call: { name: "f", args: { a_b: 1 }, partial_args: null } }] },
        { role: "user", parts: [{ function_response: { name: "f", response: { x_y: null } }, partMetadata: null }] }
      ]
    },
    {
      contents: [
        { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: { a_b: 1 } } }] },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { x_y: null } } }] }
      ]
    }
  ],
  [
    "tools that only the other product has, as nulls",
    { contents: said, tools: [{ googleSearch: {}, retrieval: null, file_search: null }, { mcpServers: null }] },
    { contents: said, tools: [{ googleSearch: {} }] }
  ],
  [
    "settings that only the other product has, as nulls",
    {
      contents: said,
      generationConfig: {
        audioTimestamp: null,
        enableEnhancedCivicAnswers: null,
        image_config: { aspect_ratio: "1:1", personGeneration: null }
      }
    },
    { contents: said, generationConfig: { imageConfig: { aspectRatio: "1:1" } } }
  ],
  [
    "objects in the place of lists, as Google's own pages write them",
    { contents: { role: "user", parts: { text: "hi" } }, tools: { google_search: {} } },
    { contents: said, tools: [{ googleSearch: {} }] }
  ],
  ["an empty name of a cached content", { contents: said, cached_content: "" }, { contents: said }]
]

const ways = [
  [
    "the Gemini API",
    "/v1/projects/any/locations/us-central1/publishers/google/models/@d/gemini-3.8-flash:generateContent"
  ],
  ["Vertex AI", "/v1beta/models/@p/gemini-2.5-flash:generateContent"]
] as const

export const crossing: ReadonlyArray<Row> = [
  ...bodies.flatMap(([title, body, sent], at) =>
    ways.map(([product, path], way): Row => ({
      id: `W4-${2 * at + way + 1}`,
      kind: "W4",
      title: `${product} gets the other product's body with ${title}`,
      path,
      body,
      expected: { headers: quiet, sent: [sent] }
    }))
  ),
  {
    id: "W4-31",
    kind: "W4",
    title: "a single content without its list passes as its bytes",
    path: "/v1beta/models/@d/gemini-3.8-flash:generateContent",
    body: { contents: { role: "user", parts: { text: "hi" } } },
    expected: { sent: [{ contents: { role: "user", parts: { text: "hi" } } }] }
  }
]
