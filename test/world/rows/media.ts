// Reports about pictures, sound, video and files.
// Must not depend on the service.
import type { Row } from "../row.ts"

const text = { type: "text", text: "x" }
const gemini = "@d/gemini-3.8-flash"
const older = "@p/gemini-2.5-flash"
const claude = "@p/claude-sonnet-4-5"
const llama = "@p/meta/llama-4-maverick-17b-128e-instruct-maas"
const asked = (part: unknown, model = gemini) => ({
  model,
  messages: [{ role: "user", content: [part, text] }]
})
const sent = (part: unknown) => [{ contents: [{ role: "user", parts: [part, { text: "x" }] }] }]
const sentToClaude = (block: unknown) => [
  {
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 32_000,
    messages: [{ role: "user", content: [block, text] }]
  }
]
const sentToLlama = (part: unknown) => [
  {
    model: "meta/llama-4-maverick-17b-128e-instruct-maas",
    messages: [{ role: "user", content: [part, text] }]
  }
]
const png = "iVBORw0KGgo="
const jpeg = "/9j/4AAQSkZJRgABAQAAAQ=="
const pdf = "JVBERi0xLjcgYW5kIHNvIG9u"
const picture = { inlineData: { mimeType: "image/png", data: png } }
const pngUri = `data:image/png;base64,${png}`
const remote = (mimeType: string, fileUri: string) => ({ fileData: { mimeType, fileUri } })

/** Spellings of one picture. */
const pictures: ReadonlyArray<readonly [string, unknown]> = [
  ["input_image of the Responses API", { type: "input_image", image_url: pngUri }],
  ["Anthropic's image", { type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
  ["an image that is a text", { type: "image", image: pngUri }],
  ["LangChain's image", { type: "image", source_type: "base64", data: png, mime_type: "image/png" }],
  ["Google's inlineData", { inlineData: { mimeType: "image/png", data: png } }],
  ["Google's inline_data", { inline_data: { mime_type: "image/png", data: png } }],
  ["a file of the type image/png", { type: "file", data: png, mediaType: "image/png" }]
]
const spelledPictures = pictures.flatMap(([name, part], at): ReadonlyArray<Row> => [
  {
    id: `W22-${at + 1}`,
    kind: "W22",
    title: `${name} is a picture for Gemini`,
    body: asked(part),
    expected: { sent: sent(picture) }
  },
  {
    id: `W22-${at + 1}-claude`,
    kind: "W22",
    title: `${name} is a picture for Claude`,
    body: asked(part, claude),
    expected: {
      sent: sentToClaude({ type: "image", source: { type: "base64", media_type: "image/png", data: png } })
    }
  },
  {
    id: `W22-${at + 1}-open`,
    kind: "W22",
    title: `${name} is a picture for an open model`,
    body: asked(part, llama),
    expected: {
      sent: sentToLlama({
        type: "image_url",
        image_url: { url: pngUri }
      })
    }
  }
])

/** Spellings of files, and the part that Gemini gets of each. */
const files: ReadonlyArray<readonly [string, unknown, unknown, string?]> = [
  [
    "an audio_url is sound",
    { type: "audio_url", audio_url: { url: "https://b.example/a.wav" } },
    remote("audio/wav", "https://b.example/a.wav")
  ],
  [
    "a video_url without an extension is video/mp4",
    { type: "video_url", video_url: "https://b.example/v" },
    remote("video/mp4", "https://b.example/v")
  ],
  [
    "a video_url may be a data URI",
    { type: "video_url", video_url: { url: "data:video/webm;base64,AAAA" } },
    { inlineData: { mimeType: "video/webm", data: "AAAA" } }
  ],
  [
    "a document_url is a PDF",
    { type: "document_url", document_url: "https://b.example/d?id=1" },
    remote("application/pdf", "https://b.example/d?id=1")
  ],
  [
    "a file_url is a file",
    { type: "file_url", file_url: { url: "https://b.example/a.csv" } },
    remote("text/plain", "https://b.example/a.csv")
  ],
  [
    "an input_file of the Responses API is a file",
    { type: "input_file", file_data: `data:application/pdf;base64,${pdf}`, filename: "a.pdf" },
    { inlineData: { mimeType: "application/pdf", data: pdf } }
  ],
  [
    "an input_audio may have its fields in itself",
    { type: "input_audio", data: "AAAA", format: "mp3" },
    { inlineData: { mimeType: "audio/mp3", data: "AAAA" } }
  ],
  [
    "Anthropic's document is a file",
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf }, title: "a" },
    { inlineData: { mimeType: "application/pdf", data: pdf } }
  ],
  [
    "Anthropic's document of words is a text document",
    { type: "document", source: { type: "text", media_type: "text/plain", data: "ab" } },
    { inlineData: { mimeType: "text/plain", data: "YWI=" } }
  ],
  [
    "Google's fileData is a file",
    { fileData: { mimeType: "video/mp4", fileUri: "gs://bucket-a/v" } },
    remote("video/mp4", "gs://bucket-a/v"),
    older
  ],
  ["an input_text of the Responses API is a text", { type: "input_text", text: "y" }, { text: "y" }],
  ["Google's text part is a text", { text: "y" }, { text: "y" }]
]
const spelledFiles = files.map(([title, part, expected, model = gemini], at): Row => ({
  id: `W22-${at + 11}`,
  kind: "W22",
  title,
  body: asked(part, model),
  expected: { sent: sent(expected) }
}))

const repaired = ["data:image/png;base64, iVBORw0KGgo=", "data:image/png;base64,iVBORw0K\nGgo="].map(
  (url, at): Row => ({
    id: `RB07${at === 0 ? "" : "-lines"}`,
    kind: "W26",
    title: at === 0 ? "a space after the comma of a data URI is taken out" : "line breaks of base64 are taken out",
    body: asked({ type: "image_url", image_url: { url } }),
    expected: { sent: sent(picture) }
  })
)

