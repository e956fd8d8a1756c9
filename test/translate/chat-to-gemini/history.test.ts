// Tests the laws of generated Gemini conversations, and of answers sent back as history.
// Must not test single rules; each has a test of its own.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { chatToGeminiRequest } from "../../../src/translate/chat-to-gemini/request.ts"
import { sentinel } from "../../../src/translate/chat-to-gemini/messages.ts"
import { strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { lawsOfContents } from "../../support/contents.ts"
import { answer, reply, stop } from "../../support/gemini.ts"
import {
  assistant,
  call,
  calling,
  type Messages,
  middle,
  modern,
  older,
  sent,
  tool,
  user,
  vertex
} from "../../support/geminiMessages.ts"

const text = (part: string) => ({ type: "text", text: part })
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("user", "system", "assistant"), texts: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      kind: fc.constant("calls"),
      texts: fc.nat(1),
      calls: fc.integer({ min: 1, max: 4 }),
      answered: fc.array(fc.nat(3)),
      chatter: fc.boolean()
    })
  ),
  { minLength: 1, maxLength: 8 }
)
/** A conversation whose texts, arguments and results are numbered, so that each can be found again. */
const talk: fc.Arbitrary<Messages> = steps.map((some) => {
  let count = 0
  const next = () => `t${++count}.`
  return some.flatMap((step): Messages => {
    if (!("calls" in step))
      return [{ role: step.kind, content: Array.from({ length: step.texts }, () => text(next())) }]
    const calls = Array.from({ length: step.calls }, (_, n) => call(`id${++count}`, `f${n % 2}`, `{"n":${count}}`))
    const results = [...new Set(step.answered)].flatMap((n) => calls[n] ?? []).map(({ id }) => tool(id, `r-${id}.`))
    return [
      assistant(step.texts === 0 ? null : next(), { tool_calls: calls }),
      ...(step.chatter ? [user(next())] : []),
      ...results
    ]
  })
})
const models = fc.constantFrom("gemini-1.5-pro", older, middle, modern, "gemma-3-27b-it")
const found = (value: unknown, pattern: RegExp): ReadonlyArray<string> =>
  JSON.stringify(value ?? null).match(pattern) ?? []
const isRising = (marks: ReadonlyArray<string>) => {
  const numbers = marks.map((mark) => Number.parseInt(mark.slice(1)))
  expect(numbers).toStrictEqual(numbers.toSorted((a, b) => a - b))
}

describe("generated Gemini conversations", () => {
  it("frozen input gives paired calls, no empty contents, alternating roles (L8, L15, L16, L17)", () => {
    fc.assert(
      fc.property(talk, models, fc.boolean(), (messages, model, isVertex) => {
        const out = sent(messages, model, isVertex ? vertex : {})
        expect(sent(messages, model, isVertex ? vertex : {})).toStrictEqual(out)
        lawsOfContents(out.contents, model === modern)
      })
    )
  })
  it("the body contains every text, call and result once, in conversation order (L13, L14)", () => {
    fc.assert(
      fc.property(talk, models, (messages, model) => {
        const { contents, systemInstruction } = sent(messages, model)
        for (const pattern of [/t\d+\./g, /r-id\d+\./g]) {
          expect([...found(contents, pattern), ...found(systemInstruction, pattern)].toSorted()).toStrictEqual(
            [...found(messages, pattern)].toSorted()
          )
        }
        const args = contents.flatMap(({ parts }) =>
          parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [JSON.stringify(functionCall.args)]))
        )
        expect(args).toStrictEqual(found(messages, /\{\\"n\\":\d+\}/g).map((one) => one.replaceAll("\\", "")))
        isRising(found(systemInstruction, /t\d+\./g))
        if (model !== "gemma-3-27b-it") isRising(found(contents, /t\d+\./g))
      })
    )
  })
  it("a system message after an open call leaves the call open (T509)", () => {
    expect(sent([user("hi"), calling(call("a")), { role: "system", content: "S" }])).toStrictEqual({
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }
      ],
      systemInstruction: { parts: [{ text: "S" }] }
    })
  })
})

const signature = fc.option(
  fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  { nil: undefined }
)
const signed = (part: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(part, signature).map(([one, sign]) => (sign === undefined ? one : { ...one, thoughtSignature: sign }))
const answered = fc.array(
  signed(
    fc.oneof(
      fc.string().map((some): JsonObject => ({ text: some })),
      fc.string().map((some): JsonObject => ({ text: some, thought: true })),
      fc.bigInt().map((n): JsonObject => ({ functionCall: { name: "f", args: { n: Number(n) } } })),
      fc.constant<JsonObject>({ inlineData: { mimeType: "image/png", data: "AAAA" } }),
      fc.constant<JsonObject>({ executableCode: { language: "PYTHON", code: "1" } })
    )
  ),
  { maxLength: 5 }
)

describe("Gemini answers as history", () => {
  const said = [user("hi")]
  const run = (parts: ReadonlyArray<JsonObject>, model: string, strict: boolean, isVertex: boolean) => {
    const context = chatContext(model, { strict, ...(isVertex ? vertex : {}) })
    const full = answer(reply(parts, stop), context)
    const message = (strict ? strictlyCompletion(full) : full).choices[0]?.message
    const results = (message?.tool_calls ?? []).map(({ id }) => tool(id, "done"))
    const history = [...said, { ...message }, ...results, user("go on")]
    return Result.getOrThrow(chatToGeminiRequest(chatRequest(history), context)).body.contents
  }
  it("an answer, full or strict, is accepted for the same target (L28, T225)", () => {
    fc.assert(
      fc.property(answered, models, fc.boolean(), fc.boolean(), (parts, model, strict, isVertex) => {
        const contents = run(parts, model, strict, isVertex)
        expect(contents.at(-1)?.parts.at(-1)).toStrictEqual({ text: "go on" })
        lawsOfContents(contents, model === modern)
      })
    )
  })
  it("a full answer of Gemini 3 returns every text, picture and call with its signature (L13, L18)", () => {
    const isKept = ({ thought }: JsonObject) => thought !== true
    const signs = (parts: ReadonlyArray<JsonObject>, kind: string) =>
      parts.filter((part) => isKept(part) && part[kind] !== undefined).map(({ thoughtSignature }) => thoughtSignature)
    const words = (parts: ReadonlyArray<JsonObject>) =>
      parts
        .filter(isKept)
        .map((part) => part["text"] ?? "")
        .join("")
    const withoutSentinel = (sign: unknown) => (sign === sentinel ? undefined : sign)
    fc.assert(
      fc.property(answered, (parts) => {
        const model = run(parts, modern, false, false).find(({ role }) => role === "model")
        const back: ReadonlyArray<JsonObject> = JSON.parse(JSON.stringify(model?.parts ?? []))
        expect(signs(back, "functionCall").map(withoutSentinel)).toStrictEqual(signs(parts, "functionCall"))
        expect(signs(back, "inlineData")).toStrictEqual(signs(parts, "inlineData"))
        // With a picture, content_parts return (T123), and those contain texts and pictures alone.
        const hasPicture = parts.some((part) => part["inlineData"] !== undefined)
        expect(signs(back, "executableCode")).toStrictEqual(hasPicture ? [] : signs(parts, "executableCode"))
        expect(words(back)).toBe(words(parts))
      })
    )
  })
})
