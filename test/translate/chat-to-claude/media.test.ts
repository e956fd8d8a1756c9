// Tests media of Claude requests: T1812 to T1815, T1831.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { mediaUrls } from "../../../src/translate/shared/media/fetchedMedia.ts"
import type { FetchedMedia } from "../../../src/translate/Translator.ts"
import { chatRequest } from "../../support/chat.ts"
import {
  assistant,
  blocksSent,
  call,
  calling,
  claudeContext,
  refused,
  sent,
  text,
  tool,
  translate,
  user
} from "../../support/claude.ts"

const url = (address: unknown, rest: object = {}) => ({ type: "image_url", image_url: { url: address, ...rest } })
const file = (rest: object) => ({ type: "file", file: rest })
const data = (mime: string, payload: string) => `data:${mime};base64,${payload}`
const base64 = (words: string) => Buffer.from(words).toString("base64")
const one = (part: unknown) => blocksSent([part])[0]
const fault = (part: unknown) => refused([user([part])])
const image = (media_type: string, payload = "AAAA") => ({
  type: "image",
  source: { type: "base64", media_type, data: payload }
})
const at = (field: string) => `messages[0].content[0].${field}`

describe("Claude images (T1812)", () => {
  it("Claude accepts the four image types in any spelling", () => {
    for (const mime of ["image/jpeg", "image/png", "image/gif", "image/webp"])
      expect(one(url(data(mime, "AAAA")))).toStrictEqual(image(mime))
    expect(one(url(data("image/jpg", "AAA")))).toStrictEqual(image("image/jpeg", "AAA="))
    expect(one(url(data("IMAGE/PNG;charset=utf-8", "AAAA")))).toStrictEqual(image("image/png"))
    const bare = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      Buffer.alloc(60)
    ]).toString("base64")
    expect(one(url(bare))).toStrictEqual(image("image/png", bare))
    expect(one(url(data("application/octet-stream", "AAAA"), { mime_type: "png" }))).toStrictEqual(image("image/png"))
  })
  it("Claude images of other types are refused", () => {
    for (const mime of [
      "image/heic",
      "image/heif",
      "image/avif",
      "image/svg+xml",
      "image/bmp",
      "audio/mp3",
      "video/mp4",
      "application/zip"
    ]) {
      expect([mime, ...fault(url(data(mime, "AAAA")))]).toStrictEqual([
        mime,
        at("image_url.url"),
        "unsupported_media_type"
      ])
    }
    expect(fault({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })).toStrictEqual([
      at("input_audio.data"),
      "unsupported_media_type"
    ])
  })
  it("image data that is not base64 is refused (T203)", () => {
    for (const bad of ["data:image/png,AAAA", "data:image/png;base64,", "data:image/png;base64,A*"]) {
      expect(fault(url(bad))).toStrictEqual([at("image_url.url"), "invalid_base64"])
    }
  })
})

describe("media addresses for Claude (T1813, T1814)", () => {
  it.each([
    "https://example.com/x.png",
    "https://example.com/x",
    "gs://bucket/x.png",
    "https://generativelanguage.googleapis.com/v1beta/files/abc",
    "files/abc",
    "https://youtu.be/abc",
    "http://example.com/x.png",
    "file:///etc/passwd",
    "https://127.0.0.1/x.png",
    "nothing"
  ])("a media address for Claude: %s", (address) => {
    expect(fault(url(address))).toStrictEqual([at("image_url.url"), "invalid_media_url"])
  })
  it("file addresses follow the same rules as image addresses", () => {
    expect(fault(file({ file_url: "https://example.com/x.pdf" }))).toStrictEqual([
      at("file.file_url"),
      "invalid_media_url"
    ])
    expect(fault(file({ file_id: "files/abc" }))).toStrictEqual([at("file.file_id"), "invalid_media_url"])
  })
})

