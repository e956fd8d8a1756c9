// Tool loops of Gemini 3 and of Claude over ten turns through both pairs, with nothing remembered but what the client sends back.
// It must not know the network.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { chatToClaude } from "../../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { responseFromChat, stampResponse } from "../../../src/translate/responses-to-chat/response.ts"
import { keptContent, readKept, turnOf } from "../../../src/translate/responses-to-chat/kept.ts"
import type { StoredTurn } from "../../../src/translate/responses-to-chat/facts.ts"
import { chatContext } from "../../support/chat.ts"
import { answerFacts, translation } from "../../support/responses.ts"

const tools = [{ type: "function", name: "f", parameters: { type: "object", properties: { n: { type: "number" } } } }]
const turns = 10
const hex = (turn: number): string => turn.toString(16).padStart(32, "0")
const base64 = (text: string): string => Buffer.from(text).toString("base64")

const gemini = (turn: number) => ({
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: `thought ${turn}`, thought: true },
          { functionCall: { name: "f", args: { n: turn } }, thoughtSignature: base64(`signature ${turn}`) },
          { functionCall: { name: "f", args: { n: -turn } } }
        ]
      },
      finishReason: "STOP"
    }
  ]
})

const claude = (turn: number) => ({
  content: [
    { type: "thinking", thinking: `thought ${turn}`, signature: `signature ${turn}` },
    { type: "redacted_thinking", data: `redacted ${turn}` },
    { type: "text", text: `text ${turn}` },
    { type: "tool_use", id: `toolu_${turn}`, name: "f", input: { n: turn } }
  ],
  stop_reason: "tool_use"
})

const contextOf = (family: "gemini" | "claude", turn: number) => ({
  ...(family === "gemini"
    ? chatContext("gemini-3-pro-preview")
    : chatContext("claude-sonnet-4-6", { kind: "vertex-ai", family })),
  ordered: true,
  callId: (n: number) => `call-${turn}-${n}`
})

interface Done {
  readonly upstream: unknown
  readonly output: ReadonlyArray<JsonObject>
  readonly kept: StoredTurn
}

/** One turn: the request through both pairs, then the answer of the upstream back. */
const turnWith = (
  family: "gemini" | "claude",
  turn: number,
  body: JsonObject,
  history: ReadonlyArray<StoredTurn>
): Done => {
  const context = contextOf(family, turn)
  const asked = { tools, reasoning: { effort: "low", summary: "auto" }, ...body }
  const { chat, plan } = translation(asked, { id: `resp_${hex(turn)}`, history })
  const upstream =
    family === "gemini"
      ? Result.getOrThrow(chatToGemini.request(chat, context)).body.contents
      : Result.getOrThrow(chatToClaude.request(chat, context)).body.messages
  const completion =
    family === "gemini"
      ? chatToGemini.response(gemini(turn), context, chat)
      : chatToClaude.response(claude(turn), context, chat)
  const facts = answerFacts({}, { id: `resp_${hex(turn)}`, plan, issuer: context.target.issuer })
  const answer = responseFromChat(Result.getOrThrow(completion), facts)
  const response = stampResponse(answer, { seconds: 0, isKept: plan.keep })
  const kept = readKept(keptContent(response, answer, plan))
  if (kept === undefined) throw new Error("what was kept cannot be read")
  return {
    upstream,
    output: JSON.parse(JSON.stringify(response.output)),
    kept: turnOf(kept)
  }
}

const resultsOf = (output: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  output.flatMap(({ call_id: id, type }) =>
    type === "function_call" ? [{ type: "function_call_output", call_id: id ?? "", output: "done" }] : []
  )

/** All turns, with the history sent back whole, or only named. */
const stateless = (
  family: "gemini" | "claude",
  shape: (output: ReadonlyArray<JsonObject>) => ReadonlyArray<JsonObject>
) => {
  const input: Array<JsonObject> = [{ role: "user", content: "go" }]
  let last: unknown
  for (let turn = 1; turn <= turns; turn++) {
    const done = turnWith(family, turn, { input, store: false }, [])
    last = done.upstream
    input.push(...shape(done.output), ...resultsOf(done.output))
  }
  return last
}

const chained = (family: "gemini" | "claude") => {
  let input: ReadonlyArray<JsonObject> = [{ role: "user", content: "go" }]
  const history: Array<StoredTurn> = []
  let last: unknown
  for (let turn = 1; turn <= turns; turn++) {
    const done = turnWith(family, turn, { input, ...(turn === 1 ? {} : { previous_response_id: "resp" }) }, [
      ...history
    ])
    last = done.upstream
    history.push(done.kept)
    input = resultsOf(done.output)
  }
  return last
}

const all = (output: ReadonlyArray<JsonObject>) => output
const withoutIds = (output: ReadonlyArray<JsonObject>) => output.map(({ id: _id, status: _status, ...item }) => item)
/** One client keeps the last reasoning item of a turn only, before everything else. */
const lastReasoning = (output: ReadonlyArray<JsonObject>) => {
  const reasoning = output.findLast(({ type }) => type === "reasoning")
  return [...(reasoning === undefined ? [] : [reasoning]), ...output.filter(({ type }) => type !== "reasoning")]
}

const before = Array.from({ length: turns - 1 }, (_none, at) => at + 1)

const geminiContents = [
  { role: "user", parts: [{ text: "go" }] },
  ...before.flatMap((turn) => [
    {
      role: "model",
      parts: [
        {
          functionCall: { name: "f", args: { n: turn }, id: `call-${turn}-0` },
          thoughtSignature: base64(`signature ${turn}`)
        },
        { functionCall: { name: "f", args: { n: -turn }, id: `call-${turn}-1` } }
      ]
    },
    {
      role: "user",
      parts: [0, 1].map((n) => ({
        functionResponse: { name: "f", response: { output: "done" }, id: `call-${turn}-${n}` }
      }))
    }
  ])
]

const claudeMessages = [
  { role: "user", content: [{ type: "text", text: "go" }] },
  ...before.flatMap((turn) => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: `thought ${turn}`, signature: `signature ${turn}` },
        { type: "redacted_thinking", data: `redacted ${turn}` },
        { type: "text", text: `text ${turn}` },
        { type: "tool_use", id: `call-${turn}-0`, name: "f", input: { n: turn } }
      ]
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `call-${turn}-0`, content: "done" }] }
  ])
]

describe("ten turns of a tool loop", () => {
  it.each([
    ["whole", all],
    ["without ids", withoutIds],
    ["with the last reasoning item of a turn only", lastReasoning]
  ])("on Gemini 3 lose no signature when the client sends items back %s (R407 R408 R409)", (_how, shape) => {
    expect(stateless("gemini", shape)).toEqual(geminiContents)
  })

  it.each([
    ["whole", all],
    ["without ids", withoutIds],
    ["with the last reasoning item of a turn only", lastReasoning]
  ])("on Claude lose no thinking when the client sends items back %s (R407 R408 R409)", (_how, shape) => {
    expect(stateless("claude", shape)).toEqual(claudeMessages)
  })

  it("lose nothing when the client names the response before (R225 R701)", () => {
    expect(chained("gemini")).toEqual(geminiContents)
    expect(chained("claude")).toEqual(claudeMessages)
  })
})
