// Reports about the form of answers: JSON, pictures, speech, searches.
// Must not depend on the service.
import type { Row } from "../row.ts"

const gemini = "@d/gemini-3.8-flash"
const gemma = "@d/gemma-3-27b-it"
const hi = [{ role: "user", content: "hi" }]
const hiGemini = { role: "user", parts: [{ text: "hi" }] }
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const asJson = { responseMimeType: "application/json", responseJsonSchema: { title: "response", ...schema } }
const words = "Answer with one JSON object, without any text or code fence around it."

const formats: ReadonlyArray<readonly [string, object]> = [
  ["schema next to json_object", { type: "json_object", schema }],
  ["response_schema next to json_object", { type: "json_object", response_schema: schema }],
  ["a schema in the place of json_schema", { type: "json_schema", json_schema: schema }],
  ["a schema next to json_schema", { type: "json_schema", name: "response", schema }],
  ["json_schema under json_object", { type: "json_object", json_schema: { name: "response", schema } }]
]

const json: ReadonlyArray<Row> = [
  {
    id: "RB67",
    kind: "W43",
    title: "Gemma gets the wish for JSON in words",
    body: { model: gemma, messages: hi, response_format: { type: "json_object" } },
    expected: { sent: [{ contents: [{ role: "user", parts: [{ text: words }, { text: "hi" }] }] }] }
  },
  ...formats.map(([title, response_format], at): Row => ({
    id: `W43-${at + 1}`,
    kind: "W43",
    title: `${title} is the schema of the answer`,
    body: { model: gemini, messages: hi, response_format },
    expected: { sent: [{ contents: [hiGemini], generationConfig: asJson }] }
  }))
]

const png = "iVBORw0KGgo="
const uri = `data:image/png;base64,${png}`
const picture = { inlineData: { mimeType: "image/png", data: png } }
const imageUrl = { type: "image_url", image_url: { url: uri } }
const drawn = (answer: object, model = "@d/gemini-2.5-flash-image") => ({
  model,
  messages: [
    { role: "user", content: "draw" },
    { role: "assistant", ...answer },
    { role: "user", content: "make it blue" }
  ]
})
const redrawn = (parts: ReadonlyArray<unknown>) => [
  {
    contents: [
      { role: "user", parts: [{ text: "draw" }] },
      { role: "model", parts },
      { role: "user", parts: [{ text: "make it blue" }] }
    ]
  }
]

const history: ReadonlyArray<readonly [string, object, ReadonlyArray<unknown>]> = [
  ["an address in images", { content: "here", images: [uri] }, [{ text: "here" }, picture]],
  ["images without a text", { content: null, images: [imageUrl] }, [picture]],
  [
    "content_parts",
    {
      content: "here",
      content_parts: [
        { type: "text", text: "here" },
        { type: "image", image: { b64_json: png } }
      ]
    },
    [{ text: "here" }, picture]
  ],
  [
    "a Markdown data link",
    { content: `here ![image](${uri}) it is` },
    [{ text: "here " }, picture, { text: " it is" }]
  ],
  [
    "a Markdown data link of a part",
    { content: [{ type: "text", text: `![a](${uri})![b](${uri})` }] },
    [picture, picture]
  ]
]

const pictures: ReadonlyArray<Row> = [
  {
    id: "RB74",
    kind: "W44",
    title: "pictures of an earlier answer in images go back to the model",
    body: drawn({ content: "here", images: [imageUrl] }),
    expected: { sent: redrawn([{ text: "here" }, picture]) }
  },
  ...history.map(([title, answer, parts], at): Row => ({
    id: `W44-${at + 1}`,
    kind: "W44",
    title: `${title}: the picture of an earlier answer goes back to the model`,
    body: drawn(answer),
    expected: { sent: redrawn(parts) }
  })),
  {
    id: "W44-10",
    kind: "W44",
    title: "a picture of an earlier answer stands in the next user turn for Claude",
    body: drawn({ content: `here ![image](${uri})` }, "@p/claude-sonnet-4-5"),
    expected: {
      sent: [
        {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 32_000,
          messages: [
            { role: "user", content: [{ type: "text", text: "draw" }] },
            { role: "assistant", content: [{ type: "text", text: "here " }] },
            {
              role: "user",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
                { type: "text", text: "make it blue" }
              ]
            }
          ]
        }
      ]
    }
  },
  {
    id: "W44-11",
    kind: "W44",
    title: "an open model gets the text of an earlier answer without its pictures",
    body: drawn({ content: "here", images: [imageUrl] }, "@p/meta/llama-4-maverick-17b-128e-instruct-maas"),
    expected: {
      sent: [
        {
          model: "meta/llama-4-maverick-17b-128e-instruct-maas",
          messages: [
            { role: "user", content: "draw" },
            { role: "assistant", content: "here" },
            { role: "user", content: "make it blue" }
          ]
        }
      ]
    }
  }
]

export const pictures: ReadonlyArray<Row> = [...json, ...pictures]
