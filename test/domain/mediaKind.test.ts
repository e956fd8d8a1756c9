// Tests what data in base64 are by their first bytes: formats of media and sound, text, and neither.
// Must not depend on declared types.
import { describe, expect, it } from "vitest"
import { mediaKindOf } from "../../src/domain/estimateTokens.ts"

const base64 = (head: string) => Buffer.from(head.padEnd(64, "\0"), "latin1").toString("base64")

describe("kinds of media", () => {
  it.each([
    ["a PNG", "\x89PNG\r\n\x1a\n", "media"],
    ["a JPEG", "\xff\xd8\xff\xe0", "media"],
    ["a GIF", "GIF89a", "media"],
    ["a TIFF", "II*\0", "media"],
    ["a PDF", "%PDF-1.7\n", "media"],
    ["a WebP", "RIFF1234WEBP", "media"],
    ["an AVI", "RIFF1234AVI ", "media"],
    ["an MP4", "\0\0\0\x20ftypisom", "media"],
    ["a HEIC", "\0\0\0\x18ftypheic", "media"],
    ["a WebM", "\x1a\x45\xdf\xa3", "media"],
    ["an MPEG stream", "\0\0\x01\xba", "media"],
    ["a Flash video", "FLV\x01", "media"],
    ["a WMV", "\x30\x26\xb2\x75", "media"],
    ["a WAV", "RIFF1234WAVE", "sound"],
    ["an AIFF", "FORM1234AIFF", "sound"],
    ["an MP3 with tags", "ID3\x04", "sound"],
    ["an MP3 without tags", "\xff\xfb\x90", "sound"],
    ["an AAC", "\xff\xf1\x50", "sound"],
    ["a FLAC", "fLaC", "sound"],
    ["an Ogg", "OggS", "sound"],
    ["an AMR", "#!AMR\n", "sound"],
    ["an M4A", "\0\0\0\x20ftypM4A ", "sound"],
    ["raw samples", "\x01\0\x02\0", "unknown"]
  ])("media kind: %s is found by its beginning (N310)", (_name, head, kind) => {
    const data = base64(head)
    expect([mediaKindOf(data), mediaKindOf(`data:text/plain;base64,${data}`)]).toEqual([kind, kind])
  })

  it.each([
    ["a text", Buffer.from("Hello\tworld\r\nÄ 你好 ".repeat(4)).toString("base64"), "text"],
    ["nothing", "", "text"],
    ["a data URI without base64", "data:text/plain,Hello", "text"],
    ["a data URI without a comma", "data:image/png;base64", "text"],
    ["the alphabet of URLs", Buffer.from("\xff\xd8\xff\xef", "latin1").toString("base64url"), "media"],
    ["base64 in lines", "iVBOR\r\nw0KGgo=", "media"]
  ])("media kind: of %s (N310)", (_name, data, kind) => {
    expect(mediaKindOf(data)).toBe(kind)
  })
})