describe("fetched media for Claude (T1813)", () => {
  const bytesOf = (...bytes: ReadonlyArray<number | string>) =>
    Buffer.concat(bytes.map((one) => (typeof one === "string" ? Buffer.from(one) : Buffer.of(one))))
  const pngBytes = bytesOf(0x89, "PNG\r\n", 0x1a, "\nrest")
  const jpegBytes = bytesOf(0xff, 0xd8, 0xff, "rest and more")
  const pdfBytes = bytesOf("%PDF-1.7 and more")
  const got = (bytes: Buffer | string, contentType?: string): FetchedMedia => ({
    _tag: "Fetched",
    contentType,
    data: Buffer.from(bytes).toString("base64")
  })
  const around = (address: string, fetched: FetchedMedia) =>
    claudeContext(undefined, { fetched: { [address]: fetched } })
  const read = (address: string, fetched: FetchedMedia, rest: object = {}) =>
    blocksSent([url(address, rest)], around(address, fetched))[0]
  const refusal = (address: string, fetched: FetchedMedia, rest: object = {}) =>
    refused([user([url(address, rest)])], {}, around(address, fetched))
  const messageOf = (address: string, context = claudeContext()) => {
    const out = translate([user([url(address)])], {}, context)
    return Result.isFailure(out) && "message" in out.failure ? out.failure.message : undefined
  }
  const image64 = (media_type: string, bytes: Buffer) => image(media_type, bytes.toString("base64"))
  const pdf = (bytes: Buffer) => ({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: bytes.toString("base64") }
  })
  const document = (words: string) => ({
    type: "document",
    source: { type: "text", media_type: "text/plain", data: words }
  })

  it("the type comes from the host, else the request, else the extension, else the bytes", () => {
    expect(read("https://a.example/x", got(pngBytes, "image/png"))).toStrictEqual(image64("image/png", pngBytes))
    expect(read("https://a.example/x.png", got(pdfBytes, "application/pdf; v=1"))).toStrictEqual(pdf(pdfBytes))
    expect(
      read("https://a.example/x.png", got(pdfBytes, "application/octet-stream"), { mime_type: "application/pdf" })
    ).toStrictEqual(pdf(pdfBytes))
    expect(read("https://a.example/x.pdf?y=1", got(pdfBytes, "binary/octet-stream"))).toStrictEqual(pdf(pdfBytes))
    expect(read("https://a.example/x", got(jpegBytes))).toStrictEqual(image64("image/jpeg", jpegBytes))
    expect(read("https://a.example/x.php", got(jpegBytes, "image/jpeg"))).toStrictEqual(
      image64("image/jpeg", jpegBytes)
    )
    expect(read("https://a.example/x", got("<p>é</p>", "text/html; charset=utf-8"))).toStrictEqual(document("<p>é</p>"))
    expect(refusal("https://a.example/x", got("rest of something"))).toStrictEqual([
      at("image_url.url"),
      "unknown_media_type"
    ])
  })
  it("a mislabelled image gets the type of its bytes", () => {
    expect(read("https://a.example/x.png", got(jpegBytes, "image/png"))).toStrictEqual(image64("image/jpeg", jpegBytes))
  })
  it("fetched bytes that are neither image nor document are refused despite their label", () => {
    for (const [address, fetched] of [
      ["https://a.example/x.png", got("<html>Log in</html>", "text/html")],
      ["https://a.example/x.pdf", got("{}", "application/json")],
      ["https://a.example/x", got("not an image", "image/png")],
      ["https://a.example/x", got(pdfBytes, "image/png")],
      ["https://a.example/x", got(pngBytes, "application/pdf")],
      ["https://a.example/x.png", got("<html>Log in</html>", "application/octet-stream")],
      ["https://a.example/x.txt", got(Buffer.of(0xff), "text/plain")]
    ] as const) {
      expect([address, ...refusal(address, fetched)]).toStrictEqual([
        address,
        at("image_url.url"),
        "media_fetch_failed"
      ])
    }
  })
  it("fetched media of types Claude does not read are refused", () => {
    for (const type of ["image/heic", "image/avif", "audio/wav"]) {
      expect(refusal("https://a.example/x", got(bytesOf(0, 0, 0, 0, "ftypheicmore"), type))).toStrictEqual([
        at("image_url.url"),
        "unsupported_media_type"
      ])
    }
  })
  it("files keep their names and cache marks; tool results keep their images", () => {
    const address = "https://a.example/x.pdf"
    const context = around(address, got(pdfBytes, "application/pdf"))
    const mark = { type: "ephemeral" }
    expect(
      blocksSent([{ ...file({ file_url: address, filename: "a.pdf" }), cache_control: mark }], context)
    ).toStrictEqual([{ ...pdf(pdfBytes), title: "a.pdf", cache_control: mark }])
    const { messages } = sent([user("q"), calling(call("1")), tool("1", [url(address)])], {}, context)
    expect(messages[2]?.content).toStrictEqual([{ type: "tool_result", tool_use_id: "1", content: [pdf(pdfBytes)] }])
  })
  it("a failed fetch is refused with its cause and the alternatives", () => {
    const address = "https://a.example/x.png"
    const failed = { _tag: "Failed", message: "It rained." } as const
    expect(refusal(address, failed)).toStrictEqual([at("image_url.url"), "media_fetch_failed"])
    expect(messageOf(address, around(address, failed))).toBe(
      "It rained. Where this cannot be mended, send data:<type>;base64,<data>."
    )
  })
  it("media that were not fetched are refused with a hint at the setting", () => {
    const inline = "Claude reads media from the request itself only: send data:<type>;base64,<data>."
    expect(messageOf("https://a.example/x.png")).toBe(
      `${inline} The operator can have public addresses fetched by the setting media.fetch.`
    )
    for (const address of ["https://10.0.0.1/x.png", "gs://bucket/x.png", "https://youtu.be/abc"])
      expect(messageOf(address)).toBe(inline)
  })
  it("a dry run shows a placeholder for the bytes", () => {
    const words = (address: string) => `<what ${address} holds when the request is sent>`
    const shown = { _tag: "Shown" } as const
    expect(read("https://a.example/x.png", shown)).toStrictEqual(image("image/png", words("https://a.example/x.png")))
    expect(read("https://a.example/x.md", shown)).toStrictEqual(document(words("https://a.example/x.md")))
    expect(refusal("https://a.example/x", shown)).toStrictEqual([at("image_url.url"), "unknown_media_type"])
  })
})

