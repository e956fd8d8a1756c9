// Tests the laws of Gemini responses on random answers: L1 to L6, L8 to L11, L13, L22, L23.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import type { ChatChunk } from "../../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { answer, chunks, context, request } from "../../support/gemini.ts"
import { runs } from "../../support/release.ts"
import { soundStream } from "../../support/replies.ts"
import { bytesOf, isChunk, joined, runBytes, sse } from "../../support/streams.ts"

const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "🐎", "\n", "\r", '"', " "),
  minLength: 1,
  maxLength: 12
})
const signature = fc.option(fc.base64String({ minLength: 4, maxLength: 12 }), { nil: undefined, freq: 4 })
const signed = (part: JsonObject, thoughtSignature: string | undefined): JsonObject =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature }

/** Parts as Google sends them; a signature of text is cut off as a part of its own when the text is cut. */
const part: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 5, arbitrary: word.map((text) => ({ text })) },
  { weight: 2, arbitrary: word.map((text) => ({ text, thought: true })) },
  { weight: 1, arbitrary: fc.tuple(word, signature).map(([text, sig]) => signed({ text }, sig)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(word, fc.dictionary(word, fc.integer()), signature)
      .map(([name, args, sig]) => signed({ functionCall: { name, args } }, sig))
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.base64String(), signature)
      .map(([data, sig]) => signed({ inlineData: { mimeType: "image/png", data } }, sig))
  },
  { weight: 1, arbitrary: word.map((code) => ({ executableCode: { code } })) },
  { weight: 1, arbitrary: fc.constantFrom<JsonObject>({}, { text: "" }, { text: "", thoughtSignature: "c2ln" }) }
)

const counts = fc.record(
  {
    promptTokenCount: fc.nat(99),
    candidatesTokenCount: fc.nat(99),
    thoughtsTokenCount: fc.nat(99),
    cachedContentTokenCount: fc.nat(200),
    totalTokenCount: fc.nat(300),
    trafficType: fc.constant("ON_DEMAND")
  },
  { requiredKeys: [] }
)

const whole = fc.record({
  candidates: fc.array(fc.tuple(fc.array(part, { maxLength: 8 }), fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY")), {
    minLength: 1,
    maxLength: 3
  }),
  usage: counts,
  cuts: fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 })
})

interface Whole {
  readonly candidates: ReadonlyArray<readonly [ReadonlyArray<JsonObject>, string]>
  readonly usage: JsonObject
  readonly cuts: ReadonlyArray<number>
}

const unaryOf = ({ candidates, usage }: Whole): JsonObject => ({
  candidates: candidates.map(([parts, finishReason], index) => ({
    index,
    content: { parts },
    finishReason,
    safetyRatings: [{ index }]
  })),
  usageMetadata: usage
})

/** The same answer in many events: texts cut in two, parts spread, usage growing, finish with the last. */
const eventsOf = ({ candidates, usage, cuts }: Whole): ReadonlyArray<JsonObject> => {
  let next = 0
  const cut = (below: number): number => (cuts[next++ % cuts.length] ?? 0) % below
  const events: Array<JsonObject> = []
  candidates.forEach(([parts], index) => {
    let held: Array<Json> = []
    const flush = () => {
      if (held.length > 0)
        events.push({
          candidates: [{ index, content: { parts: held } }],
          usageMetadata: { promptTokenCount: usage["promptTokenCount"] ?? 0 }
        })
      held = []
    }
    for (const one of parts) {
      const { text, thoughtSignature } = one
      if (typeof text === "string" && text.length > 1 && thoughtSignature === undefined && cut(2) === 0) {
        const at = 1 + cut(text.length - 1)
        if (text.slice(0, at).isWellFormed()) {
          held.push({ ...one, text: text.slice(0, at) })
          flush()
          held.push({ ...one, text: text.slice(at) })
          continue
        }
      }
      held.push(one)
      if (cut(2) === 0) flush()
    }
    flush()
  })
  return [
    ...events,
    { candidates: candidates.map(([, finishReason], index) => ({ index, finishReason, safetyRatings: [{ index }] })) },
    { usageMetadata: { promptTokenCount: 0, ...usage } }
  ]
}

/** Ids are the same up to renaming: they are counted in the order of calls, which is by candidate here. */
const renamed = (value: unknown): unknown => {
  const names = new Map<string, string>()
  return JSON.parse(
    JSON.stringify(value).replace(/call-[0-9a-f-]{36}/g, (id) => {
      if (!names.has(id)) names.set(id, `call ${names.size}`)
      return names.get(id) ?? ""
    })
  )
}

