// Reports about pictures, sound, video and files.
// Must not depend on the service.
import type { Row } from "../row.ts"

const text = { type: "text", text: "x" }
const asked = (part: unknown, model = "@d/gemini-3.8-flash") => ({
  model,
  messages: [{ role: "user", content: [part, text] }]
})
const sent = (part: unknown) => [{ contents: [{ role: "user", parts: [part, { text: "x" }] }] }]

export const media: ReadonlyArray<Row> = [
  {
    id: "RB104",
    kind: "W42",
    title: "an object of a bucket without an extension has the type of its format",
    body: asked(
      { type: "image_url", image_url: { url: "gs://bucket-a/photo", format: "image/png" } },
      "@p/gemini-2.5-flash"
    ),
    expected: { sent: sent({ fileData: { mimeType: "image/png", fileUri: "gs://bucket-a/photo" } }) }
  }
]
