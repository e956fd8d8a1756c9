// Tests token counting with Claude: T1701, T1706, T1708, table 13.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { countToClaude } from "../../../src/translate/chat-to-claude/ChatToClaude.ts"
import { strictlyTokenCount } from "../../../src/translate/shared/reply/clientForm.ts"
import { chatRequest } from "../../support/chat.ts"
import {
  asked,
  call,
  calling,
  claudeContext,
  functionTool,
  models,
  type Rest,
  system,
  text,
  tool,
  user
} from "../../support/claude.ts"
import { loudlySkipped, sharedDir } from "../../support/shared.ts"
import { drive, schemaErrors } from "../../support/unary.ts"

if (sharedDir() === undefined) loudlySkipped("bodies of Claude's token counting against the published schema")

const pair = drive(countToClaude)
const sent = (rest: Rest, model = models.budgetOne, messages = [system("S"), user("hi")]) => {
  const out = pair.sent(chatRequest(messages, rest), claudeContext(model))
  expect(schemaErrors("anthropic.schema.json", "VertexCountTokensRequest", out.body)).toBe(null)
  return out
}
const counted = {
  anthropic_version: "vertex-2023-10-16",
  messages: [{ role: "user", content: [text("hi")] }],
  system: [text("S")]
}

describe("Claude token count requests", () => {
  it("a count request has the chat body without fields that only shape the answer (T1701, T1708)", () => {
    const rest: Rest = {
      stream: true,
      stream_options: {},
      n: 2,
      max_tokens: 5,
      temperature: 0.5,
      stop: "x",
      user: "u",
      seed: 7,
      tools: [functionTool("f")],
      tool_choice: "auto",
      reasoning_effort: "low"
    }
    expect(sent(rest, models.both)).toStrictEqual({
      body: {
        ...counted,
        model: models.both,
        tools: [{ name: "f", input_schema: { type: "object", properties: { a: {} } } }],
        tool_choice: { type: "auto" },
        thinking: { type: "adaptive" }
      },
      ignored: ["temperature", "seed"]
    })
    expect(sent({}, models.budgetOne, [user("hi")]).body).toStrictEqual({
      anthropic_version: "vertex-2023-10-16",
      model: models.budgetOne,
      messages: counted.messages
    })
  })
  it("a count request contains the calls of the history as chat sends them", () => {
    const messages = [user("q"), calling(call("1")), tool("1", "r")]
    const { tools, tool_choice } = sent({}, models.budgetOne, messages).body
    expect([tools, tool_choice]).toStrictEqual([[{ name: "f", input_schema: { type: "object" } }], { type: "none" }])
  })
  it.each([
    ["claude-haiku-4-5@20251001", "claude-haiku-4-5@20251001"],
    ["claude-opus-4-8@default", "claude-opus-4-8"],
    ["claude-opus-4-8@latest", "claude-opus-4-8"],
    ["claude-3-5-haiku-latest", "claude-3-5-haiku"],
    ["claude-opus-4-8", "claude-opus-4-8"]
  ])("the count body names the model %s as %s (table 13)", (model, stands) => {
    expect(sent({}, model).body.model).toBe(stands)
  })
  it("a count request carries the flags of the beta header (T1832)", () => {
    const out = Result.getOrThrow(
      countToClaude.request(
        chatRequest([user("hi")], { anthropic_beta: "b-2" }),
        claudeContext(models.budgetOne, { betas: ["a-1"] })
      )
    )
    expect(out.headers).toStrictEqual({ "anthropic-beta": "a-1,b-2" })
    expect(out.headers).toStrictEqual(
      asked({ anthropic_beta: "b-2" }, claudeContext(models.budgetOne, { betas: ["a-1"] })).headers
    )
  })
})

describe("Claude token count answers", () => {
  const request = chatRequest([user("hi")])
  it("a count answer gives the total (T1701)", () => {
    const full = pair.answer({ input_tokens: 14, more: 1 }, claudeContext(), request)
    expect(full).toStrictEqual({
      object: "token_count",
      model: models.budgetOne,
      input_tokens: 14,
      provider: "vertex-ai"
    })
    expect(strictlyTokenCount(full)).toStrictEqual({ object: "token_count", model: models.budgetOne, input_tokens: 14 })
  })
  it("a count answer without a total fails (T2312)", () => {
    for (const bad of [{}, { input_tokens: null }, { input_tokens: "7" }]) {
      expect(pair.reason(bad, claudeContext(), request)).toStrictEqual({
        _tag: "BadReply",
        kind: "no_content",
        message: "The upstream answered without a count of tokens. Try again."
      })
    }
  })
})
