// Tests requests that come while the memory of the process is full, through the whole service.
// Must not depend on the memory of the process that runs it.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { Memory } from "../../src/http/node/Traffic.ts"
import { accountedGateway } from "../support/accounted.ts"
import { replying } from "../support/scripted.ts"

const reply = replying({
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: "gemini-2.5-flash"
})
const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }

it("memory: while it is full new requests get 503, and operators and running ones are served (F61)", async () => {
  const memory = { full: false }
  let calls = 0
  const gateway = accountedGateway(
    () => {
      calls++
      memory.full = true
      return Effect.succeed(reply)
    },
    {
      references: Layer.succeed(Memory, { isFull: () => memory.full })
    }
  )
  const post = () => gateway.post("/v1/chat/completions", hello)
  expect((await post()).status).toBe(200)
  const refused = await post()
  expect([
    refused.status,
    refused.headers.get("retry-after"),
    refused.headers.get("retry-after-ms"),
    await refused.json()
  ]).toEqual([
    503,
    "1",
    "1000",
    {
      error: {
        message: "The gateway is at its limit of requests; try again shortly.",
        type: "api_error",
        param: null,
        code: "overloaded"
      }
    }
  ])
  expect((await gateway.post("/v1/messages", { ...hello, max_tokens: 1 })).status).toBe(503)
  expect(await gateway.admin("/admin/v1/configs")).toEqual({ object: "list", data: [], next_cursor: null })
  expect((await gateway.send("/health/ready")).status).toBe(200)
  expect(calls).toBe(1)
  memory.full = false
  expect([(await post()).status, calls]).toEqual([200, 2])
  await gateway.dispose()
})
