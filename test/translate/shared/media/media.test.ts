// Tests every accepted form of media, the part sent for it, and the spellings that are refused.
// Must not test turns.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { normaliseBase64 } from "../../../../src/translate/shared/media/base64.ts"
import {
  assistant,
  middle,
  modern,
  older,
  partRefused,
  partsSent,
  refused,
  sent,
  user,
  vertex
} from "../../../support/geminiMessages.ts"

const url = (text: unknown, rest: object = {}) => ({ type: "image_url", image_url: { url: text, ...rest } })
const at = (field: string): string => `messages[0].content[0].${field}`
const fault = (text: unknown, options = {}, rest: object = {}) => partRefused(url(text, rest), options)
const one = (part: unknown, options = {}, model = middle) => partsSent([part], model, options)[0]
const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } })
const remote = (mimeType: string, fileUri: string) => ({ fileData: { mimeType, fileUri } })
const base64 = (bytes: string): string => btoa(bytes)

describe("data URIs", () => {
  it("a data URI keeps type and payload; scheme and type are accepted in any case (T201)", () => {
    expect(one(url("data:image/png;base64,AAAA"))).toStrictEqual(inline("image/png", "AAAA"))
    expect(one(url("DATA:Image/PNG;BASE64,AAAA"))).toStrictEqual(inline("image/png", "AAAA"))
  })
  it("parameters of a data URI are dropped (T202)", () => {
    expect(one(url("data:image/png;charset=utf-8;base64,AAAA"))).toStrictEqual(inline("image/png", "AAAA"))
    expect(one(url("data:audio/L16;rate=24000;base64,AAAA"))).toStrictEqual(inline("audio/pcm", "AAAA"))
  })
  it("a payload that is not base64 is refused (T203, B59)", () => {
    const bad = [
      "data:image/png,AAAA",
      "data:image/png;base64",
      "data:image/png;base64,",
      "data:image/png;base64,====",
      "data:image/png;base64,AA*A",
      "data:image/png;base64,A",
      "data:image/png;base64,AAAAA",
      "data:image/png;base64,AA=A",
      "data:image/png;base64,A===",
      "data:image/png;base64,AAAÄ"
    ]
    for (const text of bad) expect([text, ...fault(text)]).toStrictEqual([text, at("image_url.url"), "invalid_base64"])
  })
  it("the URL-safe alphabet and missing padding are repaired (T203)", () => {
    expect(one(url("data:image/png;base64,-_-_AA"))).toStrictEqual(inline("image/png", "+/+/AA=="))
    expect(one(url("data:image/png;base64,AAA"))).toStrictEqual(inline("image/png", "AAA="))
  })
  it("white space, line breaks and percent signs of base64 are taken out (W26, RB07)", () => {
    const png = "iVBORw0KGgo="
    for (const text of [
      "data:image/png;base64, iVBORw0KGgo=",
      "data:image/png;base64,iVBORw0K\nGgo=",
      "data:image/png;base64,iVBO\r\n\tRw0K Ggo\n",
      "data:image/png;base64,iVBORw0KGgo%3D",
      "data:image/png;charset=utf-8;base64,iVBORw0KGgo"
    ])
      expect([text, one(url(text))]).toStrictEqual([text, inline("image/png", png)])
    expect(normaliseBase64(" \n")).toBe(undefined)
    expect(normaliseBase64("AA A")).toBe("AAA=")
    expect(normaliseBase64("A A=A")).toBe(undefined)
  })
  it("the bytes show a type that the data URI leaves out or gives wrongly (W26, W45)", () => {
    const jpeg = base64("\xff\xd8\xff\xe0" + "x".repeat(20))
    for (const label of ["image/png;base64", ";base64", "base64", "application/octet-stream;base64", "image/png"])
      expect([label, one(url(`data:${label},${jpeg}`))]).toStrictEqual([label, inline("image/jpeg", jpeg)])
    const pdf = base64("%PDF-1.7 and so on")
    expect(one(url(`data:image/png;base64,${pdf}`))).toStrictEqual(inline("application/pdf", pdf))
    expect(one(url(`data:image/png;base64,${jpeg}`, { mime_type: "image/webp" }))).toStrictEqual(
      inline("image/jpeg", jpeg)
    )
  })
  it("a type that the bytes do not contradict stays (W45)", () => {
    const kept = [
      ["image/heif", "\x00\x00\x00\x18ftypmif1"],
      ["audio/mpeg", "ID3\x04" + "x".repeat(20)],
      ["audio/ogg", "OggS" + "x".repeat(20)],
      ["audio/mp4", "\x00\x00\x00\x18ftypisom"],
      ["audio/webm", "\x1a\x45\xdf\xa3" + "x".repeat(20)],
      ["text/plain", "%PDF-1.7 is how a PDF begins"]
    ] as const
    for (const [mime, bytes] of kept)
      expect(one(url(`data:${mime};base64,${base64(bytes)}`))).toStrictEqual(inline(mime, base64(bytes)))
  })
  it("a data URI of plain text needs no base64 (W26)", () => {
    const words = inline("text/plain", base64("a b"))
    expect(one(url("data:text/plain,a%20b"))).toStrictEqual(words)
    expect(one(url("data:text/plain;charset=utf-8,a b"))).toStrictEqual(words)
    expect(one(url("data:,a%20b"))).toStrictEqual(words)
  })
  it("base64 of any bytes passes unchanged, in every spelling (T203, T227)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64")
        expect(normaliseBase64(text)).toBe(text)
        expect(normaliseBase64(text.replaceAll("=", ""))).toBe(text)
        expect(normaliseBase64(Buffer.from(bytes).toString("base64url"))).toBe(text)
      })
    )
  })
  it("bare base64 gets its type from its first bytes (T204)", () => {
    const rest = "x".repeat(60)
    const files: ReadonlyArray<readonly [string, string]> = [
      ["image/png", "\x89PNG\r\n\x1a\n"],
      ["image/jpeg", "\xff\xd8\xff\xe0"],
      ["image/gif", "GIF89a"],
      ["application/pdf", "%PDF-1.7"],
      ["image/webp", "RIFF\x00\x00\x00\x00WEBP"],
      ["audio/wav", "RIFF\x24\x08\x00\x00WAVE"],
      ["image/heic", "\x00\x00\x00\x18ftypheic"]
    ]
    for (const [mime, head] of files)
      expect(one(url(base64(head + rest)))).toStrictEqual(inline(mime, base64(head + rest)))
    expect(fault(base64("unknown!" + rest))).toStrictEqual([at("image_url.url"), "invalid_media_url"])
    expect(fault(base64("GIF89a"))).toStrictEqual([at("image_url.url"), "invalid_media_url"])
  })
  it("megabytes pass as the same text (T226)", () => {
    const data = "A".repeat(24_000_000)
    expect(one(url(`data:image/png;base64,${data}`))).toStrictEqual(inline("image/png", data))
  })
})