describe("media URLs to fetch (T1813)", () => {
  it("public addresses are listed once each, from every place of media", () => {
    const at = (name: string) => `https://a.example/${name}`
    expect(
      mediaUrls(
        chatRequest([
          user([
            { type: "text", text: at("no") },
            url(at("1")),
            { type: "image_url", image_url: at("2") },
            file({ file_url: at("3"), file_data: "" })
          ]),
          user([url(at("1"))]),
          assistant("a", { content_parts: [url(at("5"))], content_blocks: [url(at("4"))] }),
          tool("1", [url(at("6"))])
        ])
      )
    ).toStrictEqual(["1", "2", "3", "4", "5", "6"].map(at))
  })
  it("other addresses are not listed", () => {
    const others = [
      "data:image/png;base64,AAAA",
      "gs://bucket/x.png",
      "https://youtu.be/abc",
      "https://generativelanguage.googleapis.com/v1beta/files/abc",
      "http://a.example/x.png",
      "https://127.0.0.1/x.png",
      "https://[::1]/x.png",
      "https://u:p@a.example/x.png",
      "https://a.example:8443/x.png",
      "x",
      "",
      7,
      null
    ]
    expect(
      mediaUrls(
        chatRequest([
          user("https://a.example/x.png"),
          user(others.map((one) => url(one))),
          user([
            null,
            7,
            "x",
            { type: "image_url" },
            { type: "file" },
            file({ file_url: "https://a.example/x.pdf", file_data: "AAAA" }),
            { type: "other", image_url: { url: "https://a.example/x.png" } }
          ])
        ])
      )
    ).toStrictEqual([])
  })
})

