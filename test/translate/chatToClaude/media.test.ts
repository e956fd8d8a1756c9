// Media of a request to Claude: T1812 to T1815, T1831.
import { describe, expect, it } from "vitest"
import { assistant, blocksSent, call, calling, refused, sent, text, tool, user } from "../../support/claude.ts"

const url = (address: unknown, rest: object = {}) => ({ type: "image_url", image_url: { url: address, ...rest } })
const file = (rest: object) => ({ type: "file", file: rest })
const data = (mime: string, payload: string) => `data:${mime};base64,${payload}`
const base64 = (words: string) => Buffer.from(words).toString("base64")
const one = (part: unknown) => blocksSent([part])[0]
const fault = (part: unknown) => refused([user([part])])
const image = (media_type: string, payload = "AAAA") => ({ type: "image", source: { type: "base64", media_type, data: payload } })
const at = (field: string) => `messages[0].content[0].${field}`

describe("T1812 images", () => {
  it("the four kinds, of any spelling", () => {
    for (const mime of ["image/jpeg", "image/png", "image/gif", "image/webp"]) expect(one(url(data(mime, "AAAA")))).toStrictEqual(image(mime))
    expect(one(url(data("image/jpg", "AAA")))).toStrictEqual(image("image/jpeg", "AAA="))
    expect(one(url(data("IMAGE/PNG;charset=utf-8", "AAAA")))).toStrictEqual(image("image/png"))
    const bare = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(60)]).toString("base64")
    expect(one(url(bare))).toStrictEqual(image("image/png", bare))
    expect(one(url(data("application/octet-stream", "AAAA"), { mime_type: "png" }))).toStrictEqual(image("image/png"))
  })
  it("other kinds are refused", () => {
    for (const mime of ["image/heic", "image/heif", "image/avif", "image/svg+xml", "image/bmp", "audio/mp3", "video/mp4", "application/zip"]) {
      expect([mime, ...fault(url(data(mime, "AAAA")))]).toStrictEqual([mime, at("image_url.url"), "unsupported_media_type"])
    }
    expect(fault({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })).toStrictEqual([at("input_audio.data"), "unsupported_media_type"])
  })
  it("T203 what is not base64 is refused", () => {
    for (const bad of ["data:image/png,AAAA", "data:image/png;base64,", "data:image/png;base64,A*"]) {
      expect(fault(url(bad))).toStrictEqual([at("image_url.url"), "invalid_base64"])
    }
  })
})

describe("T1813 T1814 addresses", () => {
  it.each([
    "https://example.com/x.png", "https://example.com/x", "gs://bucket/x.png", "https://generativelanguage.googleapis.com/v1beta/files/abc", "files/abc",
    "https://youtu.be/abc", "http://example.com/x.png", "file:///etc/passwd", "https://127.0.0.1/x.png", "nothing"
  ])("%s", (address) => {
    expect(fault(url(address))).toStrictEqual([at("image_url.url"), "invalid_media_url"])
  })
  it("the same of files", () => {
    expect(fault(file({ file_url: "https://example.com/x.pdf" }))).toStrictEqual([at("file.file_url"), "invalid_media_url"])
    expect(fault(file({ file_id: "files/abc" }))).toStrictEqual([at("file.file_id"), "invalid_media_url"])
  })
})

describe("T1815 documents", () => {
  const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } }
  it("pdf as bytes, with its name as title", () => {
    expect(one(url(data("application/pdf", "AAAA")))).toStrictEqual(pdf)
    expect(one(file({ file_data: "AAAA", filename: "a.pdf" }))).toStrictEqual({ ...pdf, title: "a.pdf" })
    expect(one(file({ file_data: data("application/x-pdf", "AAAA"), filename: "n".repeat(600) }))).toStrictEqual({ ...pdf, title: "n".repeat(500) })
  })
  it("T220 text of any kind as text", () => {
    const words = "<p>é漢🐎</p>"
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: words } }
    expect(one(url(data("text/html", base64(words))))).toStrictEqual(document)
    expect(one(file({ file_data: base64(words), filename: "a.md" }))).toStrictEqual({ ...document, title: "a.md" })
    expect(fault(url(data("text/plain", "/w==")))).toStrictEqual([at("image_url.url"), "invalid_base64"])
  })
})

describe("T1831 cache marks", () => {
  const mark = { type: "ephemeral", ttl: "1h" }
  it("are kept whole on text, image, document and result", () => {
    expect(blocksSent([
      { type: "text", text: "a", cache_control: mark },
      { ...url(data("image/png", "AAAA")), cache_control: { type: "ephemeral" } },
      { ...file({ file_data: "AAAA", filename: "a.pdf" }), cache_control: mark },
      { type: "text", text: "b", cache_control: null }
    ])).toStrictEqual([
      { ...text("a"), cache_control: mark },
      { ...image("image/png"), cache_control: { type: "ephemeral" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "a.pdf", cache_control: mark },
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
  it("on system texts, tools and the assistant's texts, never on thinking", () => {
    const body = sent(
      [
        { role: "system", content: [{ type: "text", text: "S", cache_control: mark }] },
        user("q"),
        assistant([{ type: "thinking", thinking: "t", signature: "c2ln", cache_control: mark }, { type: "text", text: "a", cache_control: mark }], { tool_calls: [call("1")] }),
        tool("1", "r")
      ],
      { tools: [{ type: "function", function: { name: "f" }, cache_control: mark }, { type: "function", function: { name: "g", cache_control: mark } }] }
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
  it("a fifth and later ones go, in the order of tools, system, messages", () => {
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
