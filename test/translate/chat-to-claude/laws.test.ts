// Tests the laws of Claude responses on random answers and on answers sent back as history: L1 to L11, L13, L18, L28.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import type { ChatCompletion } from "../../../src/wire/openai/ChatReply.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatRequest } from "../../support/chat.ts"
import {
  answer,
  assistant,
  chunks,
  claudeContext,
  functionTool,
  grow,
  message,
  models,
  runBytes,
  sent,
  start,
  stop,
  text,
  tool,
  translated,
  user
} from "../../support/claude.ts"
import { runs } from "../../support/release.ts"
import { soundStream, soundUsage, valid } from "../../support/replies.ts"
import { bytesOf, isChunk, joined, sse } from "../../support/streams.ts"

const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "🐎", "\n", "\r", '"', " "),
  minLength: 1,
  maxLength: 12
})
const signature = fc.base64String({ minLength: 4, maxLength: 12 })
const value: fc.Arbitrary<Json> = fc.oneof(word, fc.integer(), fc.constant(null), fc.array(word, { maxLength: 2 }))
const input = fc.dictionary(word, value, { maxKeys: 3 })

const block: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 5, arbitrary: word.map(text) },
  {
    weight: 1,
    arbitrary: fc.tuple(word, word).map(([words, url]) => ({
      ...text(words),
      citations: [{ type: "web_search_result_location", url, title: null }]
    }))
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.oneof(word, fc.constant("")), signature)
      .map(([thinking, signed]) => ({ type: "thinking", thinking, signature: signed }))
  },
  { weight: 1, arbitrary: word.map((thinking) => ({ type: "thinking", thinking, signature: "" })) },
  { weight: 1, arbitrary: signature.map((data) => ({ type: "redacted_thinking", data })) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom("f", "a/b"), input).map(([name, args]) => ({
      type: "tool_use",
      id: "toolu",
      name: name === "f" ? name : "a_b_3a8e75c1",
      input: args
    }))
  },
  {
    weight: 2,
    arbitrary: input.map((args) => ({
      type: "tool_use",
      id: "toolu",
      name: "json_output",
      input: { value: 7, ...args }
    }))
  },
  {
    weight: 1,
    arbitrary: input.map((args) => ({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: args }))
  },
  {
    weight: 1,
    arbitrary: word.map((url) => ({
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", url, title: "t", encrypted_content: "e" }]
    }))
  }
)
const counts = fc
  .record(
    {
      cache_read_input_tokens: fc.nat(99),
      cache_creation_input_tokens: fc.nat(99),
      output_tokens_details: fc.nat(200).map((thinking_tokens) => ({ thinking_tokens }))
    },
    { requiredKeys: [] }
  )
  .chain((some) =>
    fc
      .tuple(fc.nat(99), fc.nat(99))
      .map(([input_tokens, output_tokens]): JsonObject => ({ input_tokens, output_tokens, ...some }))
  )

interface Whole {
  readonly blocks: ReadonlyArray<JsonObject>
  readonly usage: JsonObject
  readonly stop_reason: string
  readonly cuts: ReadonlyArray<number>
}
const whole: fc.Arbitrary<Whole> = fc.record({
  blocks: fc.array(block, { maxLength: 8 }),
  usage: counts,
  stop_reason: fc.constantFrom("end_turn", "tool_use", "max_tokens", "refusal"),
  cuts: fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 })
})

const hello = chatRequest([user("hi")], { tools: [functionTool("f"), functionTool("a/b")] })
const format = (schema: JsonObject): ChatRequest["response_format"] => ({
  type: "json_schema",
  json_schema: { schema }
})
const requests: fc.Arbitrary<ChatRequest> = fc.constantFrom(
  hello,
  chatRequest([user("hi")], { functions: [{ name: "f" }, { name: "a/b" }] }),
  chatRequest([user("hi")], { ...hello, response_format: format({ type: "object" }) }),
  chatRequest([user("hi")], { ...hello, response_format: format({ type: "array" }) })
)

