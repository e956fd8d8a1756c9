// Tests recorded OpenAI-compatible answers: readable, strict forms are published forms, any cut gives the same chunks.
// Must not open sockets or read clocks.
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { chatToOpenAi } from "../../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { isStreamFailed, runFold } from "../../../src/translate/Translator.ts"
import type { ChatChunk } from "../../../src/wire/openai/ChatReply.ts"
import { answer, context, request, validChunk } from "../../support/openAi.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../../support/shared.ts"
import { cutsThatTell, unlawfulEnds } from "../../support/streamLaws.ts"
import { byteFold, bytesOf, eachByte, isChunk, joined } from "../../support/streams.ts"

if (sharedDir() === undefined) loudlySkipped("recordings of OpenAI-compatible upstreams")

const fixtures = new URL("../../fixtures/openai/", import.meta.url)
const own = readdirSync(fixtures)
  .sort()
  .map((file): Recording => JSON.parse(readFileSync(new URL(file, fixtures), "utf8")))
const recorded = recordings("vertex-openapi")
const all = [...own, ...recorded]
const name = ({ id }: Recording): string => id.split("/").at(-1) ?? ""
const bodyOf = ({ response }: Recording) => response.body as Json
const isStream = ({ response }: Recording): boolean => response.bodyText !== undefined

const refusal = {
  _tag: "InvalidRequest",
  message:
    "tool call validation failed: parameters for tool structured_output did not match schema: errors: [`/age`: expected integer, but got string]",
  upstreamCode: "tool_use_failed"
}

/** The reason of the handwritten error. */
const ownRefusal = {
  _tag: "InvalidRequest",
  message: "max_tokens is larger than this model takes.",
  param: "max_tokens",
  upstreamCode: "too_many_tokens"
}

it.runIf(sharedDir() !== undefined)("the recordings include every kind of answer", () => {
  expect([
    recorded.filter(isStream).length,
    recorded.filter((one) => one.response.status !== 200).length,
    recorded.length
  ]).toStrictEqual([5, 1, 11])
})

describe("recorded unary OpenAI-compatible answers", () => {
  for (const recording of all.filter((one) => !isStream(one) && one.response.status === 200)) {
    it(`a recorded answer is readable: ${name(recording)} (L11, L22)`, () => {
      const given = bodyOf(recording) as {
        readonly id: string
        readonly model: string
        readonly choices: ReadonlyArray<{ readonly message: object; readonly finish_reason: string }>
        readonly usage: object
      }
      const { id, model, choices, usage } = answer(bodyOf(recording))
      expect([id, model]).toStrictEqual([given.id, given.model])
      expect(usage).toMatchObject(Object.fromEntries(Object.entries(given.usage).filter(([, value]) => value !== null)))
      expect(choices.map((choice) => choice.finish_reason)).toStrictEqual(
        given.choices.map((choice) => choice.finish_reason)
      )
      for (const [at, { message }] of given.choices.entries()) {
        expect(choices[at]?.message).toStrictEqual({
          content: null,
          refusal: null,
          ...Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))
        })
      }
    })
  }
})

describe("recorded OpenAI-compatible errors", () => {
  for (const recording of all.filter((one) => one.response.status !== 200)) {
    it(`a recorded error maps to its reason: ${name(recording)} (T2008)`, () => {
      const { headers, status } = recording.response
      const reason = own.includes(recording) ? ownRefusal : refusal
      expect(chatToOpenAi.failure(status, headers, bodyOf(recording), "caller")).toStrictEqual(reason)
      expect(chatToOpenAi.failure(status, headers, JSON.stringify(bodyOf(recording)), "caller")).toStrictEqual(reason)
    })
  }
})

/** L2 to L5 and L11. */
const sound = (chunks: ReadonlyArray<ChatChunk>): void => {
  chunks.forEach(validChunk)
  expect(chunks.map((chunk) => "usage" in chunk)).toStrictEqual(chunks.map((_, at) => at === chunks.length - 1))
  expect(new Set(chunks.map(({ id, created, model }) => JSON.stringify([id, created, model]))).size).toBe(1)
  const choices = chunks.flatMap((chunk) => chunk.choices)
  expect(choices.map(({ finish_reason }) => finish_reason !== null)).toStrictEqual(
    choices.map((_, at) => at === choices.length - 1)
  )
  expect(choices.map(({ delta }) => "role" in delta)).toStrictEqual(choices.map((_, at) => at === 0))
}

const start = byteFold(chatToOpenAi.stream(context, request))
const streams = all.filter(isStream).map((recording) => {
  const bytes = bytesOf(recording.response.bodyText ?? "")
  return {
    name: name(recording),
    text: recording.response.bodyText ?? "",
    fails: recording.features.includes("response:error"),
    bytes,
    whole: runFold(start, [bytes])
  }
})
const contentOf = (text: string): string =>
  [...text.matchAll(/"delta":\{[^}]*"content":("(?:[^"\\]|\\.)*")/g)]
    .map(([, content = ""]) => JSON.parse(content))
    .join("")

describe("recorded OpenAI-compatible streams", () => {
  for (const { name, whole } of streams.filter(({ fails }) => fails)) {
    it(`a recorded error stream fails: ${name} (T1317)`, () =>
      expect(whole).toStrictEqual([{ _tag: "StreamFailed", reason: refusal }]))
  }
  for (const { bytes, name, text, whole } of streams.filter(({ fails }) => !fails)) {
    it(`a recorded stream keeps the laws: ${name} (L2 to L5, L11)`, () => {
      expect(whole.filter(isStreamFailed)).toStrictEqual([])
      const chunks = whole.filter(isChunk)
      sound(chunks)
      expect(joined(chunks).choices[0]?.["message"]).toMatchObject({ content: contentOf(text) || null })
    })
    it(`a truncated stream fails after its prefix: ${name} (L7)`, () => {
      expect(unlawfulEnds(start, bytes)).toEqual([])
    })
  }
  for (const { bytes, name, whole } of streams) {
    it(`any cut of a stream gives the same chunks: ${name} (L6)`, () => {
      expect(runFold(start, eachByte(bytes))).toStrictEqual(whole)
      expect(cutsThatTell((pieces) => runFold(start, pieces), bytes)).toEqual([])
    })
  }
})
