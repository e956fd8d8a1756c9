// Tests the laws of OpenAI-compatible responses on random answers: L1 to L7, L10, L11, L22, L28.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { chatToOpenAi } from "../../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { isStreamFailed } from "../../../src/translate/Translator.ts"
import type { ChatChunk } from "../../../src/wire/openai/ChatReply.ts"
import { chatRequest } from "../../support/chat.ts"
import { answer, chunks, context, outputs, outputsOfBytes } from "../../support/openAi.ts"
import { runs } from "../../support/release.ts"
import { bytesOf, isChunk, joined, sse } from "../../support/streams.ts"

const word = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🐎", "\n", '"', " "), minLength: 1, maxLength: 12 })
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(""))

interface Call {
  readonly id: string
  readonly name: string
  readonly args: string
}
interface Whole {
  readonly choices: ReadonlyArray<{
    readonly reasoning: string
    readonly content: string
    readonly refusal: string
    readonly calls: ReadonlyArray<Call>
    readonly finish: string
  }>
  readonly usage: JsonObject
  readonly cuts: ReadonlyArray<number>
}

const call: fc.Arbitrary<Call> = fc.record({
  id: fc.constantFrom("", "c1", "c2", "c3"),
  name: word,
  args: fc.oneof(
    fc.constant(""),
    fc.dictionary(word, fc.integer()).map((args) => JSON.stringify(args))
  )
})
const whole: fc.Arbitrary<Whole> = fc.record({
  choices: fc.array(
    fc.record({
      reasoning: fc.oneof(fc.constant(""), text),
      content: text,
      refusal: fc.oneof({ weight: 4, arbitrary: fc.constant("") }, { weight: 1, arbitrary: word }),
      calls: fc.array(call, { maxLength: 3 }),
      finish: fc.constantFrom("stop", "length", "tool_calls", "eos_token", "content_filter")
    }),
    { minLength: 1, maxLength: 3 }
  ),
  usage: fc.record(
    {
      prompt_tokens: fc.nat(99),
      completion_tokens: fc.nat(99),
      total_tokens: fc.nat(99),
      prompt_tokens_details: fc.record({ cached_tokens: fc.nat(200) }),
      queue_time: fc.constant(0.5)
    },
    { requiredKeys: ["prompt_tokens", "completion_tokens"] }
  ),
  cuts: fc.array(fc.nat(1_000), { minLength: 30, maxLength: 30 })
})

const envelope = { id: "up-1", created: 5, model: "m" }

const unaryOf = ({ choices, usage }: Whole): JsonObject => ({
  ...envelope,
  choices: choices.map(({ calls, content, finish, reasoning, refusal }, index) => ({
    index,
    message: {
      role: "assistant",
      content,
      refusal: refusal === "" ? null : refusal,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, args }) => ({
              id,
              type: "function",
              function: { name, arguments: args }
            }))
          })
    },
    finish_reason: finish
  })),
  usage
})

/** The same answer as a stream in pieces: texts and arguments are cut anywhere, choices alternate. */
const eventsOf = ({ choices, usage, cuts }: Whole): ReadonlyArray<JsonObject> => {
  let next = 0
  const cut = (below: number): number => (cuts[next++ % cuts.length] ?? 0) % below
  const piecesOf = (all: string): ReadonlyArray<string> => {
    const letters = [...all]
    const at = letters.length === 0 ? 0 : cut(letters.length + 1)
    return [letters.slice(0, at).join(""), letters.slice(at).join("")].filter((piece) => piece !== "" || cut(3) === 0)
  }
  const queues = choices.map(({ calls, content, reasoning, refusal }) => [
    ...(cut(2) === 0 ? [{ role: "assistant", content: cut(2) === 0 ? "" : null }] : []),
    ...piecesOf(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(content).map((piece) => ({ content: piece })),
    ...(refusal === "" ? [] : [{ refusal }]),
    ...calls.flatMap(({ id, name, args }, index) => {
      const [head = "", ...tail] = piecesOf(args)
      return [
        { tool_calls: [{ index, id, type: "function", function: { name, arguments: head } }] },
        ...tail.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))
      ]
    })
  ])
  const events: Array<JsonObject> = []
  for (
    let open = queues.map((_, index) => index);
    open.length > 0;
    open = open.filter((index) => (queues[index]?.length ?? 0) > 0)
  ) {
    const index = open[cut(open.length)] ?? 0
    const delta = queues[index]?.shift()
    if (delta !== undefined) events.push({ ...envelope, choices: [{ index, delta, finish_reason: null }] })
  }
  return [
    ...events,
    ...choices.map(({ finish }, index) => ({ ...envelope, choices: [{ index, delta: {}, finish_reason: finish }] })),
    { ...envelope, choices: [], usage }
  ]
}

/** Ids that were made are the same up to renaming; they are counted by choice. */
const renamed = (value: unknown): unknown => {
  const names = new Map<string, string>()
  return JSON.parse(
    JSON.stringify(value).replace(/call-[0-9a-f-]{36}/g, (id) => {
      if (!names.has(id)) names.set(id, `call ${names.size}`)
      return names.get(id) ?? ""
    })
  )
}

