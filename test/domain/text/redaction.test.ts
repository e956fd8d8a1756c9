// Tests redaction: known values are removed from upstream texts in every encoding, and internal addresses after them.
// Must not depend on where the values come from.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Redaction, scrub } from "../../../src/domain/text/redaction.ts"
import { upstreamText } from "../../../src/domain/text/publicText.ts"

const hiding = (...values: ReadonlyArray<string>) => new Redaction(() => values.map((value) => ({ value, put: "[x]" })))

describe("redaction of known values", () => {
  it("redaction: removes a value raw, as JSON, URI-encoded, as a form and in base64, with any letters (TH21)", () => {
    const value = fc.string({ unit: "grapheme", minLength: 6, maxLength: 60 }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(value, (text) => {
        const json = JSON.stringify(text).slice(1, -1)
        const spellings = [
          text,
          json,
          JSON.stringify(json).slice(1, -1),
          encodeURIComponent(text),
          encodeURIComponent(encodeURIComponent(text)),
          new URLSearchParams([["", text]]).toString().slice(1),
          Buffer.from(text).toString("base64url")
        ]
        for (const spelling of spellings) expect(hiding(text).text(`<${spelling}>`)).toBe("<[x]>")
      })
    )
  })
  it("redaction: removes a value within a text that was encoded whole, in base64 and hex of any form (TH21b)", () => {
    const letters = (least: number, most: number, of: string) =>
      fc.string({ unit: fc.constantFrom(...of), minLength: least, maxLength: most })
    const value = letters(8, 60, "abcXYZ~?>é")
    const around = letters(0, 5, "0123=&")
    fc.assert(
      fc.property(value, around, around, (text, before, after) => {
        const whole = Buffer.from(before + text + after)
        const end = before.length + Buffer.byteLength(text)
        for (const encoding of ["base64", "base64url"] as const) {
          const encoded = whole.toString(encoding)
          const [head, tail] = [Math.floor((before.length * 4) / 3), Math.ceil((end * 4) / 3)]
          const rest = encoded.slice(tail).replace(/^=+/, "")
          expect(hiding(text).text(`<${encoded}>`)).toBe(`<${encoded.slice(0, head)}[x]${rest}>`)
        }
        const hex = whole.toString("hex")
        const shown = `<${hex.slice(0, before.length * 2)}[x]${hex.slice(end * 2)}>`
        expect(hiding(text).text(`<${hex}>`)).toBe(shown)
        expect(hiding(text).text(`<${hex.toUpperCase()}>`)).toBe(shown.toUpperCase().replace("[X]", "[x]"))
      })
    )
  })
  it("redaction: removes a value in entities of HTML, in bytes of Python, and with spaces between its letters (TH21b)", () => {
    const value = fc.string({ minLength: 6, maxLength: 60 }).filter((text) => !/\s/.test(text))
    const each = (text: string, write: (code: number) => string): string =>
      [...text].map((letter) => write(letter.charCodeAt(0))).join("")
    fc.assert(
      fc.property(value, (text) => {
        const spellings = [
          each(text, (code) => `&#${code};`),
          each(text, (code) => `&#x${code.toString(16)};`),
          each(text, (code) => `&#X${code.toString(16).toUpperCase().padStart(4, "0")};`),
          text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
          JSON.stringify(each(text, (code) => `&#${code};`)).replaceAll("&", "\\u0026"),
          each(text, (code) => `\\x${code.toString(16).padStart(2, "0")}`),
          each(text, (code) => `%${code.toString(16).padStart(2, "0")}`),
          each(text, (code) => `\\u${code.toString(16).padStart(4, "0")}`),
          [...text].join(" "),
          [...text].join("\n")
        ]
        for (const spelling of spellings) expect(hiding(text).text(`(${spelling})`)).toMatch(/^\("?\[x\]"?\)$/)
      })
    )
  })
  it("redaction: removes base64 in lines, and leaves words around what it removes (TH21b)", () => {
    const value = "AIzaSyStoredKey0123456789+/abcdefghijk"
    const lines = Buffer.from(`key=${value}`).toString("base64").replace(/.{20}/g, "$&\n")
    expect([hiding(value).text(`got ${lines} here`), hiding(value).text(`the key ${value} is wrong`)]).toEqual([
      "got a2V5P[x] here",
      "the key [x] is wrong"
    ])
  })
  it("redaction: leaves a text without a value unchanged, and ignores values of less than six letters", () => {
    expect([hiding("secret-1").text("secret-2 and 100%"), hiding("abcde", "").text("abcde")]).toEqual([
      "secret-2 and 100%",
      "abcde"
    ])
  })
  it("redaction: searches for a value of backslashes or percent signs in bounded work (TH33)", () => {
    for (const letter of ["\\", "%", "%25", "\\u005c"]) {
      const text = `a key: ${letter.repeat(29)}!`
      expect(hiding(letter.repeat(30)).text(text)).toBe(text)
      expect(hiding(letter.repeat(28)).text(`<${letter.repeat(28)}>`)).toBe("<[x]>")
    }
  })
  it("redaction: removes a value encoded twice, and a private key whose line ends became spaces (TH21)", () => {
    const value = 'a+b/c="d"'
    const twice = encodeURIComponent(JSON.stringify(value).slice(1, -1))
    expect(hiding(value).text(`<${twice}>`)).toBe("<[x]>")
    expect(hiding("-----BEGIN KEY-----\nabc\ndef\n").text("<-----BEGIN KEY----- abc def >")).toBe("<[x]>")
  })
  it("redaction: reaches texts in JSON to a depth, and keeps names and numbers", () => {
    expect(hiding("secret-1").json({ secret: "secret-1", "secret-1": [1, null, { a: "a secret-1" }] })).toEqual({
      secret: "[x]",
      "secret-1": [1, null, { a: "a [x]" }]
    })
    const deep = JSON.parse(`${"[".repeat(5_000)}"secret-1"${"]".repeat(5_000)}`)
    expect(JSON.stringify(hiding("secret-1").json(deep))).toBe(`${"[".repeat(33)}null${"]".repeat(33)}`)
  })
  it("redaction: leaves no part of a value at the end of a cut text", () => {
    const value = "0123456789".repeat(10)
    for (let at = 0; at < 110; at++)
      expect(hiding(value).text(`${"a".repeat(20_480 - at)}${value}${"b".repeat(50)}`)).toMatch(/^a+$/)
  })
  it("redaction: reads the values once, and only when there is a text", () => {
    let asked = 0
    const redaction = new Redaction(() => {
      asked++
      return []
    })
    expect(asked).toBe(0)
    redaction.json(["a", "b"])
    expect(asked).toBe(1)
  })
})

