// What is bent for a Gemini model: the header that names it, and the refusal of requests that want nothing bent.
// It must not know how a body is made.
import { expect, it } from "vitest"
import { gatewaysOver, replying } from "../support/scripted.ts"

const gatewayOver = gatewaysOver()
const path = "/v1/chat/completions"
const model = "@google/gemini-4-neon"
const user = { role: "user", content: "hi" }
const prefilled = [user, { role: "assistant", content: "Once" }]
const reply = replying({ candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] })

it("an answer names what was sent instead of what was asked (M-201, M-210, M-230, M-300)", async () => {
  const { post } = gatewayOver(() => reply)
  const headers = async (words: object) => {
    const answer = await post(path, { model, messages: prefilled, temperature: 1, ...words })
    return [answer.status, ...["adjusted", "ignored"].map((word) => answer.headers.get(`x-gateway-${word}-params`))]
  }
  expect(await headers({ reasoning_effort: "max" })).toStrictEqual([
    200,
    "reasoning_effort=max>xhigh,messages=prefill>continue",
    "temperature"
  ])
  expect(await headers({ thinking: { type: "enabled", budget_tokens: 8000 } })).toStrictEqual([
    200,
    "thinking=budget>medium,messages=prefill>continue",
    "temperature"
  ])
})

it.each<readonly [string, object, object]>([
  [
    "an effort",
    { messages: [user], reasoning_effort: "none" },
    {
      message:
        '"reasoning_effort" is one of low, medium, high, xhigh at this model, and the request asked for refusal of other values.',
      type: "invalid_request_error",
      param: "reasoning_effort",
      code: "unsupported_parameter"
    }
  ],
  [
    "a prefill",
    { messages: prefilled },
    {
      message: "gemini-4-neon takes no assistant prefill.",
      type: "invalid_request_error",
      param: "messages[1]",
      code: "unsupported_value"
    }
  ]
])("a request that wants nothing bent is refused for %s (M-230, M-300)", async (_name, words, error) => {
  const { post, seen } = gatewayOver(() => reply)
  const answer = await post(path, { model, ...words }, { "x-gateway-unsupported-params": "reject" })
  expect([answer.status, await answer.json(), seen]).toStrictEqual([400, { error }, []])
})