const inResponses = [
  ...pictures.slice(1),
  ["an image_url of chat", { type: "image_url", image_url: { url: pngUri } }] as const
].map(([name, part], at): Row => ({
  id: `W22-${at + 41}`,
  kind: "W22",
  title: `${name} is a picture in the Responses API`,
  path: "/v1/responses",
  body: { model: gemini, input: [{ role: "user", content: [part, { type: "input_text", text: "x" }] }] },
  expected: { sent: sent(picture) }
}))

export const media: ReadonlyArray<Row> = [
  {
    id: "RB03",
    kind: "W22",
    title: "a video_url of YouTube is a video",
    body: {
      model: gemini,
      messages: [
        {
          role: "user",
          content: [text, { type: "video_url", video_url: { url: "https://www.youtube.com/watch?v=abc" } }]
        }
      ]
    },
    expected: {
      sent: [
        {
          contents: [
            { role: "user", parts: [{ text: "x" }, remote("video/mp4", "https://www.youtube.com/watch?v=abc")] }
          ]
        }
      ]
    }
  },
  ...spelledPictures,
  ...spelledFiles,
  ...inResponses,
  {
    id: "W22-30",
    kind: "W22",
    title: "an open model gets a video_url as it came",
    body: asked({ type: "video_url", video_url: { url: "https://b.example/v.mp4" } }, llama),
    expected: { sent: sentToLlama({ type: "video_url", video_url: { url: "https://b.example/v.mp4" } }) }
  },
  ...repaired,
  {
    id: "W26-1",
    kind: "W26",
    title: "an open model gets base64 without white space, of the type that the bytes show",
    body: asked({ type: "image_url", image_url: { url: `data:image/png;base64, ${jpeg}`, detail: "low" } }, llama),
    expected: {
      sent: sentToLlama({ type: "image_url", image_url: { url: `data:image/jpeg;base64,${jpeg}`, detail: "low" } })
    }
  },
  {
    id: "W45-1",
    kind: "W45",
    title: "Claude gets the type that the bytes show",
    body: asked({ type: "image_url", image_url: { url: `data:image/png;base64,${jpeg}` } }, claude),
    expected: {
      sent: sentToClaude({ type: "image", source: { type: "base64", media_type: "image/jpeg", data: jpeg } })
    }
  },
  {
    id: "W25-1",
    kind: "W25",
    title: "half of a surrogate pair and a NUL become U+FFFD for every family",
    body: asked({ type: "text", text: "a\ud83d b\0" }),
    expected: { sent: sent({ text: "a\ufffd b\ufffd" }) }
  },
  {
    id: "W25-2",
    kind: "W25",
    title: "the Responses API takes half of a surrogate pair",
    path: "/v1/responses",
    body: { model: gemini, input: "a\ud83d" },
    expected: { sent: [{ contents: [{ role: "user", parts: [{ text: "a\ufffd" }] }] }] }
  },
  {
    id: "W25-3",
    kind: "W25",
    title: "embeddings take half of a surrogate pair",
    path: "/v1/embeddings",
    body: { model: "@d/gemini-embedding-001", input: "a\ud83d" },
    expected: {
      sent: [{ requests: [{ model: "models/gemini-embedding-001", content: { parts: [{ text: "a\ufffd" }] } }] }]
    }
  },
  {
    id: "RB63",
    kind: "W42",
    title: "a file_id may be an object of a bucket, with its type in format",
    body: asked({ type: "file", file: { file_id: "gs://bucket-a/doc.pdf", format: "application/pdf" } }, older),
    expected: { sent: sent(remote("application/pdf", "gs://bucket-a/doc.pdf")) }
  },
  {
    id: "RB65",
    kind: "W42",
    title: "a file part has detail, format and video_metadata",
    body: asked({
      type: "file",
      file: {
        file_id: "files/abc",
        format: "video/mp4",
        detail: "low",
        video_metadata: { fps: 5, start_offset: "10s", end_offset: "60s" }
      }
    }),
    expected: {
      sent: sent({
        ...remote("video/mp4", "https://generativelanguage.googleapis.com/v1beta/files/abc"),
        videoMetadata: { startOffset: "10s", endOffset: "60s", fps: 5 },
        mediaResolution: { level: "MEDIA_RESOLUTION_LOW" }
      })
    }
  },
  {
    id: "W42-1",
    kind: "W42",
    title: "file_data and url of a file may be an https address",
    body: {
      model: gemini,
      messages: [
        {
          role: "user",
          content: [
            { type: "file", file: { file_data: "https://b.example/a.pdf" } },
            { type: "file", file: { url: "https://b.example/b", format: "pdf" } }
          ]
        }
      ]
    },
    expected: {
      sent: [
        {
          contents: [
            {
              role: "user",
              parts: [
                remote("application/pdf", "https://b.example/a.pdf"),
                remote("application/pdf", "https://b.example/b")
              ]
            }
          ]
        }
      ]
    }
  },
  {
    id: "RB104",
    kind: "W42",
    title: "an object of a bucket without an extension has the type of its format",
    body: asked({ type: "image_url", image_url: { url: "gs://bucket-a/photo", format: "image/png" } }, older),
    expected: { sent: sent(remote("image/png", "gs://bucket-a/photo")) }
  },
  {
    id: "RB111",
    kind: "W4",
    title: "detail of a picture is the resolution of the part on Gemini 3",
    body: asked({ type: "image_url", image_url: { url: pngUri, detail: "low" } }),
    expected: { sent: sent({ ...picture, mediaResolution: { level: "MEDIA_RESOLUTION_LOW" } }) }
  }
]