describe("https media", () => {
  it("the extension is read from the path; the URL stays unchanged (T205)", () => {
    const signed = "https://b.example/x.PNG?X-Sig=1#p"
    expect(one(url(signed))).toStrictEqual(remote("image/png", signed))
    expect(one(url("https://b.example/a%2Ejpg"))).toStrictEqual(remote("image/jpeg", "https://b.example/a%2Ejpg"))
    expect(one(url("https://b.example/%zz.webp"))).toStrictEqual(remote("image/webp", "https://b.example/%zz.webp"))
    expect(one(url("HTTPS://b.example/a.b/c.mp4"), vertex)).toStrictEqual(
      remote("video/mp4", "HTTPS://b.example/a.b/c.mp4")
    )
  })
  it("a URL without a known extension is refused (T206, B58)", () => {
    for (const text of [
      "https://b.example/x",
      "https://b.example/x.unknown",
      "https://b.png/x",
      "https://b.example/x?f=a.png"
    ]) {
      expect(fault(text)).toStrictEqual([at("image_url.url"), "unknown_media_type"])
    }
  })
  it("the client's type takes precedence: mime_type, then format, then the extension (T207)", () => {
    const text = "https://b.example/x.png"
    expect(one(url(text, { mime_type: "image/webp", format: "jpeg" }))).toStrictEqual(remote("image/webp", text))
    expect(one(url(text, { format: "jpeg" }))).toStrictEqual(remote("image/jpeg", text))
    expect(one(url(text, { format: "image/heic" }))).toStrictEqual(remote("image/heic", text))
    expect(one(url(text, { mime_type: "application/octet-stream" }))).toStrictEqual(remote("image/png", text))
    expect(one(url("data:image/png;base64,AAAA", { mime_type: "image/jpeg" }))).toStrictEqual(
      inline("image/jpeg", "AAAA")
    )
  })
  it("YouTube URLs are accepted on both products (T211)", () => {
    const links = [
      "https://www.youtube.com/watch?v=abc_-1&t=3",
      "https://youtube.com/watch?v=a",
      "https://m.youtube.com/watch?v=a",
      "https://youtu.be/abc?si=1",
      "https://www.youtube.com/shorts/abc",
      "https://www.youtube.com/live/abc",
      "https://www.youtube.com/embed/abc"
    ]
    for (const text of links) {
      expect(one(url(text))).toStrictEqual(remote("video/mp4", text))
      expect(one(url(text), vertex)).toStrictEqual(remote("video/mp4", text))
    }
    expect(fault("https://www.youtube.com/feed")).toStrictEqual([at("image_url.url"), "unknown_media_type"])
    expect(fault("https://notyoutube.com/watch?v=a")).toStrictEqual([at("image_url.url"), "unknown_media_type"])
  })
  it("videos on other hosts are forwarded (T212)", () => {
    expect(one(url("https://b.example/a.webm"), vertex)).toStrictEqual(remote("video/webm", "https://b.example/a.webm"))
  })
  it("other URL schemes are refused (T213, B56)", () => {
    for (const scheme of [
      "http://b.example/x.png",
      "ftp://b.example/x.png",
      "file:///etc/x.png",
      "javascript:alert(1)",
      "gopher://b/x.png",
      "blob:https://b/x",
      "https:/b.example/x.png",
      "https:b.example/x.png",
      " https://b.example/x.png",
      "www.b.example/x.png",
      "x.png"
    ]) {
      expect([scheme, ...fault(scheme)]).toStrictEqual([scheme, at("image_url.url"), "invalid_media_url"])
    }
  })
  it("private hosts and disguised addresses are refused (T213, B57)", () => {
    const hosts = [
      "localhost",
      "LOCALHOST",
      "a.localhost",
      "printer.local",
      "db.internal",
      "metadata",
      "metadata.google.internal",
      "metadata.google.internal.",
      "127.0.0.1",
      "127.1",
      "0.0.0.0",
      "10.0.0.1",
      "100.64.0.1",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "192.0.0.1",
      "198.18.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "0x7f.0.0.1",
      "2130706433",
      "0177.0.0.1",
      "134744072",
      "0x08080808",
      "010.8.8.8",
      "①②⑦.0.0.1",
      "８.8.8.8",
      "8.8.2056",
      "%38.8.8.8",
      "[::1]",
      "[::]",
      "[fe80::1]",
      "[fd00::1]",
      "[::ffff:8.8.8.8]",
      "[64:ff9b::808:808]",
      "[2002:7f00:1::]",
      "[2001:db8::1]",
      "[2001::1]",
      "user@b.example",
      "user:pw@b.example",
      ":pw@b.example",
      "b.example:8443",
      "b.example:80",
      "b.example\t",
      "b\n.example",
      "b.example\\@c.example",
      "/b.example",
      ""
    ]
    for (const host of hosts) {
      expect([host, ...fault(`https://${host}/x.png`)]).toStrictEqual([host, at("image_url.url"), "invalid_media_url"])
    }
  })
  it("public hosts pass (T213, B57)", () => {
    for (const host of [
      "b.example",
      "8.8.8.8",
      "172.32.0.1",
      "[2606:4700::1111]",
      "xn--bcher-kva.example",
      "bücher.example",
      "10.example",
      "b.example:443"
    ]) {
      expect(one(url(`https://${host}/x.png`))).toStrictEqual(remote("image/png", `https://${host}/x.png`))
    }
  })
})