const sound = (stream: ReadonlyArray<ChatChunk>): void => {
  expect(stream.map((chunk) => "usage" in chunk)).toEqual(stream.map((_, at) => at === stream.length - 1))
  for (const choices of Map.groupBy(
    stream.flatMap((chunk) => chunk.choices),
    (choice) => choice.index
  ).values()) {
    expect(choices.map((choice) => choice.finish_reason !== null)).toEqual(
      choices.map((_, at) => at === choices.length - 1)
    )
    expect(choices.map((choice) => "role" in choice.delta)).toEqual(choices.map((_, at) => at === 0))
    const openings = choices
      .flatMap((choice) => choice.delta.tool_calls ?? [])
      .filter((piece) => piece.id !== undefined)
    expect(openings.map((piece) => piece.index)).toEqual(openings.map((_, at) => at))
    expect(new Set(openings.map((piece) => piece.id)).size).toBe(openings.length)
  }
}

/** The chunks of a whole stream, unchecked: the first law checks them against the published schema. */
const streamed = (events: ReadonlyArray<Json>): ReadonlyArray<ChatChunk> => outputs(events).filter(isChunk)

describe("random OpenAI-compatible answers", () => {
  it("a stream fold equals the unary answer for any cutting into events (L1 to L5, L22)", () => {
    fc.assert(
      fc.property(whole, (one) => {
        const full = answer(unaryOf(one))
        const stream = chunks(eventsOf(one))
        expect(renamed(joined(stream))).toEqual(renamed(full))
        sound(stream)
        const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details } = full.usage
        expect(total_tokens).toBe(prompt_tokens + completion_tokens)
        expect((prompt_tokens_details?.cached_tokens ?? 0) <= prompt_tokens).toBe(true)
      }),
      { numRuns: runs(200) }
    )
  })

  it("any split of the bytes gives the same chunks (L6)", () => {
    fc.assert(
      fc.property(
        whole,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(9_000), { maxLength: 8 }),
        (one, end, cuts) => {
          const bytes = bytesOf(`${sse(eventsOf(one), end)}data: [DONE]${end}${end}`)
          const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
          const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to))
          expect(outputsOfBytes(pieces)).toEqual(streamed(eventsOf(one)))
        }
      ),
      { numRuns: runs(200) }
    )
  })

  it("a truncated stream gives a prefix of the deltas, then one failure or a normal end (L7)", () => {
    const ofContent = (all: ReadonlyArray<ChatChunk>): ReadonlyArray<ChatChunk> =>
      all.filter(({ choices }) => choices.some((choice) => choice.finish_reason === null))
    fc.assert(
      fc.property(whole, fc.nat(100_000), (one, place) => {
        const bytes = bytesOf(sse(eventsOf(one)))
        const cut = outputsOfBytes([bytes.slice(0, place % bytes.length)])
        const seen = ofContent(cut.filter(isChunk)).filter(
          (chunk) => !chunk.choices.some((choice) => choice.delta.tool_calls?.[0]?.function.arguments === "{}")
        )
        const wanted = ofContent(streamed(eventsOf(one))).filter(
          (chunk) => !chunk.choices.some((choice) => choice.delta.tool_calls?.[0]?.function.arguments === "{}")
        )
        expect(wanted.slice(0, seen.length)).toEqual(seen)
        const ends = cut.filter((output) => isStreamFailed(output) || output.choices.length === 0)
        expect([ends.length, ends[0] === cut.at(-1)]).toEqual([1, true])
      }),
      { numRuns: runs(300) }
    )
  })

  it("unknown fields and events change nothing in strict output, and strict mode only removes (L10, L11)", () => {
    const odd = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(odd)
        : typeof value === "object" && value !== null
          ? {
              ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, odd(inner ?? null)])),
              brandNew: { a: [1] },
              nothing: null
            }
          : value
    const strict = (events: ReadonlyArray<Json>) =>
      streamed(events)
        .map(strictlyChunk)
        .filter((chunk) => chunk !== undefined)
    fc.assert(
      fc.property(whole, (one) => {
        const events = eventsOf(one)
        expect(joined(strict(events.flatMap((event) => [odd(event), { brandNew: 1 }])))).toEqual(joined(strict(events)))
        const full = answer(odd(unaryOf(one)))
        expect(strictlyCompletion(full)).toEqual(strictlyCompletion(answer(unaryOf(one))))
        expect(full).toMatchObject(strictlyCompletion(full))
      }),
      { numRuns: 100 }
    )
  })

  it("a full or strict answer is accepted as history, without the gateway's own fields (L28)", () => {
    fc.assert(
      fc.property(whole, (one) => {
        const full = answer(unaryOf(one))
        for (const { choices } of [full, strictlyCompletion(full)]) {
          const message = choices[0]?.message
          if (message === undefined) throw new Error("no choice")
          const results = (message.tool_calls ?? []).map(({ id }) => ({ role: "tool", tool_call_id: id, content: "1" }))
          const { body } = Result.getOrThrow(
            chatToOpenAi.request(chatRequest([{ role: "user", content: "hi" }, { ...message }, ...results]), context)
          )
          const { role, content, refusal, tool_calls } = message
          expect(body["messages"]).toEqual([
            { role: "user", content: "hi" },
            {
              role,
              content,
              ...(refusal === null ? {} : { refusal }),
              ...(tool_calls === undefined ? {} : { tool_calls })
            },
            ...results
          ])
        }
      }),
      { numRuns: 100 }
    )
  })
})
