// Tests the frame reader and writer: every framing of Google and its proxies, any cut, any size (T1301, T1304-T1307).
// Must not depend on a translator or on the network.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  doneFrame,
  type FrameFault,
  frame,
  pingFrame,
  splitJson,
  type SseEvent,
  sseEvents
} from "../../src/wire/frames.ts"
import { runFold } from "../../src/translate/Translator.ts"
import { bytesOf, eachByte, jsonEvents } from "../support/streams.ts"

const limits = { eventBytes: 1_000_000 }
const read = (pieces: Iterable<Uint8Array>, eventBytes = limits.eventBytes): ReadonlyArray<SseEvent | FrameFault> =>
  runFold(sseEvents({ eventBytes }), pieces)
const readText = (text: string) => read([bytesOf(text)])
const event = (data: string, name = "", ended = true): SseEvent => ({ _tag: "SseEvent", event: name, data, ended })
const json = (pieces: Iterable<Uint8Array>) => runFold(jsonEvents(limits), pieces)
const jsonText = (text: string) => json([bytesOf(text)])
const unreadable = {
  _tag: "StreamFailed",
  reason: { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." }
}

describe("framing of lines (T1304)", () => {
  for (const [name, end] of [
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"]
  ] as const) {
    it(`frames: ${name} ends lines and events (T1304)`, () => {
      expect(readText(`data: a${end}${end}data: b${end}${end}`)).toEqual([event("a"), event("b")])
    })
  }
  it("frames: several data lines join with a line feed (T1304)", () => {
    expect(readText("data: a\ndata:b\ndata\ndata:  c\n\n")).toEqual([event("a\nb\n\n c")])
  })
  it("frames: event names are kept; comments, ids, retry and unknown fields are dropped (T1304)", () => {
    expect(readText(": hello\nevent: x\nid: 7\nretry: 100\nfoo: bar\ndata: a\n\ndata: b\n\n")).toEqual([
      event("a", "x"),
      event("b")
    ])
  })
  it("frames: an event without data is dropped (T1304)", () => {
    expect(readText("event: x\n\n\n\n: only a comment\n\n")).toEqual([])
  })
  it("frames: a byte order mark is dropped at the start only (T1304)", () => {
    expect(readText("\uFEFFdata: a\uFEFF\n\n")).toEqual([event("a\uFEFF")])
  })
  it("frames: the last event needs no blank line, and no line end (T1304)", () => {
    expect(readText("data: a\n\ndata: b\n")).toEqual([event("a"), event("b", "", false)])
    expect(readText("data: a\n\ndata: b")).toEqual([event("a"), event("b", "", false)])
  })
  it("frames: a lone CR at the end of a read counts as one line end (T1304)", () => {
    expect(read([bytesOf("data: a\r"), bytesOf("\n\r"), bytesOf("\ndata: b\r"), bytesOf("\r")])).toEqual([
      event("a"),
      event("b")
    ])
  })
  it("frames: an empty read changes nothing (T1304)", () => {
    expect(read([bytesOf("data: a"), new Uint8Array(0), bytesOf("b\n\n")])).toEqual([event("ab")])
  })
})

describe("framing of bare JSON (T1301)", () => {
  const pretty = JSON.stringify([{ a: ']}"\\' }, { b: { c: [1, 2] } }], null, 2)
  it("frames: a pretty-printed array is an event per object (T1301)", () => {
    expect(jsonText(pretty)).toEqual([{ a: ']}"\\' }, { b: { c: [1, 2] } }])
    expect(jsonText(`[{"a":1}\r\n,\r\n{"b":2}\r\n]\r\n`)).toEqual([{ a: 1 }, { b: 2 }])
  })
  it("frames: any cut of an array gives the same events (T1301)", () => {
    const bytes = bytesOf(`\uFEFF \r\n${pretty}\n`)
    expect(json(eachByte(bytes))).toEqual([{ a: ']}"\\' }, { b: { c: [1, 2] } }])
  })
  it("frames: an object outside the lines of SSE is an event, before or after other events (T1318)", () => {
    expect(jsonText(`{\n  "error": {"code": 503}\n}\n`)).toEqual([{ error: { code: 503 } }])
    expect(jsonText(`data: {"a":1}\n\n{\n  "error": {"code": 503}\n}\ndata: {"b":2}\n\n`)).toEqual([
      { a: 1 },
      { error: { code: 503 } },
      { b: 2 }
    ])
  })
  it("frames: an array of one error is read as its error (T1307)", () => {
    expect(jsonText(`[{"error":{"code":429}}\n]`)).toEqual([{ error: { code: 429 } }])
  })
  it("frames: a cut array gives the whole objects before the cut (T1301)", () => {
    expect(jsonText(`[{"a":1},{"b":`)).toEqual([{ a: 1 }])
  })
  it("frames: other values in an array are unreadable (T1301)", () => {
    expect(readText("[1,2]")).toEqual([{ _tag: "FrameFault", kind: "unreadable" }])
  })
})

describe("payloads of frames", () => {
  it("frames: several values in one payload are split by depth (T1305)", () => {
    expect(jsonText(`data: {"a":"}{"}{"b":2} [{"c":3}]\n\n`)).toEqual([{ a: "}{" }, { b: 2 }, { c: 3 }])
  })
  it("frames: a value that is not an object is skipped, and an array gives its objects (T1306)", () => {
    expect(jsonText(`data: 1\n\ndata: "x"\n\ndata: null\n\ndata: [{"error":{}}]\n\ndata:\n\ndata: [DONE]\n\n`)).toEqual(
      [{ error: {} }]
    )
  })
  it("frames: garbage fails the stream once, and nothing follows (T1318)", () => {
    for (const garbage of ['{"a":', "{}x", "<html>"]) {
      expect(jsonText(`data: {"a":1}\n\ndata: ${garbage}\n\ndata: {"b":2}\n\n`)).toEqual([{ a: 1 }, unreadable])
    }
  })
  it("frames: a last frame that is cut is not a fault of its own (T1304)", () => {
    expect(jsonText(`data: {"a":1}\n\ndata: {"b":`)).toEqual([{ a: 1 }])
    expect(jsonText(`data: {"a":1}\n\ndata: {"b":2}`)).toEqual([{ a: 1 }, { b: 2 }])
  })
  it("frames: integers beyond 2^53 keep their digits, and fractions stay numbers (L27)", () => {
    const text = `{"id":12345678901234567890,"p":-0.30887421148582783,"n":[9007199254740993,-9007199254740993]}`
    expect(jsonText(`data: ${text}\n\n`).map((value) => JSON.stringify(value))).toEqual([text])
  })
  it("splitJson: refuses text that is not JSON", () => {
    expect(splitJson("{} x")).toBe(undefined)
    expect(splitJson("{}{")).toEqual({ values: ["{}"], rest: true })
  })
})

describe("bytes of frames", () => {
  it("frames: a cut inside a character or inside CR LF changes nothing (L6)", () => {
    const bytes = bytesOf("data: žluťoučký 🐎\r\n\r\n: c\r\n\r\nretry: 5\r\ndata: é\r\ndata: 漢\r\n\r\n")
    const whole = [event("žluťoučký 🐎"), event("é\n漢")]
    expect(read(eachByte(bytes))).toEqual(whole)
    for (let at = 0; at <= bytes.length; at++) expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(whole)
  })
  it("frames: bytes that are not valid UTF-8 end the stream", () => {
    expect(read([bytesOf("data: a\n\n"), Uint8Array.of(0xff, 0x0a), bytesOf("data: b\n\n")])).toEqual([
      event("a"),
      { _tag: "FrameFault", kind: "unreadable" }
    ])
  })
  it("frames: a character cut by the end of input is left out", () => {
    expect(read([bytesOf("data: a\n\ndata: b"), Uint8Array.of(0xf0, 0x9f)])).toEqual([
      event("a"),
      event("b", "", false)
    ])
  })
  it("frames: stepping the same state twice gives the same result", () => {
    const fold = sseEvents(limits)
    const [state] = fold.step(Object.freeze(fold.initial()), bytesOf("data: ž").slice(0, 7))
    Object.freeze(state)
    const rest = bytesOf("ž\n\n").slice(1)
    expect(fold.step(state, rest)[1]).toEqual([event("ž")])
    expect(fold.step(state, rest)[1]).toEqual([event("ž")])
  })
  it("frames: random events, line ends and cuts give the events back", () => {
    const text = fc
      .string({ unit: "binary", maxLength: 20 })
      .map((raw) => raw.toWellFormed().replace(/[\r\n\uFEFF]/g, ""))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 8 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (events, cuts) => {
          const bytes = bytesOf(events.map(([data, end]) => `data: ${data}${end}${end}`).join(""))
          const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
          const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to))
          expect(read(pieces)).toEqual(events.map(([data]) => event(data)))
        }
      ),
      { numRuns: 300 }
    )
  })
})