describe("Google media locations", () => {
  it("Vertex AI accepts gs:// URIs (T208, B61)", () => {
    expect(one(url("gs://my-bucket/a/b c.mp4"), vertex)).toStrictEqual(remote("video/mp4", "gs://my-bucket/a/b c.mp4"))
    expect(one(url("gs://bucket/a", { mime_type: "audio/mp3" }), vertex)).toStrictEqual(
      remote("audio/mp3", "gs://bucket/a")
    )
    expect(fault("gs://bucket/a", vertex)).toStrictEqual([at("image_url.url"), "unknown_media_type"])
    expect(fault("gs://bucket.png/a", vertex)).toStrictEqual([at("image_url.url"), "unknown_media_type"])
    for (const text of [
      "gs://",
      "gs://bucket",
      "gs://bucket/",
      "gs:///a.png",
      "gs://bucket/../a.png",
      "gs://b u/a.png",
      "gs://bucket/a\r\n.png"
    ]) {
      expect([text, ...fault(text, vertex)]).toStrictEqual([text, at("image_url.url"), "invalid_media_url"])
    }
  })
  it("the Gemini API refuses gs:// URIs (T209, B61)", () => {
    expect(fault("gs://bucket/a.png")).toStrictEqual([at("image_url.url"), "invalid_media_url"])
  })
  it("only the Gemini API accepts Files API URLs, without a type unless given (T210, B61)", () => {
    const file = "https://generativelanguage.googleapis.com/v1beta/files/abc-1"
    expect(one(url(file))).toStrictEqual({ fileData: { fileUri: file } })
    expect(one(url(file, { mime_type: "video/quicktime" }))).toStrictEqual(remote("video/mov", file))
    expect(fault(file, vertex)).toStrictEqual([at("image_url.url"), "invalid_media_url"])
  })
})

