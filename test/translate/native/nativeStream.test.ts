// Streams of Gemini as bytes: recorded ones, cut anywhere, with errors first and later, in both framings.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { noRedaction } from "../../../src/domain/text/redaction.ts"
import { failureText, nativeStream } from "../../../src/translate/native/nativeStream.ts"
import { streamReader } from "../../../src/translate/StreamReader.ts"
import { isStreamFailed, type StreamFailed } from "../../../src/translate/Translator.ts"
import { chatStream } from "./chatUsage.ts"
import { runs } from "../../support/release.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../../support/shared.ts"

const limits = { eventBytes: 8_388_608 }
const decoder = new TextDecoder()
const encoder = new TextEncoder()

const run = (chunks: ReadonlyArray<Uint8Array>) => {
  const now = streamReader(nativeStream(limits, noRedaction))
  const all = [...chunks.flatMap((chunk) => now.read(chunk)), ...now.end()]
  const failures = all.filter((one): one is StreamFailed => isStreamFailed(one))
  const bytes = all.filter((one) => one instanceof Uint8Array)
  return {
    text: decoder.decode(Buffer.concat(bytes)),
    failure: failures[0]?.reason,
    failures: failures.length,
    usage: now.usage(),
    progress: now.progress()
  }
}
const whole = (text: string) => run([encoder.encode(text)])

const streams: ReadonlyArray<Recording> = ["gemini-api", "vertex-gemini"]
  .flatMap((folder) => recordings(folder))
  .filter(({ response }) => response.status === 200 && response.bodyText !== undefined)

const event = (facts: object) => JSON.stringify(facts)
const sse = (...events: ReadonlyArray<object>) => events.map((one) => `data: ${event(one)}\r\n\r\n`).join("")
const array = (...events: ReadonlyArray<object>) => `[${events.map(event).join(",\r\n")}\n]`
const said = (text: string, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text }], role: "model" }, ...more }]
})
const counted = (facts: object) => ({ usageMetadata: facts })
const internal = { error: { code: 500, message: "An internal error has occurred.", status: "INTERNAL" } }

describe("native streams: recorded", () => {
  if (sharedDir() === undefined) loudlySkipped("recorded streams of Gemini")
  it.each(streams.map((one) => [one.id, one] as const))(
    "native stream %s: passes byte for byte and counts as the chat route does (N1101)",
    (_id, { response }) => {
      const text = response.bodyText ?? ""
      const { failure, text: passed, usage } = whole(text)
      if (failure === undefined) expect(passed).toBe(text)
      else expect(text.startsWith(passed)).toBe(true)
      expect(usage).toStrictEqual(chatStream(text))
    }
  )
  it.runIf(streams.length > 0)("native streams: any split gives the same bytes and the same usage (N1103)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.array(fc.nat(), { maxLength: 12 }), ({ response }, at) => {
        const bytes = encoder.encode(response.bodyText ?? "")
        const cuts = [...new Set(at.map((one) => one % (bytes.length + 1)))].sort((one, other) => one - other)
        const chunks = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index]))
        expect(run(chunks)).toStrictEqual(run([bytes]))
      }),
      { numRuns: runs(300) }
    )
  })
  it.runIf(streams.length > 0)("native streams: a cut anywhere gives a prefix and at most one failure (N1103)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.nat(), ({ response }, at) => {
        const text = response.bodyText ?? ""
        const bytes = encoder.encode(text)
        const cut = bytes.subarray(0, at % bytes.length)
        const { failures, text: passed } = run([cut])
        expect(text.startsWith(passed)).toBe(true)
        expect(failures <= 1).toBe(true)
      }),
      { numRuns: runs(500) }
    )
  })
})

