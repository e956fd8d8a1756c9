// The stream of an answer against the published schema, the laws of events, and the unary answer of the same chat.
// It must not know any provider.
import * as FastCheck from "fast-check"
import * as Schema from "effect/Schema"
import type { ValidateFunction } from "ajv/dist/2020.js"
import { describe, expect, it } from "vitest"
import { type JsonObject, jsonObjectOf } from "../../../src/domain/text/json.ts"
import { responseFromChat, stampResponse } from "../../../src/translate/responses-to-chat/response.ts"
import { inputItems, keptContent, readKept, turnOf } from "../../../src/translate/responses-to-chat/kept.ts"
import { joinDeltas } from "../../../src/translate/shared/reply/completion.ts"
import type { ChatMessage } from "../../../src/wire/openai/Chat.ts"
import type {
  ChatChunk,
  ChatCompletion,
  Delta,
  FinishReason,
  ReplyMessage
} from "../../../src/wire/openai/ChatReply.ts"
import { ResponsesEvent } from "../../../src/wire/openai/Responses.ts"
import { runs } from "../../support/release.ts"
import { answerFacts, eventsOf, responseId, translation } from "../../support/responses.ts"
import { schemaOracle } from "../../support/shared.ts"

const chunk = (delta: Delta, finish: FinishReason | null = null, beside: object = {}): ChatChunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gemini-2.5-flash",
  choices: [{ index: 0, delta, finish_reason: finish, ...beside }]
})

const usage = {
  prompt_tokens: 7,
  completion_tokens: 5,
  total_tokens: 12,
  completion_tokens_details: { reasoning_tokens: 2 }
}
const usageChunk: ChatChunk = { ...chunk({}), choices: [], usage }

/** One piece of an answer; blocks are numbered as they come. */
type Said =
  | {
      readonly kind: "thinking" | "text"
      readonly pieces: ReadonlyArray<string>
      readonly signature: string | undefined
    }
  | { readonly kind: "redacted" }
  | { readonly kind: "calls"; readonly names: ReadonlyArray<string>; readonly pieces: ReadonlyArray<string> }
  | { readonly kind: "image" }
  | { readonly kind: "code" }

const pieces = FastCheck.array(FastCheck.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 })
const signature = FastCheck.option(FastCheck.constantFrom("c2ln", "bmF0"), { nil: undefined })
const said = FastCheck.oneof<FastCheck.Arbitrary<Said>[]>(
  FastCheck.record({ kind: FastCheck.constantFrom("thinking" as const, "text" as const), pieces, signature }),
  FastCheck.record({
    kind: FastCheck.constant("calls" as const),
    names: FastCheck.array(FastCheck.constantFrom("plain", "write", "ns__close"), { minLength: 1, maxLength: 3 }),
    pieces
  }),
  FastCheck.constantFrom<Said>({ kind: "redacted" }, { kind: "image" }, { kind: "code" })
)

/** The deltas of a stream with these pieces one after the other. */
const deltasOf = (script: ReadonlyArray<Said>): ReadonlyArray<Delta> => {
  const deltas: Array<Delta> = []
  let block = 0
  let calls = 0
  const own = (part: JsonObject): Delta => ({
    content_blocks: [{ index: block++, delta: { provider_part: { provider: "google", part } } }]
  })
  for (const one of script) {
    if (one.kind === "thinking" || one.kind === "text") {
      const index = block++
      for (const text of one.pieces)
        deltas.push(
          one.kind === "thinking"
            ? { reasoning_content: text, content_blocks: [{ index, delta: { thinking: text } }] }
            : { content: text, content_blocks: [{ index, delta: { text } }] }
        )
      if (one.signature !== undefined) deltas.push({ content_blocks: [{ index, delta: { signature: one.signature } }] })
    } else if (one.kind === "redacted") {
      deltas.push({ content_blocks: [{ index: block++, delta: { data: "cmVk" } }] })
    } else if (one.kind === "image") {
      deltas.push({ content_parts: [{ type: "image", image: { b64_json: "aW1n", mime_type: "image/png" } }] })
    } else if (one.kind === "code") {
      deltas.push(
        own({ executableCode: { code: "1" } }),
        own({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } })
      )
    } else if (one.kind === "calls") {
      const from = calls
      for (const name of one.names)
        deltas.push({
          tool_calls: [{ index: calls, id: `call-${calls++}`, type: "function", function: { name, arguments: "" } }]
        })
      for (const text of one.pieces)
        for (let index = from; index < calls; index++)
          deltas.push({ tool_calls: [{ index, function: { arguments: text } }] })
    }
  }
  return deltas
}

const body: JsonObject = {
  tools: [
    { type: "function", name: "plain", parameters: null, strict: null },
    { type: "custom", name: "write" },
    { type: "namespace", name: "ns", tools: [{ type: "function", name: "close" }] },
    { type: "code_interpreter", container: { type: "auto" } }
  ]
}