describe("media options", () => {
  it("the section of a video is sent (T214)", () => {
    const text = "https://youtu.be/abc"
    expect(one(url(text, { video_metadata: { start_offset: 10, end_offset: "20.5s", fps: 2 } }))).toStrictEqual({
      ...remote("video/mp4", text),
      videoMetadata: { startOffset: "10s", endOffset: "20.5s", fps: 2 }
    })
    expect(one(url(text, { video_metadata: {} }))).toStrictEqual(remote("video/mp4", text))
    expect(one(url(text, { video_metadata: { start_offset: null, fps: 0.5 } }))).toStrictEqual({
      ...remote("video/mp4", text),
      videoMetadata: { fps: 0.5 }
    })
    const bad: ReadonlyArray<readonly [object, string]> = [
      [{ start_offset: "10" }, "start_offset"],
      [{ start_offset: -1 }, "start_offset"],
      [{ end_offset: 1e21 }, "end_offset"],
      [{ end_offset: [] }, "end_offset"],
      [{ fps: "2" }, "fps"],
      [{ fps: 0 }, "fps"]
    ]
    for (const [cut, field] of bad) {
      expect(fault(text, {}, { video_metadata: cut })).toStrictEqual([
        at(`image_url.video_metadata.${field}`),
        "invalid_value"
      ])
    }
    expect(fault(text, {}, { video_metadata: "x" })).toStrictEqual([at("image_url.video_metadata"), "invalid_type"])
  })
  it("detail is sent per part from Gemini 3 on (T215)", () => {
    const part = (detail: unknown) => url("data:image/png;base64,AAAA", { detail })
    for (const detail of ["low", "medium", "high", "ultra_high"]) {
      const level = `MEDIA_RESOLUTION_${detail.toUpperCase()}`
      expect(one(part(detail), {}, modern)).toStrictEqual({
        ...inline("image/png", "AAAA"),
        mediaResolution: { level }
      })
      expect(one(part(detail))).toStrictEqual(inline("image/png", "AAAA"))
    }
    expect(one(part("auto"), {}, modern)).toStrictEqual(inline("image/png", "AAAA"))
    expect(one(part(null), {}, modern)).toStrictEqual(inline("image/png", "AAAA"))
  })
  it("image_url may be a string, and needs a url (T223, B55)", () => {
    expect(one({ type: "image_url", image_url: "data:image/png;base64,AAAA" })).toStrictEqual(
      inline("image/png", "AAAA")
    )
    for (const image_url of [undefined, null, {}, { url: null }, { url: "" }, 7]) {
      expect(partRefused({ type: "image_url", image_url })).toStrictEqual([
        at("image_url.url"),
        "missing_required_parameter"
      ])
    }
    expect(fault(7)).toStrictEqual([at("image_url.url"), "invalid_type"])
  })
})