describe("random Gemini answers", () => {
  it("a stream fold equals the unary answer for any cutting into events (L1 to L5, L8, L13, L22, L23)", () => {
    fc.assert(
      fc.property(whole, (given) => {
        const usage = { ...given.usage, promptTokenCount: given.usage.promptTokenCount ?? 0 }
        const full = answer(unaryOf({ ...given, usage }))
        const stream = chunks(eventsOf({ ...given, usage }))
        expect(renamed(joined(stream))).toEqual(renamed(full))
        soundStream(stream)
        for (const [position, [parts]] of given.candidates.entries()) {
          const message = full.choices[position]?.message
          expect(message?.content ?? "").toBe(
            parts
              .filter((one) => one["thought"] !== true)
              .map((one) => one["text"] ?? "")
              .join("")
          )
          expect((message?.tool_calls ?? []).length).toBe(parts.filter((one) => "functionCall" in one).length)
          for (const call of message?.tool_calls ?? [])
            expect(typeof JSON.parse(call.function.arguments)).toBe("object")
        }
        const { prompt_tokens, completion_tokens, total_tokens } = full.usage
        expect(total_tokens).toBe(prompt_tokens + completion_tokens)
        expect((full.usage.completion_tokens_details?.reasoning_tokens ?? 0) <= completion_tokens).toBe(true)
        expect((full.usage.prompt_tokens_details?.cached_tokens ?? 0) <= prompt_tokens).toBe(true)
      }),
      { numRuns: runs(500) }
    )
  })

  it("any split of the bytes gives the same chunks, on every run (L6, L9)", () => {
    fc.assert(
      fc.property(
        whole,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(5_000), { maxLength: 8 }),
        (given, end, cuts) => {
          const bytes = bytesOf(sse(eventsOf(given), end))
          const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
          const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to))
          expect(runBytes(context, request, pieces)).toEqual(chunks(eventsOf(given)))
        }
      ),
      { numRuns: runs(200) }
    )
  })

  it("a truncated stream gives a prefix of the deltas, then one failure or a normal end (L7)", () => {
    fc.assert(
      fc.property(whole, fc.nat(100_000), (given, place) => {
        const bytes = bytesOf(sse(eventsOf(given)))
        const cut = runBytes(context, request, [bytes.slice(0, place % bytes.length)])
        const deltas = (all: ReadonlyArray<unknown>) => JSON.stringify(all).slice(1, -1)
        const ofContent = (all: ReadonlyArray<ChatChunk>) =>
          all.filter((chunk) => chunk.choices.some((choice) => choice.finish_reason === null))
        const wanted = ofContent(chunks(eventsOf(given)).filter((chunk) => chunk.choices[0]?.delta.role === undefined))
        const seen = ofContent(cut.filter(isChunk).filter((chunk) => chunk.choices[0]?.delta.role === undefined))
        expect(deltas(wanted).startsWith(deltas(seen))).toBe(true)
        const failed = cut.filter((output) => !isChunk(output))
        const finished = cut.filter(isChunk).filter((chunk) => chunk.choices.length === 0)
        expect(failed.length + finished.length).toBe(1)
        expect(cut.at(-1)).toBe(failed[0] ?? finished[0])
      }),
      { numRuns: runs(300) }
    )
  })

  it("unknown fields, parts and events change nothing in strict output (L10)", () => {
    const odd = (event: JsonObject): JsonObject => ({
      ...event,
      brandNew: { a: [1] },
      ...(Array.isArray(event["candidates"])
        ? { candidates: event["candidates"].map((one) => ({ ...(one as JsonObject), brandNew: "x" })) }
        : {})
    })
    const strict = (events: ReadonlyArray<JsonObject>) =>
      chunks(events)
        .map(strictlyChunk)
        .filter((chunk) => chunk !== undefined)
    fc.assert(
      fc.property(whole, (given) => {
        const events = eventsOf(given)
        const shaken = events.flatMap((event) => [odd(event), { brandNew: 1 }])
        expect(strict(shaken)).toEqual(strict(events))
        expect(strictlyCompletion(answer(odd(unaryOf(given))))).toEqual(strictlyCompletion(answer(unaryOf(given))))
      }),
      { numRuns: 100 }
    )
  })

  it("strict mode is idempotent and only removes (L11)", () => {
    fc.assert(
      fc.property(whole, (given) => {
        const full = answer(unaryOf(given))
        const strict = strictlyCompletion(full)
        expect(strictlyCompletion(strict)).toEqual(strict)
        expect(full).toMatchObject(strict)
        for (const chunk of chunks(eventsOf(given))) {
          const left = strictlyChunk(chunk)
          if (left === undefined) continue
          expect(strictlyChunk(left)).toEqual(left)
          expect(chunk).toMatchObject(left)
        }
      }),
      { numRuns: 100 }
    )
  })

  it("the old experimental models fold like their unary answer, strict and full (L1)", () => {
    const events = [
      { candidates: [{ content: { parts: [{ text: "h", thought: true }] } }] },
      { candidates: [{ content: { parts: [{ text: "m", thought: true }, { text: "y" }] }, finishReason: "STOP" }] }
    ]
    const unary = {
      candidates: [{ content: { parts: [{ text: "hm", thought: true }, { text: "y" }] }, finishReason: "STOP" }]
    }
    for (const strict of [true, false]) {
      const from = chatContext("gemini-2.0-flash-thinking-exp", { strict })
      expect(joined(chunks(events, from))).toEqual(answer(unary, from))
    }
  })

  it("one word of an enum has no white space around it (T807, L1)", () => {
    const format = { type: "json_schema", json_schema: { name: "n", schema: { type: "string", enum: ["so so", "b"] } } }
    const asking = chatRequest([{ role: "user", content: "hi" }], { response_format: format })
    const body = (text: string, end = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...end }] })
    const full = answer(body("\n so so\n", { finishReason: "STOP" }), context, asking)
    expect(full.choices[0]?.message.content).toBe("so so")
    expect(
      joined(chunks([body("\n"), body(" so "), body("so"), body("\n", { finishReason: "STOP" })], context, asking))
    ).toEqual(full)
    expect(answer(body("\n so so\n", { finishReason: "STOP" })).choices[0]?.message.content).toBe("\n so so\n")
  })

  it("legacy clients get a fold equal to the unary answer (L1, L5)", () => {
    const legacy = chatRequest([{ role: "user", content: "hi" }], { functions: [{ name: "f" }] })
    const parts = [{ functionCall: { name: "f", args: { a: 1 } } }, { functionCall: { name: "f" } }]
    const body = { candidates: [{ content: { parts }, finishReason: "STOP" }] }
    expect(joined(chunks([body], context, legacy))).toEqual(answer(body, context, legacy))
  })
})