const bodies = FastCheck.record({
  reasoning: FastCheck.constantFrom(null, { summary: "auto" }),
  include: FastCheck.constantFrom([], ["reasoning.encrypted_content", "code_interpreter_call.outputs"]),
  store: FastCheck.boolean()
})
const finishes = FastCheck.constantFrom<FinishReason>("stop", "length", "content_filter")
const grounding = {
  groundingMetadata: { webSearchQueries: ["a", "b"], groundingChunks: [{ web: { uri: "https://a.example/" } }] }
}
const annotations: Pick<ReplyMessage, "annotations"> = {
  annotations: [
    { type: "url_citation", url_citation: { start_index: 0, end_index: 1, url: "https://a.example/", title: "A" } }
  ]
}

const streamOf = (deltas: ReadonlyArray<Delta>, finish: FinishReason): ReadonlyArray<ChatChunk> => [
  chunk({ role: "assistant", content: "" }),
  ...deltas.map((delta) => chunk(delta)),
  chunk(annotations, finish, grounding),
  usageChunk
]

const completionOf = (deltas: ReadonlyArray<Delta>, finish: FinishReason): ChatCompletion => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gemini-2.5-flash",
  choices: [
    {
      index: 0,
      message: { ...joinDeltas(deltas, undefined, true), ...annotations },
      logprobs: null,
      finish_reason: finish,
      ...grounding
    }
  ],
  usage
})

const isEvent = Schema.is(ResponsesEvent)
const oracles = new Map<string, ValidateFunction | undefined>()
/** The faults of an event by the strict copy of the published schema; tools are repeated as they were sent. */
const faultOf = (event: ResponsesEvent): unknown => {
  const entry = eventEntries[event.type]
  const check = oracles.get(entry) ?? schemaOracle("openai-responses.schema.json", `strict.${entry}`)
  oracles.set(entry, check)
  const shown = "response" in event ? { ...event, response: { ...event.response, tools: [] } } : event
  return check === undefined || check(shown) ? undefined : [event.type, check.errors, shown]
}

const eventEntries: Readonly<Record<ResponsesEvent["type"], string>> = {
  "response.created": "ResponseCreatedEvent",
  "response.in_progress": "ResponseInProgressEvent",
  "response.completed": "ResponseCompletedEvent",
  "response.incomplete": "ResponseIncompleteEvent",
  "response.failed": "ResponseFailedEvent",
  "response.output_item.added": "ResponseOutputItemAddedEvent",
  "response.output_item.done": "ResponseOutputItemDoneEvent",
  "response.content_part.added": "ResponseContentPartAddedEvent",
  "response.content_part.done": "ResponseContentPartDoneEvent",
  "response.output_text.delta": "ResponseTextDeltaEvent",
  "response.output_text.done": "ResponseTextDoneEvent",
  "response.output_text.annotation.added": "ResponseOutputTextAnnotationAddedEvent",
  "response.refusal.delta": "ResponseRefusalDeltaEvent",
  "response.refusal.done": "ResponseRefusalDoneEvent",
  "response.reasoning_summary_part.added": "ResponseReasoningSummaryPartAddedEvent",
  "response.reasoning_summary_part.done": "ResponseReasoningSummaryPartDoneEvent",
  "response.reasoning_summary_text.delta": "ResponseReasoningSummaryTextDeltaEvent",
  "response.reasoning_summary_text.done": "ResponseReasoningSummaryTextDoneEvent",
  "response.function_call_arguments.delta": "ResponseFunctionCallArgumentsDeltaEvent",
  "response.function_call_arguments.done": "ResponseFunctionCallArgumentsDoneEvent",
  "response.custom_tool_call_input.delta": "ResponseCustomToolCallInputDeltaEvent",
  "response.custom_tool_call_input.done": "ResponseCustomToolCallInputDoneEvent",
  "response.web_search_call.in_progress": "ResponseWebSearchCallInProgressEvent",
  "response.web_search_call.searching": "ResponseWebSearchCallSearchingEvent",
  "response.web_search_call.completed": "ResponseWebSearchCallCompletedEvent",
  "response.code_interpreter_call.in_progress": "ResponseCodeInterpreterCallInProgressEvent",
  "response.code_interpreter_call.interpreting": "ResponseCodeInterpreterCallInterpretingEvent",
  "response.code_interpreter_call.completed": "ResponseCodeInterpreterCallCompletedEvent",
  "response.code_interpreter_call_code.delta": "ResponseCodeInterpreterCallCodeDeltaEvent",
  "response.code_interpreter_call_code.done": "ResponseCodeInterpreterCallCodeDoneEvent",
  "response.image_generation_call.in_progress": "ResponseImageGenCallInProgressEvent",
  "response.image_generation_call.generating": "ResponseImageGenCallGeneratingEvent",
  "response.image_generation_call.completed": "ResponseImageGenCallCompletedEvent",
  error: "ResponseErrorEvent"
}

