// Tests redaction: known values are removed from upstream texts in every encoding, and internal addresses after them.
// Must not depend on where the values come from.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Redaction } from "../../../src/domain/text/redaction.ts"
import { upstreamText } from "../../../src/domain/text/upstreamText.ts"

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