describe("native streams: events of one form", () => {
  it("native streams: the frames of one read leave as one view of it (N402)", () => {
    const read = encoder.encode(sse(...Array.from({ length: 50 }, (_, at) => said(`é${at}`))))
    const out = streamReader(nativeStream(limits, noRedaction)).read(read)
    expect(out).toEqual([read])
    expect(out.map((bytes) => bytes instanceof Uint8Array && bytes.buffer)).toEqual([read.buffer])
  })
  const count = fc.nat({ max: 9_999 })
  const piece = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(fc.string({ unit: "binary" }), count)
        .map(([text, tokens]) => ({ ...said(text), ...counted({ promptTokenCount: 3, candidatesTokenCount: tokens }) }))
    },
    { weight: 2, arbitrary: fc.string().map((text) => said(text)) },
    { weight: 1, arbitrary: count.map((tokens) => counted({ promptTokenCount: tokens, cachedContentTokenCount: 1 })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        said("", { finishReason: "STOP" }),
        said("x", { finishReason: "MAX_TOKENS" }),
        internal
      )
    }
  )

  it("native streams: one read of many events means what one read an event does (N405)", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (events) => {
        const frames = events.map((one) => encoder.encode(sse(one)))
        expect(run([Buffer.concat(frames)])).toStrictEqual(run(frames))
      }),
      { numRuns: runs(300) }
    )
  })

  it("native streams: the texts of events are measured without the JSON around them, in each way of reading (N311)", () => {
    const texts = ["a", "é漢", 'b\n"\u003c', "\u{1f40e}", "c", "x".repeat(5_000)]
    const events = texts.map((text) => said(text))
    const escaped = sse(...events)
      .replaceAll("\u{1f40e}", "\\ud83d\\udc0e")
      .replaceAll("<", "\\u003c")
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const measured = (text: string) => [
      whole(text).progress.characters,
      run([...encoder.encode(text)].map((byte) => Uint8Array.of(byte))).progress.characters
    ]
    expect([sse(...events), escaped, array(...events)].map(measured)).toStrictEqual([
      [bytes, bytes],
      [bytes, bytes],
      [bytes, bytes]
    ])
  })

  it.each([
    ["a call", { functionCall: { name: "f", args: { a: "b" } } }, { characters: 29 }],
    ["code", { executableCode: { code: "1" } }, { characters: 12 }],
    ["a picture", { inlineData: { mimeType: "image/png", data: "AAAA" } }, { characters: 0, hasMedia: true }],
    ["a large picture", { inlineData: { data: "A".repeat(5_000) } }, { characters: 0, hasMedia: true }],
    ["a file", { fileData: { fileUri: "gs://a/b" } }, { characters: 0, hasMedia: true }],
    ["a thought", { text: "hmm", thought: true, thoughtSignature: "AAAA" }, { characters: 3 }]
  ])("native streams: %s is measured (N311)", (_name, part, progress) => {
    const text = sse({ candidates: [{ content: { parts: [part] } }], responseId: "x".repeat(100) })
    expect(whole(text).progress).toStrictEqual({ isCounted: false, ...progress })
  })

  it("native streams: the counts of the last event of a form are read (N405)", () => {
    const events = [1, 2, 3, 4, 5, 6].map((tokens) => ({
      ...said(`t${tokens}`),
      ...counted({ promptTokenCount: 3, candidatesTokenCount: tokens })
    }))
    const { usage } = whole(sse(...events, said("", { finishReason: "STOP" })))
    expect([usage?.prompt_tokens, usage?.completion_tokens]).toStrictEqual([3, 6])
  })
})