describe("media types", () => {
  const typeOf = (mime: string, options = {}) => one(url(`data:${mime};base64,AAAA`), options)?.inlineData?.mimeType
  it("listed types pass unchanged, aliases in one spelling (T217)", () => {
    const listed = [
      "image/png",
      "image/jpeg",
      "image/webp",
      "image/heic",
      "image/heif",
      "image/gif",
      "image/avif",
      "audio/wav",
      "audio/mp3",
      "audio/aiff",
      "audio/aac",
      "audio/ogg",
      "audio/flac",
      "audio/pcm",
      "audio/m4a",
      "audio/mpeg",
      "audio/mpga",
      "audio/mp4",
      "audio/webm",
      "video/mp4",
      "video/mpeg",
      "video/mov",
      "video/avi",
      "video/webm",
      "video/wmv",
      "video/3gpp",
      "video/x-flv",
      "application/pdf"
    ]
    for (const mime of listed) expect(typeOf(mime)).toBe(mime)
    const aliases = {
      "image/jpg": "image/jpeg",
      "image/pjpeg": "image/jpeg",
      "image/x-png": "image/png",
      "audio/x-wav": "audio/wav",
      "audio/wave": "audio/wav",
      "audio/vnd.wave": "audio/wav",
      "audio/x-aac": "audio/aac",
      "audio/x-flac": "audio/flac",
      "audio/x-m4a": "audio/m4a",
      "audio/x-aiff": "audio/aiff",
      "audio/L16": "audio/pcm",
      "video/quicktime": "video/mov",
      "video/x-msvideo": "video/avi",
      "video/x-ms-wmv": "video/wmv",
      "video/mpg": "video/mpeg",
      "video/mpegps": "video/mpeg",
      "application/x-pdf": "application/pdf"
    }
    for (const [alias, mime] of Object.entries(aliases)) expect([alias, typeOf(alias)]).toStrictEqual([alias, mime])
    expect([typeOf("audio/opus"), typeOf("audio/opus", vertex)]).toStrictEqual(["audio/ogg", "audio/opus"])
  })
  it("the extensions of table 2 map to types (T217)", () => {
    const rows = {
      "image/png": "png",
      "image/jpeg": "jpg jpeg jfif",
      "image/webp": "webp",
      "image/heic": "heic",
      "image/heif": "heif",
      "image/gif": "gif",
      "image/avif": "avif",
      "audio/wav": "wav",
      "audio/mp3": "mp3",
      "audio/aiff": "aiff aif",
      "audio/aac": "aac",
      "audio/ogg": "ogg oga opus",
      "audio/flac": "flac",
      "audio/pcm": "pcm",
      "audio/m4a": "m4a",
      "audio/mpga": "mpga",
      "audio/webm": "weba",
      "video/mp4": "mp4 m4v",
      "video/mpeg": "mpeg mpg",
      "video/mov": "mov",
      "video/avi": "avi",
      "video/webm": "webm",
      "video/wmv": "wmv",
      "video/3gpp": "3gp",
      "video/x-flv": "flv",
      "application/pdf": "pdf",
      "text/plain": "txt text log html htm css csv tsv md json xml yaml yml rtf py js ts"
    }
    for (const [mime, extensions] of Object.entries(rows)) {
      for (const extension of extensions.split(" ")) {
        const text = `https://b.example/a.${extension}`
        expect(one(url(text))).toStrictEqual(remote(mime, text))
      }
    }
  })
  it("text documents of every type become plain text; invalid UTF-8 is refused (T220)", () => {
    const data = base64("a,b\n\xc3\xbc")
    for (const mime of [
      "text/plain",
      "text/html",
      "text/csv",
      "text/x-python",
      "application/json",
      "application/xml",
      "application/yaml",
      "application/rtf",
      "application/ld+json",
      "application/javascript"
    ]) {
      expect(one(url(`data:${mime};base64,${data}`))).toStrictEqual(inline("text/plain", data))
    }
    expect(fault(`data:text/csv;base64,${base64("a\xff")}`)).toStrictEqual([at("image_url.url"), "invalid_base64"])
    expect(fault(`data:text/csv;base64,${base64("cut \xc3")}`)).toStrictEqual([at("image_url.url"), "invalid_base64"])
    const long = base64("x".repeat(49_151) + "\xc3\xbc" + "y".repeat(60_000))
    expect(one(url(`data:text/plain;base64,${long}`))).toStrictEqual(inline("text/plain", long))
  })
  it("types no model reads are refused (T221, B60)", () => {
    for (const mime of [
      "image/svg+xml",
      "image/bmp",
      "image/tiff",
      "application/msword",
      "application/zip",
      "application/octet-stream",
      "font/woff",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "image",
      "",
      "image/png\r\nX-A: b"
    ]) {
      expect([mime, ...fault(`data:${mime};base64,AAAA`)]).toStrictEqual([
        mime,
        at("image_url.url"),
        "unsupported_media_type"
      ])
    }
    for (const extension of ["svg", "bmp", "tif", "tiff", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "zip"]) {
      expect(fault(`https://b.example/a.${extension}`)).toStrictEqual([at("image_url.url"), "unsupported_media_type"])
    }
    for (const mime_type of ["image/png\r\nX-A: b", "nonsense", "image/svg+xml"]) {
      expect(fault("https://b.example/a.png", {}, { mime_type })).toStrictEqual([
        at("image_url.url"),
        "unsupported_media_type"
      ])
    }
  })
  it("unlisted image, audio and video types pass to the upstream (T222, B60)", () => {
    for (const mime of ["image/jxl", "audio/x-new", "video/x-matroska"]) expect(typeOf(mime)).toBe(mime)
  })
})