const details = { explanation: "no" }
const unaryOf = ({ blocks, usage, stop_reason }: Whole): JsonObject =>
  message(blocks, { stop_reason, stop_details: details, usage })

/** The same answer in many events: texts, thoughts and arguments cut anywhere, usage growing. */
const eventsOf = ({ blocks, usage, stop_reason, cuts }: Whole): ReadonlyArray<JsonObject> => {
  let next = 0
  const cut = (below: number): number => (cuts[next++ % cuts.length] ?? 0) % below
  const pieces = (words: string): ReadonlyArray<string> => {
    const at = words.length < 2 ? 0 : cut(words.length)
    return words.slice(0, at).isWellFormed() ? [words.slice(0, at), words.slice(at)] : [words]
  }
  const inner = blocks.flatMap((one, index): ReadonlyArray<JsonObject> => {
    if (cut(3) === 0) return [start(index, one), stop(index)]
    const { type, text: words, thinking, citations, input: args } = one
    if (type === "text") {
      return [
        start(index, text("")),
        ...(Array.isArray(citations) ? citations : []).map((citation) =>
          grow(index, { type: "citations_delta", citation })
        ),
        ...pieces(String(words)).map((piece) => grow(index, { type: "text_delta", text: piece })),
        stop(index)
      ]
    }
    if (type === "thinking") {
      return [
        start(index, { type, thinking: "", signature: "" }),
        ...pieces(String(thinking)).map((piece) => grow(index, { type: "thinking_delta", thinking: piece })),
        grow(index, { type: "signature_delta", signature: one["signature"] }),
        stop(index)
      ]
    }
    if (args === undefined) return [start(index, one), stop(index)]
    const json = Object.keys(args as JsonObject).length === 0 ? "" : JSON.stringify(args)
    return [
      start(index, { ...one, input: {} }),
      ...pieces(json).map((partial_json) => grow(index, { type: "input_json_delta", partial_json })),
      stop(index)
    ]
  })
  const { input_tokens, ...later } = usage
  return [
    {
      type: "message_start",
      message: { model: "claude-sonnet-4-5-20250929", usage: { input_tokens, output_tokens: 0 } }
    },
    ...inner,
    { type: "message_delta", delta: { stop_reason, stop_details: details }, usage: later },
    { type: "message_stop" }
  ]
}

const context = claudeContext()

