// Requests to models that are shut down, on every route: a 404 with day and successor, asked of the upstream once.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { day: "2026-11-22", anyLocation: false } })
})
afterAll(() => gateway.close())

const flash = "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash."
const haiku = "claude-3-haiku@20240307 is shut down since 2026-04-20; its successor is claude-haiku-4-5@20251001."
const messages = [{ role: "user", content: "Hello" }]
const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
const ofClaude = { max_tokens: 5, messages }
const vertex = "/v1/projects/p/locations/global/publishers"

const asks: ReadonlyArray<readonly [path: string, body: object, end: string]> = [
  ["/v1/chat/completions", { model: "@google/gemini-2.0-flash", messages }, flash],
  ["/v1/chat/completions", { model: "@vertex-ai/gemini-2.0-flash", messages, stream: true }, flash],
  ["/v1/chat/completions/count_tokens", { model: "@google/gemini-2.0-flash", messages }, flash],
  ["/v1/responses", { model: "@google/gemini-2.0-flash", input: "Hello" }, flash],
  ["/v1/responses", { model: "@google/gemini-2.0-flash", input: "Hello", stream: true }, flash],
  ["/v1/messages", { model: "@vertex-ai/claude-3-haiku-20240307", ...ofClaude }, haiku],
  ["/v1/messages", { model: "@vertex-ai/claude-3-haiku-20240307", ...ofClaude, stream: true }, haiku],
  ["/v1beta/models/@google/gemini-2.0-flash:generateContent", { contents }, flash],
  ["/v1beta/models/@google/gemini-2.0-flash:streamGenerateContent?alt=sse", { contents }, flash],
  ["/v1beta/models/@vertex-ai/gemini-2.0-flash:generateContent", { contents }, flash],
  ["/v1beta/models/@google/gemini-2.0-flash:countTokens", { contents }, flash],
  [`${vertex}/google/models/gemini-2.0-flash:generateContent`, { contents }, flash],
  [`${vertex}/anthropic/models/claude-3-haiku@20240307:rawPredict`, ofClaude, haiku],
  [
    "/v1/embeddings",
    { model: "@google/text-embedding-004", input: "Hello" },
    "text-embedding-004 is shut down since 2026-01-14; its successor is gemini-embedding-2."
  ],
  [
    "/v1/images/generations",
    { model: "@google/imagen-4.0-generate-001", prompt: "A cat" },
    "imagen-4.0-generate-001 is shut down since 2026-08-17; its successor is gemini-3.1-flash-image."
  ]
]

describe("models that are shut down", () => {
  it.each(asks)("shut-down model: %s %j is a 404 with the day and the successor (M-723)", async (path, body, end) => {
    const before = gateway.simulator.calls.length
    const answer = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body: JSON.stringify(body)
    })
    const { error } = await answer.json()
    const asked = gateway.simulator.calls.slice(before).filter(({ url }) => !url.endsWith("/token"))
    expect([answer.status, error.message.slice(-end.length), asked.length]).toEqual([404, end, 1])
  })
})