describe("input_audio and file parts", () => {
  const audio = (input_audio: unknown) => ({ type: "input_audio", input_audio })
  const file = (given: unknown) => ({ type: "file", file: given })
  it("input_audio accepts every format of table 2, as base64 or data URI (T218)", () => {
    const formats = {
      mp3: "audio/mp3",
      wav: "audio/wav",
      ogg: "audio/ogg",
      flac: "audio/flac",
      pcm: "audio/pcm",
      pcm16: "audio/pcm",
      aac: "audio/aac",
      "x-aac": "audio/aac",
      m4a: "audio/m4a",
      "x-m4a": "audio/m4a",
      mpeg: "audio/mpeg",
      mpga: "audio/mpga",
      mp4: "audio/mp4",
      webm: "audio/webm",
      aiff: "audio/aiff",
      opus: "audio/ogg"
    }
    for (const [format, mime] of Object.entries(formats)) {
      expect(one(audio({ data: "AAAA", format }))).toStrictEqual(inline(mime, "AAAA"))
      expect(one(audio({ data: "data:audio/x;base64,AAAA", format }))).toStrictEqual(inline(mime, "AAAA"))
    }
    expect(one(audio({ data: "AAAA", format: "opus" }), vertex)).toStrictEqual(inline("audio/opus", "AAAA"))
    expect(one(audio({ data: "data:audio/wav;base64,AAAA" }))).toStrictEqual(inline("audio/wav", "AAAA"))
    expect(one(audio({ data: "AAAA", format: "audio/x-wav" }))).toStrictEqual(inline("audio/wav", "AAAA"))
    expect(one(audio({ data: "https://b.example/a.wav" }))).toStrictEqual(
      remote("audio/wav", "https://b.example/a.wav")
    )
    for (const format of ["midi", "toString", 7]) {
      expect(partRefused(audio({ data: "AAAA", format }))).toStrictEqual([at("input_audio.format"), "invalid_value"])
    }
    expect(partRefused(audio({ format: "wav" }))).toStrictEqual([at("input_audio.data"), "missing_required_parameter"])
    expect(partRefused(audio(null))).toStrictEqual([at("input_audio"), "missing_required_parameter"])
  })
  it("file_data gets its type from mime_type, the data URI, the filename or the bytes (T219)", () => {
    expect(one(file({ file_data: "data:application/pdf;base64,AAAA", filename: "a.png" }))).toStrictEqual(
      inline("application/pdf", "AAAA")
    )
    expect(one(file({ file_data: "AAAA", filename: "a.pdf", mime_type: "image/png" }))).toStrictEqual(
      inline("image/png", "AAAA")
    )
    expect(one(file({ file_data: "AAAA", filename: "a.pdf" }))).toStrictEqual(inline("application/pdf", "AAAA"))
    expect(one(file({ file_data: "data:application/octet-stream;base64,AAAA", filename: "a.pdf" }))).toStrictEqual(
      inline("application/pdf", "AAAA")
    )
    expect(one(file({ file_data: base64("%PDF-1.7 and so on") }))).toStrictEqual(
      inline("application/pdf", base64("%PDF-1.7 and so on"))
    )
    expect(partRefused(file({ file_data: "AAAA" }))).toStrictEqual([at("file.file_data"), "invalid_media_url"])
    expect(partRefused(file({ file_data: "?", filename: "a.pdf" }))).toStrictEqual([
      at("file.file_data"),
      "invalid_base64"
    ])
  })
  it("file_url and file_id are read (T219)", () => {
    expect(one(file({ file_url: "https://b.example/a.pdf" }))).toStrictEqual(
      remote("application/pdf", "https://b.example/a.pdf")
    )
    expect(one(file({ file_url: "https://b.example/a", filename: "a.csv" }))).toStrictEqual(
      remote("text/plain", "https://b.example/a")
    )
    const uri = "https://generativelanguage.googleapis.com/v1beta/files/abc"
    expect(one(file({ file_id: "files/abc" }))).toStrictEqual({ fileData: { fileUri: uri } })
    expect(one(file({ file_id: uri }))).toStrictEqual({ fileData: { fileUri: uri } })
    expect(one(file({ file_id: "https://b.example/a.pdf" }))).toStrictEqual(
      remote("application/pdf", "https://b.example/a.pdf")
    )
    for (const file_id of ["file-abc", "files/../x"]) {
      expect(partRefused(file({ file_id }))).toStrictEqual([at("file.file_id"), "invalid_value"])
    }
    for (const given of [undefined, {}, { filename: "a.pdf" }])
      expect(partRefused(file(given))).toStrictEqual([at("file"), "missing_required_parameter"])
  })
})

describe("positions of media", () => {
  it("media and texts keep their order (L14)", () => {
    const text = { type: "text", text: "look" }
    expect(partsSent([url("data:image/png;base64,AAAA"), text, url("https://b.example/a.pdf")], older)).toStrictEqual([
      inline("image/png", "AAAA"),
      { text: "look" },
      remote("application/pdf", "https://b.example/a.pdf")
    ])
  })
  it("a fault names the message and the part", () => {
    expect(
      refused([user("a"), assistant("b"), user([{ type: "text", text: "c" }, url("http://b.example/x.png")])])
    ).toStrictEqual(["messages[2].content[1].image_url.url", "invalid_media_url"])
  })
  it("signatures on user parts are dropped", () => {
    expect(sent([user([{ type: "text", text: "a", thought_signature: "AAAA" }])], modern).contents).toStrictEqual([
      { role: "user", parts: [{ text: "a" }] }
    ])
  })
})
