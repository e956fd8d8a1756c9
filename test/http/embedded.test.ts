// Tests the gateway embedded in another program: every layer answers without a socket.
// Must not open a port or reach the network.
import { expect, it } from "vitest"
import { googleAccount } from "../support/account.ts"
import { gatewayOver, replying } from "../support/scripted.ts"
import { overRouter } from "../support/ways.ts"

const inRouter = { accounts: [googleAccount], over: overRouter }
const path = "/v1/chat/completions"
const sse = (...events: ReadonlyArray<unknown>) => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)

it("embedded gateway: answers through every layer without a socket", async () => {
  const { dispose, post, seen } = gatewayOver(
    () =>
      replying({
        candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      }),
    inRouter
  )
  const response = await post(path, {
    model: "gemini-2.5-flash",
    temperature: 0.5,
    messages: [{ role: "user", content: "Hello" }]
  })
  const answer: unknown = await response.json()
  await dispose()
  expect(response.status).toBe(200)
  expect(answer).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
    object: "chat.completion",
    created: expect.any(Number),
    model: "gemini-2.5-flash",
    choices: [
      { index: 0, message: { role: "assistant", content: "Hi", refusal: null }, logprobs: null, finish_reason: "stop" }
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, prompt_tokens_details: { cached_tokens: 0 } }
  })
  expect(seen).toEqual([
    {
      method: "POST",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
      headers: { "content-type": "application/json" },
      body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }], generationConfig: { temperature: 0.5 } }
    }
  ])
})

it("embedded gateway: an error hidden in the first event of a stream is an ordinary error (T1317)", async () => {
  const { dispose, post } = gatewayOver(
    () => ({
      status: 200,
      chunks: sse({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } })
    }),
    inRouter
  )
  const response = await post(path, {
    model: "gemini-2.5-flash",
    stream: true,
    messages: [{ role: "user", content: "Hello" }]
  })
  const answer: unknown = await response.json()
  await dispose()
  expect([response.status, answer]).toEqual([
    503,
    {
      error: { message: "The model is overloaded.", type: "api_error", param: null, code: "upstream_unavailable" }
    }
  ])
})

it("embedded gateway: an error after the first chunk is one frame, and no [DONE] (T1318)", async () => {
  const { dispose, post } = gatewayOver(
    () => ({
      status: 200,
      chunks: sse(
        { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }] },
        { error: { code: 500, message: "Internal failure.", status: "INTERNAL" } }
      )
    }),
    inRouter
  )
  const response = await post(path, {
    model: "gemini-2.5-flash",
    stream: true,
    messages: [{ role: "user", content: "Hello" }]
  })
  const frames = (await response.text()).split("\n\n")
  await dispose()
  expect(response.status).toBe(200)
  expect(frames.slice(2)).toEqual([
    'data: {"error":{"message":"Internal failure.","type":"api_error","param":null,"code":"upstream_error"}}',
    ""
  ])
})
