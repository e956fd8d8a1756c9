// Tests the splitter of whole SSE frames, which keeps their bytes.
// Must not depend on what the frames contain.
import { describe, expect, it } from "vitest"
import { noFrames, readFrame, unfinishedBytes, wholeFrames } from "../../src/wire/wholeFrames.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Frames of the text cut into these pieces, and what is left. */
const framesOf = (pieces: ReadonlyArray<Uint8Array>) => {
  let state = Object.freeze(noFrames)
  const frames: Array<readonly [event: string, text: string]> = []
  for (const piece of pieces) {
    const [next, some] = wholeFrames(state, piece)
    state = Object.freeze(next)
    for (const { bytes, event } of some) frames.push([event, decode(bytes)])
  }
  return { frames, rest: decode(unfinishedBytes(state)) }
}

const stream = [
  'event: message_start\ndata: {"é":"👋"}\n\n',
  ": a comment\n\n",
  'data: {"type":"x"}\r\n\r\n',
  "data: 1\nevent: late\n\n",
  "event:tight\r\n\r\n",
  "\n",
  "event: message_stop\ndata: {}\n\n"
]

describe("whole frames", () => {
  it("whole frames: have the name of their event", () => {
    expect(framesOf([encode(stream.join(""))])).toEqual({
      frames: [
        ["message_start", stream[0]],
        ["", stream[1]],
        ["", stream[2]],
        ["late", stream[3]],
        ["tight", stream[4]],
        ["", stream[5]],
        ["message_stop", stream[6]]
      ],
      rest: ""
    })
  })
  it("whole frames: are the same wherever the bytes are cut (L6)", () => {
    const bytes = encode(stream.join(""))
    const whole = framesOf([bytes])
    for (let at = 0; at <= bytes.length; at++)
      expect(framesOf([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
    expect(framesOf([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })
  it("whole frames: end with CR as well, after the next byte", () => {
    expect(framesOf([encode("event: a\rdata: 1\r\revent: b\r\r")])).toEqual({
      frames: [["a", "event: a\rdata: 1\r\r"]],
      rest: "event: b\r\r"
    })
  })
  it("whole frames with CR: are the same wherever the bytes are cut (L6)", () => {
    const bytes = encode(`${stream.slice(0, 4).join("").replaceAll(/\r?\n/g, "\r")}x`)
    const whole = framesOf([bytes])
    expect([whole.frames.length, whole.rest]).toEqual([4, "x"])
    for (let at = 0; at <= bytes.length; at++)
      expect(framesOf([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
    expect(framesOf([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })
  it("whole frames: a comment has no name, whatever frame follows it in the read", () => {
    const text = ": one\n: two\n\nevent: next\ndata: 1\n\n"
    expect(framesOf([encode(text)]).frames.map(([event]) => event)).toEqual(["", "next"])
  })
  it("whole frames: a name is decoded, and has no blanks around it", () => {
    const text = "event: é\n\nevent:  a \n\nevent:\n\nevent: \r\n\r\n"
    expect(framesOf([encode(text)]).frames.map(([event]) => event)).toEqual(["é", "a", "", ""])
  })
  it("whole frames: know whether they are one line, wherever the bytes are cut", () => {
    const bytes = encode("data: 1\n\n: a\ndata: 2\r\n\r\n\ndata: 3\n\n")
    for (let at = 0; at <= bytes.length; at++) {
      const [state, first] = wholeFrames(noFrames, bytes.subarray(0, at))
      const [, second] = wholeFrames(state, bytes.subarray(at))
      expect([...first, ...second].map(({ isOneLine }) => isOneLine)).toEqual([true, false, true, true])
    }
  })
  it("whole frames: leave an unfinished frame", () => {
    expect(framesOf([encode("event: a\n\nevent: b\ndata")])).toEqual({
      frames: [["a", "event: a\n\n"]],
      rest: "event: b\ndata"
    })
  })
})

it("readFrame: a frame is read as a whole", () => {
  expect(readFrame(encode("event: a\ndata: 1\ndata: 2\n\n"))).toMatchObject({ event: "a", data: "1\n2" })
  expect(readFrame(encode(": comment\n\n"))).toBeUndefined()
  expect(readFrame(Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a))).toBeUndefined()
})
