// What clients of Anthropic's API need of Vertex AI: its version, and streams without its own event.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { noRedaction } from "../../../src/domain/text/redaction.ts"
import { messageStream } from "../../../src/translate/messages-to-claude.ts"
import { claudeVersion, withoutThread } from "../../../src/translate/shared/claude.ts"
import { runFold } from "../../../src/translate/Translator.ts"

const frame = (name: string, facts: object = {}) =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...facts })}\n\n`
const start = frame("message_start", { message: { usage: { input_tokens: 1 } } })
const vertex = frame("vertex_event", { trafficType: "ON_DEMAND" })
const stop = frame("message_stop")

const passed = (text: string, keeps: boolean, size: number): string => {
  const bytes = new TextEncoder().encode(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size)
  )
  const out = runFold(messageStream({ eventBytes: 10_000 }, noRedaction, keeps), chunks)
  return Buffer.concat(out.filter((one) => one instanceof Uint8Array)).toString()
}

describe("clients of Anthropic's API", () => {
  it("messages stream: leaves the event of Vertex AI out, wherever reads are cut (T1902)", () => {
    for (const size of [1, 7, 1_000]) {
      expect(passed(start + vertex + stop, false, size)).toBe(start + stop)
      expect(passed(vertex + start + stop + vertex, false, size)).toBe(start + stop)
    }
  })
  it("rawPredict stream: keeps the event of Vertex AI (T1902)", () => {
    expect(passed(start + vertex + stop, true, 7)).toBe(start + vertex + stop)
  })
  it("Claude's version: a dated one of body or header counts from 2026-10-21 on (M-830)", () => {
    expect([
      claudeVersion("2026-10-21", undefined),
      claudeVersion(undefined, "2027-01-01"),
      claudeVersion("2023-06-01", "2023-06-01"),
      claudeVersion(undefined, undefined),
      claudeVersion("2026-10-21x", undefined)
    ]).toStrictEqual(["2026-10-21", "2027-01-01", "vertex-2023-10-16", "vertex-2023-10-16", "vertex-2023-10-16"])
  })
  it("thread: is refused with a hint (N305)", () => {
    expect([withoutThread({ a: 1 }), Result.isFailure(withoutThread({ thread: {} }))]).toStrictEqual([
      Result.succeed({ a: 1 }),
      true
    ])
  })
})