describe("native streams: framing", () => {
  const end = said("b", { finishReason: "STOP" })
  it("native stream: an array passes as its own text (N402)", () => {
    const text = array(said("a"), {
      ...end,
      ...counted({ promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 })
    })
    expect(whole(text)).toStrictEqual({
      text,
      failure: undefined,
      failures: 0,
      usage: {
        prompt_tokens: 2,
        completion_tokens: 3,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 0 },
        upstream: { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 }
      },
      progress: { isCounted: true, characters: "ab".length }
    })
  })
  it("native stream: line ends of all kinds pass (N402)", () => {
    for (const ending of ["\n\n", "\r\n\r\n", "\r\r"]) {
      const text = [said("a"), end].map((one) => `data: ${event(one)}${ending}`).join("")
      expect([whole(`${text}`).text, whole(text).failures]).toStrictEqual([text, 0])
    }
  })
  it("native stream: comments and marks pass as they came (N403)", () => {
    const text = `: hi\n\n${sse(end)}data: [DONE]\n\n`
    expect(whole(text)).toMatchObject({ text, failures: 0 })
  })
  it("native stream: counts under a key of the same name inside of a call do not count (N407)", () => {
    const call = {
      functionCall: { name: "f", args: { usageMetadata: { promptTokenCount: 9 }, finishReason: "STOP", error: {} } }
    }
    const text = sse({ candidates: [{ content: { parts: [call] } }] })
    expect(whole(text)).toMatchObject({ text, failures: 1, usage: undefined, failure: { kind: "truncated" } })
  })
  it("native stream: the last value of each field counts (T1104)", () => {
    const first = { ...said("a"), ...counted({ promptTokenCount: 4, totalTokenCount: 4 }) }
    const last = { ...end, ...counted({ trafficType: "ON_DEMAND", candidatesTokenCount: 7 }) }
    expect(whole(sse(first, last)).usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 7 })
  })
})

describe("native streams: errors", () => {
  it.each([
    ["sse", sse(internal)],
    ["array", array(internal)],
    ["bare", JSON.stringify(internal, null, 2)]
  ])("native stream %s: an error as the first event fails the call (N402)", (_framing, text) => {
    expect(whole(text)).toStrictEqual({
      text: "",
      failure: { _tag: "Internal", status: 500, message: "An internal error has occurred." },
      failures: 1,
      usage: undefined,
      progress: { isCounted: false, characters: 0 }
    })
  })
  it("native stream: a later error of the upstream passes, and nothing follows (N404)", () => {
    const text = sse(said("a"), internal)
    expect(whole(text + sse(said("never")))).toMatchObject({ text, failures: 0 })
    const inArray = array(said("a"), internal).slice(0, -2)
    expect(whole(`${inArray}\n]`)).toMatchObject({ text: `${inArray}]`, failures: 0 })
  })
  it("native stream: a later error passes without the names of a project (N404)", () => {
    const error = { code: 403, message: "Denied for projects/secret-project.", status: "PERMISSION_DENIED" }
    expect(whole(sse(said("a"), { error })).text).toBe(
      sse(said("a"), { error: { ...error, message: "Denied for projects/[redacted]" } })
    )
  })
  it("native stream: an end without a finish reason is a failure (N405)", () => {
    expect(whole(sse(said("a")))).toMatchObject({ text: sse(said("a")), failures: 1, failure: { kind: "truncated" } })
    expect(whole(array(said("a")))).toMatchObject({ text: `[${event(said("a"))}`, failure: { kind: "truncated" } })
    expect(whole(sse({ promptFeedback: { blockReason: "SAFETY" } })).failures).toBe(0)
  })
  it("native stream: an event over the limit ends the stream (N402)", () => {
    const small = streamReader(nativeStream({ eventBytes: 64 }, noRedaction))
    const out = small.read(encoder.encode(`data: {"a":"${"x".repeat(200)}`))
    expect([out, small.end()]).toStrictEqual([
      [
        {
          _tag: "StreamFailed",
          reason: { _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." }
        }
      ],
      []
    ])
  })
  it("native stream: an error of the gateway closes what has gone out (N404)", () => {
    const event = encoder.encode("data: {}\r\n\r\n")
    expect([
      failureText("sse", "{}", event),
      failureText("sse", "{}", undefined),
      failureText("array", "{}", event),
      failureText("array", "{}", undefined)
    ]).toStrictEqual(["data: {}\r\n\r\n", "data: {}\r\n\r\n", ",{}]", "[{}]"])
  })
  it("native stream: an error of the gateway begins after a blank line (N404)", () => {
    const after = (text: string) => failureText("sse", "{}", encoder.encode(text))
    const plain = "data: {}\r\n\r\n"
    expect(["a\n\n", "a\r\n\r\n", "a\r\r", "a\n\r\n"].map(after)).toStrictEqual([plain, plain, plain, plain])
    expect(["null", "a\n", "a\r\n", "a\r"].map(after)).toStrictEqual(
      Array.from({ length: 4 }, () => `\r\n\r\n${plain}`)
    )
  })
})

const unreadable = {
  _tag: "BadReply",
  kind: "unreadable",
  message: "The upstream sent an event that does not have the shape of an answer."
}
const truncated = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete."
}