describe("Claude documents (T1815)", () => {
  const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } }
  it("a pdf is sent as bytes, with its name as title", () => {
    expect(one(url(data("application/pdf", "AAAA")))).toStrictEqual(pdf)
    expect(one(file({ file_data: "AAAA", filename: "a.pdf" }))).toStrictEqual({ ...pdf, title: "a.pdf" })
    expect(one(file({ file_data: data("application/x-pdf", "AAAA"), filename: "n".repeat(600) }))).toStrictEqual({
      ...pdf,
      title: "n".repeat(500)
    })
  })
  it("text of any type is sent as a text document (T220)", () => {
    const words = "<p>é漢🐎</p>"
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: words } }
    expect(one(url(data("text/html", base64(words))))).toStrictEqual(document)
    expect(one(file({ file_data: base64(words), filename: "a.md" }))).toStrictEqual({ ...document, title: "a.md" })
    expect(fault(url(data("text/plain", "/w==")))).toStrictEqual([at("image_url.url"), "invalid_base64"])
  })
})

describe("Claude cache marks (T1831)", () => {
  const mark = { type: "ephemeral", ttl: "1h" }
  it("cache marks on text, image, document and result stay unchanged", () => {
    expect(
      blocksSent([
        { type: "text", text: "a", cache_control: mark },
        { ...url(data("image/png", "AAAA")), cache_control: { type: "ephemeral" } },
        { ...file({ file_data: "AAAA", filename: "a.pdf" }), cache_control: mark },
        { type: "text", text: "b", cache_control: null }
      ])
    ).toStrictEqual([
      { ...text("a"), cache_control: mark },
      { ...image("image/png"), cache_control: { type: "ephemeral" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
        title: "a.pdf",
        cache_control: mark
      },
      text("b")
    ])
    const { messages } = sent([
      user("q"),
      calling(call("1"), call("2")),
      tool("1", "r", { cache_control: mark }),
      tool("2", [{ type: "text", text: "s", cache_control: mark }])
    ])
    expect(messages[2]?.content).toStrictEqual([
      { type: "tool_result", tool_use_id: "1", content: "r", cache_control: mark },
      { type: "tool_result", tool_use_id: "2", content: [{ ...text("s"), cache_control: mark }] }
    ])
  })
  it("cache marks stay on system texts, tools and assistant texts, and never go on thinking", () => {
    const body = sent(
      [
        { role: "system", content: [{ type: "text", text: "S", cache_control: mark }] },
        user("q"),
        assistant(
          [
            { type: "thinking", thinking: "t", signature: "c2ln", cache_control: mark },
            { type: "text", text: "a", cache_control: mark }
          ],
          { tool_calls: [call("1")] }
        ),
        tool("1", "r")
      ],
      {
        tools: [
          { type: "function", function: { name: "f" }, cache_control: mark },
          { type: "function", function: { name: "g", cache_control: mark } }
        ]
      }
    )
    expect(body.system).toStrictEqual([{ ...text("S"), cache_control: mark }])
    expect(body.tools).toStrictEqual([
      { name: "f", input_schema: { type: "object" }, cache_control: mark },
      { name: "g", input_schema: { type: "object" }, cache_control: mark }
    ])
    expect(body.messages[1]?.content.slice(0, 2)).toStrictEqual([
      { type: "thinking", thinking: "t", signature: "c2ln" },
      { ...text("a"), cache_control: mark }
    ])
  })
  it("a fifth cache mark and later ones are removed, in the order of tools, system, messages", () => {
    const marked = (words: string) => ({ type: "text", text: words, cache_control: mark })
    const body = sent(
      [
        user([marked("a")]),
        calling(call("1")),
        tool("1", [marked("r"), marked("s")], { cache_control: mark }),
        user([marked("b")]),
        { role: "system", content: [marked("S")] }
      ],
      { tools: [{ type: "function", function: { name: "f" }, cache_control: mark }] }
    )
    expect(body.tools?.[0]?.["cache_control"]).toStrictEqual(mark)
    expect(body.system).toStrictEqual([{ ...text("S"), cache_control: mark }])
    expect(body.messages[0]?.content).toStrictEqual([{ ...text("a"), cache_control: mark }])
    expect(body.messages[2]?.content).toStrictEqual([
      { type: "tool_result", tool_use_id: "1", content: [{ ...text("r"), cache_control: mark }, text("s")] },
      text("b")
    ])
  })
})