describe("scrubbing of captured content", () => {
  it("scrub: removes a known value in base64 and hex, alone and within what was encoded (TH21b)", () => {
    const value = "my-own-credential"
    const spellings = [
      Buffer.from(value).toString("base64").replace(/=+$/, ""),
      Buffer.from(value).toString("hex"),
      Buffer.from(value).toString("hex").toUpperCase()
    ]
    for (const spelling of spellings) expect(scrub(`<${spelling}>`, [value])).toBe("<[redacted]>")
    for (const before of ["", "a", "aa"])
      expect(scrub(Buffer.from(before + value).toString("base64"), [value])).toContain("[redacted]")
  })
})

describe("redaction of internal addresses", () => {
  it.each([
    ["lookup llm.ml.svc.cluster.local on 10.0.0.10:53: no such host", "lookup [upstream] on [upstream]: no such host"],
    ["dial tcp vllm.example.com:8443: refused", "dial tcp [upstream]: refused"],
    ["open /etc/secrets/sa.json: no such file", "open [path]: no such file"],
    ['File "/usr/lib/python3/vllm/engine.py", line 8', 'File "[path]", line 8']
  ])("redaction: removes hosts, ports and files: %s (TH22)", (text, shown) => {
    expect(upstreamText(text)).toBe(shown)
  })
  it.each([
    "models/gemini-2.5-pro:generateContent is not found for API version v1beta",
    "contents[0].parts[1]: gs://bucket/tmp/a.png is not readable at 12:30:45",
    "Invalid value at '/data/0/embedding'. See https://ai.google.dev/gemini-api/docs/tmp/x",
    "The ratio is 16:9 and the version 1.5:12."
  ])("redaction: keeps a text without any of them: %s (TH22)", (text) => {
    expect(upstreamText(text)).toBe(text)
  })
})