describe("sizes of frames (F22)", () => {
  const big = `data: ${"x".repeat(2_000)}\n\n`
  it("frames: an event over the limit is refused, whole or in pieces, as line or as value (F22)", () => {
    const fault = [{ _tag: "FrameFault", kind: "too_large" }]
    expect(read([bytesOf(big)], 1_000)).toEqual(fault)
    expect(read(eachByte(bytesOf(big)), 1_000)).toEqual(fault)
    expect(read([bytesOf("data: x\n".repeat(2_000))], 1_000)).toEqual(fault)
    expect(read([bytesOf(JSON.stringify({ a: "x".repeat(2_000) }))], 1_000)).toEqual(fault)
    expect(read(eachByte(bytesOf(JSON.stringify({ a: "x".repeat(2_000) }))), 1_000)).toEqual(fault)
    expect(runFold(jsonEvents({ eventBytes: 1_000 }), [bytesOf(big)])).toEqual([
      {
        _tag: "StreamFailed",
        reason: { _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." }
      }
    ])
  })
  it("frames: 20 MB in one event and 300,000 reads of one byte are read (F22)", () => {
    const data = JSON.stringify({ data: "A".repeat(20_000_000) })
    const bytes = bytesOf(`data: ${data}\r\n\r\n`)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536)
    )
    const [one] = read(pieces, 24_000_000)
    expect(one?._tag === "SseEvent" && one.data.length).toBe(data.length)
    const [two] = read(eachByte(bytes.slice(0, 300_000)), 24_000_000)
    expect(two?._tag === "SseEvent" && two.data.length).toBe(300_000 - 6)
  })
  it("frames: 10,000 events in one read are read (F22)", () => {
    expect(readText("data: {}\r\n\r\n".repeat(10_000)).length).toBe(10_000)
  })
})

describe("frame writer", () => {
  it("frame writer: any text is one data line (T1328)", () => {
    expect(frame(JSON.stringify({ a: "\n\ndata: [DONE]\r\u2028" }))).toBe(
      `data: {"a":"\\n\\ndata: [DONE]\\r\u2028"}\n\n`
    )
    expect(frame("a\r\nb\rc\nd")).toBe("data: a\ndata: b\ndata: c\ndata: d\n\n")
  })
  it("frame writer: a name stays inside its line", () => {
    expect(frame("{}", "error\ndata: x")).toBe("event: error data: x\ndata: {}\n\n")
  })
  it("frame writer: writes the end and the ping", () => {
    expect([doneFrame, pingFrame]).toEqual(["data: [DONE]\n\n", ": ping\n\n"])
  })
})