/** Every item is announced once and done once, in its place, with the text of its deltas. */
const lawsBroken = (events: ReadonlyArray<ResponsesEvent>): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const open = new Map<number, string>()
  const deltas = new Map<string, string>()
  let announced = 0
  for (const [at, event] of events.entries()) {
    if (event.sequence_number !== at) broken.push(`${event.type} has number ${event.sequence_number}, not ${at}`)
    if (event.type === "response.output_item.added") {
      if (event.output_index !== announced++) broken.push(`item ${event.output_index} is announced out of order`)
      open.set(event.output_index, event.item.id)
    } else if (event.type === "response.output_item.done") {
      if (open.get(event.output_index) !== event.item.id) broken.push(`item ${event.output_index} was not open`)
      open.delete(event.output_index)
      const { item } = event
      if (item.type === "function_call" && (deltas.get(item.id) ?? "") !== item.arguments)
        broken.push(`the arguments of ${item.id} are not those of its deltas`)
    } else if ("item_id" in event) {
      if (open.get(event.output_index) !== event.item_id) broken.push(`${event.type} belongs to no open item`)
      if ("delta" in event) deltas.set(event.item_id, (deltas.get(event.item_id) ?? "") + event.delta)
    }
  }
  return open.size === 0 ? broken : [...broken, "an item was not closed"]
}

describe("an answer as a stream", () => {
  it("ends in the response that a unary answer is, and every event keeps the laws (R501 R502 R503 R506 R803)", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(said, { maxLength: 5 }), finishes, bodies, (script, finish, asked) => {
        const deltas = deltasOf(script)
        const facts = answerFacts({ ...body, ...asked })
        const events = eventsOf(streamOf(deltas, finish), facts)
        expect(lawsBroken(events)).toEqual([])
        expect(events.filter((event) => !isEvent(event))).toEqual([])
        expect(events.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
        const unary = stampResponse(responseFromChat(completionOf(deltas, finish), facts), {
          seconds: 1_700_000_009,
          isKept: facts.plan.keep
        })
        const last = events.at(-1)
        expect(last !== undefined && "response" in last ? last.response : undefined).toEqual(unary)
      }),
      { numRuns: runs(200) }
    )
  })

  it("cut at any chunk fails in both forms, or is whole when its finish was seen (R513 R803)", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(said, { maxLength: 3 }), (script) => {
        const chunks = streamOf(deltasOf(script), "stop")
        for (let cut = 1; cut <= chunks.length; cut++) {
          const events = eventsOf(chunks.slice(0, cut), answerFacts(body))
          const ends = events.slice(-2).map(({ type }) => type)
          if (cut >= chunks.length - 1) expect(ends.at(-1)).toBe("response.completed")
          else expect(ends).toEqual(["error", "response.failed"])
          expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, at) => at))
          expect(events.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
        }
      }),
      { numRuns: 50 }
    )
  })

  /** A listed text is one part. */
  const withPlainText = (message: ChatMessage): ChatMessage => {
    const { content } = message
    const [part] = Array.isArray(content) && content.length === 1 ? content : []
    return message.role === "user" && typeof part?.text === "string" ? { ...message, content: part.text } : message
  }

  it("kept or sent back whole is the same chat (R803)", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(said, { maxLength: 5 }), finishes, (script, finish) => {
        const asked = { ...body, include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" } }
        const input = [{ role: "user", content: "go" }]
        const { plan } = translation({ ...asked, input })
        const answer = responseFromChat(completionOf(deltasOf(script), finish), answerFacts({}, { plan }))
        const response = stampResponse(answer, { seconds: 1_700_000_009, isKept: true })
        const kept = readKept(keptContent(response, answer, plan))
        if (kept === undefined) throw new Error("what was kept cannot be read")
        const output: ReadonlyArray<JsonObject> = JSON.parse(JSON.stringify(response.output))
        const results = output.flatMap(({ call_id: id, type }): ReadonlyArray<JsonObject> =>
          type === "function_call" || type === "custom_tool_call"
            ? [{ type: `${type}_output`, call_id: id ?? "", output: "done" }]
            : []
        )
        const more = [...results, { role: "user", content: "more" }]
        const listed = inputItems(kept, { limit: 100, order: "asc", after: undefined }).data
        const sent = [...listed.map(jsonObjectOf), ...output, ...more]
        const whole = translation({ ...asked, store: false, input: sent })
        const chained = translation(
          { ...asked, previous_response_id: responseId, input: more },
          { id: `resp_${"f".repeat(32)}`, history: [turnOf(kept)] }
        )
        expect(chained.chat).toEqual({ ...whole.chat, messages: whole.chat.messages.map(withPlainText) })
        const searches = sent.flatMap(({ type }, at) => (type === "web_search_call" ? [`input[${at}]`] : []))
        expect(whole.ignored).toEqual(searches)
      }),
      { numRuns: runs(200) }
    )
  })
})
