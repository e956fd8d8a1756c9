// Tests createHeaders with the stock SDKs: their own key, their own methods, the gateway's options.
// Must not depend on the gateway's client.
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { afterAll, beforeAll, expect, it } from "vitest"
import { createHeaders } from "../../src/client/Client.ts"
import { geminiKey, gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const messages = [{ role: "user" as const, content: "Hello" }]

it("stock openai SDK: sends provider, metadata and full answers by the headers of the client", async () => {
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: gatewayKey,
    defaultHeaders: createHeaders({ provider: "google", metadata: { team: "Größe" }, strict: false })
  })
  const { data, response } = await client.chat.completions
    .create({ model: "gemini-2.5-flash", messages })
    .withResponse()
  expect([response.headers.get("x-gateway-provider"), "provider" in data ? data.provider : undefined]).toEqual([
    "google",
    "google"
  ])
})

it("stock openai SDK: the provider's credential replaces the SDK's key, which has a header of its own", async () => {
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: "none",
    defaultHeaders: createHeaders({ apiKey: gatewayKey, provider: "google", authorization: geminiKey })
  })
  await client.chat.completions.create({ model: "gemini-2.5-flash", messages })
  expect(gateway.simulator.calls.at(-1)?.headers["x-goog-api-key"]).toBe(geminiKey)
})

it("stock openai SDK: sends a config for one call", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
  const broken = { provider: "google", override_params: { model: "demo-503" } }
  const headers = createHeaders({
    config: { strategy: { mode: "fallback" }, targets: [broken, { provider: "google" }] }
  })
  const { response } = await client.chat.completions
    .create({ model: "gemini-2.5-flash", messages }, { headers })
    .withResponse()
  expect(response.headers.get("x-gateway-last-used-option-index")).toBe("1")
})

it("stock anthropic SDK: sends provider and trace by the headers of the client", async () => {
  const client = new Anthropic({
    baseURL: gateway.url,
    apiKey: gatewayKey,
    defaultHeaders: createHeaders({ provider: "vertex-ai", traceId: "trace-1" })
  })
  const { data, response } = await client.messages
    .create({ model: "anthropic.claude-sonnet-4-6", max_tokens: 64, messages })
    .withResponse()
  expect([data.type, response.headers.get("x-gateway-provider"), response.headers.get("x-gateway-trace-id")]).toEqual([
    "message",
    "vertex-ai",
    "trace-1"
  ])
})
