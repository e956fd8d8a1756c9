// Tests the public form of an upstream's text: without secrets and internal addresses, in one line, bounded.
// Must not depend on the errors that carry it.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { publicText } from "../../../src/domain/text/publicText.ts"

describe("public text (T2302, T2310, L30, TH21, TH22)", () => {
  const pem = "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----"
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["key AIzaSyA-1234567890_abcdefghijklmnopqrstuv bad", "key [redacted] bad"],
    ["token ya29.a0Af_xyz-1 and mgk_live_abc and sk-abcdefghijkl", "token [redacted] and [redacted] and [redacted]"],
    ["jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln!", "jwt [redacted]!"],
    ["Authorization: Bearer abc.def=", "Authorization: [redacted]"],
    [`before ${pem} after`, "before [redacted] after"],
    ["-----BEGIN PRIVATE KEY----- never ends", "[redacted]"],
    ["projects/my-project/locations/us", "projects/[redacted]/locations/us"],
    ["used in project 123456789012 before", "used in project [redacted] before"],
    ["consumer 'project_number:123456789012'.", "consumer 'project_number:[redacted]'."],
    ['in project my-project, project: "abc-1"', 'in project [redacted], project: "[redacted]"'],
    ["from https://internal.example:8080/x?key=1 there", "from [link] there"],
    ["see https://ai.google.dev/docs/a?x=1#y now", "see https://ai.google.dev/docs/a now"],
    ["service 'us-central1-aiplatform.googleapis.com'", "service '[upstream]'"],
    ["at 10.0.0.1:8080 or localhost:3000", "at [upstream] or [upstream]"],
    ["as sa@my-project.iam.gserviceaccount.com", "as [redacted]"],
    ["a\u0000b\r\nc\u2028d\u001b[31m", "a b c d [31m"],
    [
      "keyAIzaSyA-1 token=ya29.c.b0-_x xmgk_abc123 xeyJhbGciOiJSUzI1NiJ9.e",
      "key[redacted] token=[redacted] x[redacted] x[redacted]"
    ],
    ["a task-management list", "a task-management list"],
    ["plain text stays: models/gemini-1.5-flash, 1.5.", "plain text stays: models/gemini-1.5-flash, 1.5."]
  ]
  for (const [text, shown] of rows) it(`public text: ${text.slice(0, 40)}`, () => expect(publicText(text)).toBe(shown))
  it("public text: is cut at 2 KiB, between characters (T2302)", () => {
    expect(new TextEncoder().encode(publicText("é".repeat(5_000))).length).toBe(2_048)
    expect(publicText(`a${"🐎".repeat(5_000)}`)).toBe(`a${"🐎".repeat(511)}`)
    expect(publicText("x".repeat(5_000_000)).length).toBe(2_048)
  })
  it("public text: a message ends in one line even from the worst text (T2302)", () => {
    for (const worst of [
      "-----BEGIN".repeat(100_000),
      "a.".repeat(500_000),
      "projects/".repeat(100_000),
      "1.".repeat(500_000),
      "@a".repeat(500_000),
      "project ".repeat(200_000)
    ]) {
      expect(publicText(worst).length <= 2_048).toBe(true)
    }
  })
  it("public text: searches at most twice 2 KiB (TH21)", () => {
    const key = (size: number) => `-----BEGIN PRIVATE KEY-----${"a".repeat(size)}-----END PRIVATE KEY----- after`
    expect([publicText(key(4_000)), publicText(key(4_100))]).toEqual(["[redacted] after", "[redacted]"])
  })
  it.each([
    "joe.doe@corp.example",
    "us-central1-aiplatform.googleapis.com",
    "10.20.30.40:8080",
    "sk-abcdefghijkl",
    "https://internal.example/x"
  ])("public text: contains no part of %s wherever the cut falls (TH21)", (secret) => {
    for (let shift = 0; shift <= secret.length; shift++) {
      const text = `Bearer ${"b".repeat(4_096 - "Bearer  ".length - shift)} ${secret}\n${"more text ".repeat(9)}`
      const [hidden, ...rest] = publicText(text).split(" ")
      expect([hidden, rest.filter((word) => !["[redacted]", "[upstream]", "[link]"].includes(word))]).toEqual([
        "[redacted]",
        []
      ])
    }
  })
  it("public text: stays as it is when it is redacted again", () => {
    const once = publicText("projects/secret-1, Bearer abc, https://internal.example/x, a@b.example and 10.0.0.1:80")
    expect([once, publicText(once)]).toEqual([
      "projects/[redacted], [redacted], [link] [redacted] and [upstream]",
      once
    ])
  })
  it("public text: keeps a long word that the cut broke", () => {
    expect(publicText(`Bearer ${"b".repeat(3_000)} ${"word".repeat(500)}`)).toBe(
      `[redacted] ${"word".repeat(500).slice(0, 4_096 - 3_008)}`
    )
  })
  it("public text: hides addresses and hosts from the start of the word that contains them (TH22)", () => {
    expect(publicText("by --joe+a@b.example, ..x.googleapis.com, é.y.goog and .google.internal:80/a")).toBe(
      "by [redacted], [upstream], é[upstream] and [upstream]"
    )
  })
  it("public text: is never longer than asked for, and a cut leaves no half of a secret (TH21)", () => {
    expect(publicText(`${"x".repeat(50)} ya29.${"a".repeat(99)}`, 56)).toBe(`${"x".repeat(50)} [reda`)
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(50), (text, most) => {
        expect(new TextEncoder().encode(publicText(text, most)).length <= most).toBe(true)
      })
    )
  })
})