describe("random answers of Claude", () => {
  it("a stream fold equals the unary answer for any cutting into events (L1 to L5, L8, L11, L22, L23)", () => {
    fc.assert(
      fc.property(whole, requests, (given, request) => {
        const full = answer(unaryOf(given), context, request)
        const stream = chunks(eventsOf(given), context, request)
        expect(joined(stream)).toEqual(full)
        soundStream(stream)
        soundUsage(full.usage)
        const strict = strictlyCompletion(full)
        valid("strict.CreateChatCompletionResponse", strict)
        expect(strictlyCompletion(strict)).toEqual(strict)
        for (const chunk of stream.map(strictlyChunk))
          if (chunk !== undefined) valid("strict.CreateChatCompletionStreamResponse", chunk)
      }),
      { numRuns: runs(400) }
    )
  })
  it("the answer contains every text, thought and call exactly once (L13)", () => {
    fc.assert(
      fc.property(whole, ({ blocks, ...rest }) => {
        const said = answer(unaryOf({ blocks, ...rest }), context, hello).choices[0]?.message
        const of = (type: string, field: string) =>
          blocks.filter((one) => one["type"] === type).map((one) => one[field])
        expect(said?.content ?? "").toBe(of("text", "text").join(""))
        expect(said?.reasoning_content ?? "").toBe(of("thinking", "thinking").join(""))
        expect((said?.tool_calls ?? []).map((one) => JSON.parse(one.function.arguments))).toEqual(
          of("tool_use", "input")
        )
        expect((said?.tool_calls ?? []).map((one) => one.function.name)).toEqual(
          of("tool_use", "name").map((name) => (name === "a_b_3a8e75c1" ? "a/b" : name))
        )
      })
    )
  })
  it("any split of the bytes gives the same chunks, on every run (L6, L9)", () => {
    fc.assert(
      fc.property(
        whole,
        requests,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(5_000), { maxLength: 8 }),
        (given, request, end, cuts) => {
          const bytes = bytesOf(sse(eventsOf(given), end))
          const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
          const pieces = places.slice(1).map((to, at) => bytes.slice(places[at], to))
          expect(runBytes(context, request, pieces)).toEqual(chunks(eventsOf(given), context, request))
        }
      ),
      { numRuns: runs(200) }
    )
  })
  it("a truncated stream gives a prefix of the chunks, then one failure (L7)", () => {
    fc.assert(
      fc.property(whole, requests, fc.nat(100_000), (given, request, place) => {
        const bytes = bytesOf(sse(eventsOf(given)))
        const cut = runBytes(context, request, [bytes.slice(0, place % bytes.length)])
        const wanted = chunks(eventsOf(given), context, request)
        // The last event counts without its final line end.
        const failed = cut.filter((output) => !isChunk(output))
        expect(failed).toEqual(cut.length === wanted.length && cut.every(isChunk) ? [] : [cut.at(-1)])
        expect(wanted.slice(0, cut.length - failed.length)).toEqual(cut.filter(isChunk))
      }),
      { numRuns: runs(300) }
    )
  })
  it("unknown fields, blocks and events change nothing in strict output (L10)", () => {
    const odd = (event: JsonObject): JsonObject => ({ ...event, brandNew: { a: [1] } })
    const strict = (events: ReadonlyArray<JsonObject>, request: ChatRequest) =>
      chunks(events, context, request)
        .map(strictlyChunk)
        .filter((chunk) => chunk !== undefined)
    fc.assert(
      fc.property(whole, requests, (given, request) => {
        const events = eventsOf(given)
        const strange = given.blocks.length
        const shaken = events.flatMap((event) => [
          ...(event["type"] === "message_delta" ? [start(strange, { type: "hologram", text: 7 }), stop(strange)] : []),
          odd(event),
          { type: "brand_new" }
        ])
        expect(strict(shaken, request)).toEqual(strict(events, request))
        const more = { ...given, blocks: [...given.blocks.map(odd), { type: "hologram", text: 7 }] }
        expect(strictlyCompletion(answer(odd(unaryOf(more)), context, request))).toEqual(
          strictlyCompletion(answer(unaryOf(given), context, request))
        )
      }),
      { numRuns: 100 }
    )
  })
})

const isThought = (one: JsonObject) =>
  one["type"] === "redacted_thinking" || (one["type"] === "thinking" && one["signature"] !== "")