describe("native streams: bodies without events", () => {
  it.each(["{}", '{"candidates":7}', "[[[[]]]]", '["a",{}]', ",{}"])(
    "native stream: %s, which is neither events nor an array of them, fails before its first byte (N405)",
    (text) => {
      const failure = text === ",{}" ? truncated : unreadable
      expect(whole(text)).toStrictEqual({
        text: "",
        failure,
        failures: 1,
        usage: undefined,
        progress: { isCounted: false, characters: 0 }
      })
    }
  )
  it.each(["null", "7", "%%% garbage", "[]", "[null]", "[[[["])(
    "native stream: of %s no byte passes (N405)",
    (text) => {
      const { failure, failures, text: passed } = whole(text)
      expect([passed, failure, failures]).toStrictEqual(["", truncated, 1])
    }
  )
  it("native stream: an event without its blank line does not pass before an error (N404)", () => {
    const begun = sse(said("a"))
    const rest = `data: ${event(said("b"))}`
    for (const end of ["", "\r\n"]) {
      const { failure, text } = whole(begun + rest + end)
      expect([text, failure]).toStrictEqual([begun, truncated])
    }
  })
})

describe("native arrays: errors", () => {
  const end = said("b", { finishReason: "STOP" })
  const shown = (text: string) => {
    const { failure, text: passed } = whole(text)
    return [passed, failure]
  }
  it("native array: a bare error after elements becomes the last element (N404)", () => {
    const first = `[${event(said("a"))}`
    const shownWhole = `${first},${event(internal)}]`
    expect(shown(first + event(internal))).toStrictEqual([shownWhole, undefined])
    expect(shown(`${first}\n${event(internal)}`)).toStrictEqual([shownWhole, undefined])
  })
  it("native array: an element that follows no comma ends it (N404)", () => {
    const first = `[${event(said("a"))}`
    expect(shown(`${first}${event(end)}]`)).toStrictEqual([first, unreadable])
    expect(shown(`${first},7,${event(end)}]`)).toStrictEqual([first, unreadable])
    expect(shown(`${first},[${event(end)}]]`)).toStrictEqual([first, unreadable])
  })
  it("native array: its end waits for that of the upstream, so that an error until then is an element (N404)", () => {
    const text = array(said("a"), end)
    const reader = streamReader(nativeStream(limits, noRedaction))
    const out = reader.read(encoder.encode(text))
    expect(out.map((one) => (one instanceof Uint8Array ? decoder.decode(one) : one))).toStrictEqual([
      text.slice(0, -"\n]".length)
    ])
    expect(reader.end()).toStrictEqual([encoder.encode("\n]")])
  })
  it("native array: what follows its end is dropped, but for blanks (N402)", () => {
    const text = array(said("a"), end)
    expect(shown(`${text}${array(said("c"))}`)).toStrictEqual([text, undefined])
    expect(shown(`${text}\r\n`)).toStrictEqual([`${text}\r\n`, undefined])
  })
  it("native array: without its end it is cut (N405)", () => {
    const text = array(said("a"), end).slice(0, -"\n]".length)
    expect(shown(text)).toStrictEqual([text, truncated])
  })
})