describe("Claude answers as history", () => {
  const run = (full: ChatCompletion, strict: boolean, model: string, known: Readonly<Record<string, string>>) => {
    const said = (strict ? strictlyCompletion(full) : full).choices[0]?.message
    const results = (said?.tool_calls ?? []).map(({ id }) => tool(id, "done"))
    const remembered = Object.fromEntries(
      Object.entries(known).map(([id, signature]) => [id, { issuer: "claude/vertex-ai", signature }])
    )
    const history = [user("hi"), assistant(null, { ...said }), ...results, user("go on")]
    return translated(
      history,
      { thinking: { type: "enabled", budget_tokens: 2_000 }, tools: [functionTool("f"), functionTool("a/b")] },
      claudeContext(model, { known: remembered })
    )
  }
  const signed = (full: ChatCompletion) =>
    Object.fromEntries(
      (full.choices[0]?.message.tool_calls ?? []).flatMap(({ id, function: { thought_signature } }) =>
        thought_signature === undefined ? [] : [[id, thought_signature]]
      )
    )

  it("an answer, full or strict, is accepted for the same target and gives a valid body (L28)", () => {
    fc.assert(
      fc.property(whole, fc.boolean(), fc.constantFrom(...Object.values(models)), (given, strict, model) => {
        const { body } = run(answer(unaryOf(given), context, hello), strict, model, {})
        expect(body.messages.at(-1)?.content.at(-1)).toStrictEqual(text("go on"))
        expect(body.messages.map(({ role }) => role)).toStrictEqual(
          body.messages.map((_, at) => (at % 2 === 0 ? "user" : "assistant"))
        )
      }),
      { numRuns: runs(200) }
    )
  })
  it("signed thoughts return unchanged, through the answer or, if it was strict, through memory (L18)", () => {
    fc.assert(
      fc.property(whole, (given) => {
        const full = answer(unaryOf(given), context, hello)
        const calls = full.choices[0]?.message.tool_calls ?? []
        const thoughts = given.blocks.filter(isThought)
        const back = (strict: boolean, known: Readonly<Record<string, string>>) => {
          const { body } = run(full, strict, models.newest, known)
          return body.messages.flatMap(({ role, content }) => (role === "assistant" ? content.filter(isThought) : []))
        }
        expect(back(false, {})).toEqual(thoughts)
        // Thinking after the last call led to no call, so it is not sent back.
        const last = given.blocks.findLastIndex((one) => one["type"] === "tool_use")
        expect(back(true, signed(full))).toEqual(
          calls.length === 0 ? [] : given.blocks.slice(0, last).filter(isThought)
        )
      }),
      { numRuns: runs(200) }
    )
  })
})

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
const talk = steps.map((some) => {
  let count = 0
  const next = () => `t${++count}.`
  return some.flatMap((step): ChatRequest["messages"] => {
    if (!("calls" in step))
      return [{ role: step.kind, content: Array.from({ length: step.texts }, () => text(next())) }]
    const calls = Array.from({ length: step.calls }, (_, n) => ({
      id: `id${++count}`,
      type: "function",
      function: { name: `f${n % 2}`, arguments: `{"n":${count}}` }
    }))
    const results = [...new Set(step.answered)].flatMap((n) => calls[n] ?? []).map(({ id }) => tool(id, `r-${id}.`))
    return [
      assistant(step.texts === 0 ? null : next(), { tool_calls: calls }),
      ...(step.chatter ? [user(next())] : []),
      ...results
    ]
  })
})
const found = (given: unknown, pattern: RegExp): ReadonlyArray<string> =>
  JSON.stringify(given ?? null).match(pattern) ?? []
const isRising = (marks: ReadonlyArray<string>) => {
  const numbers = marks.map((mark) => Number.parseInt(mark.slice(1)))
  expect(numbers).toStrictEqual(numbers.toSorted((a, b) => a - b))
}

describe("generated conversations for Claude", () => {
  it("each call has its result in the next message, and roles alternate (L15, L16, L17)", () => {
    fc.assert(
      fc.property(talk, (messages) => {
        const body = sent(messages)
        for (const [at, { role, content }] of body.messages.entries()) {
          expect(role).toBe(at % 2 === 0 ? "user" : "assistant")
          expect(content.length).toBeGreaterThan(0)
          const ids = (type: string, key: string, of = content) =>
            of.flatMap((one) => (one["type"] === type ? [one[key]] : []))
          if (role === "assistant")
            expect(ids("tool_result", "tool_use_id", body.messages[at + 1]?.content ?? [])).toStrictEqual(
              ids("tool_use", "id")
            )
          const firstOther = content.findIndex((one) => one["type"] !== "tool_result")
          if (role === "user")
            expect(
              content.findLastIndex((one) => one["type"] === "tool_result") <
                (firstOther < 0 ? content.length : firstOther)
            ).toBe(true)
        }
      })
    )
  })
  it("the body contains every text, call and result once, in conversation order (L13, L14)", () => {
    fc.assert(
      fc.property(talk, (messages) => {
        const { messages: out, system } = sent(messages)
        for (const pattern of [/t\d+\./g, /r-id\d+\./g, /"id":"id\d+"/g]) {
          expect([...found(out, pattern), ...found(system, pattern)].toSorted()).toStrictEqual(
            [...found(messages, pattern)].toSorted()
          )
        }
        isRising(found(system, /t\d+\./g))
        isRising(found(out, /t\d+\./g))
        isRising(found(out, /"id":"id\d+"/g).map((mark) => mark.slice(6)))
      })
    )
  })
})
