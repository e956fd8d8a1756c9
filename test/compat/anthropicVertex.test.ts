// @anthropic-ai/vertex-sdk over real sockets against the simulator: rawPredict, its stream and its count.
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

type Auth = NonNullable<NonNullable<ConstructorParameters<typeof AnthropicVertex>[0]>["authClient"]>

/** Google's own token is asked of a client of the application; the gateway key takes its place. */
const authClient = {
  getRequestHeaders: () => Promise.resolve(new Headers({ authorization: `Bearer ${gatewayKey}` }))
} as Auth

const client = () =>
  new AnthropicVertex({
    baseURL: `${gateway.url}/v1`,
    projectId: "any-project",
    region: "global",
    authClient,
    maxRetries: 0
  })

const messages = [{ role: "user" as const, content: "Hello" }]
const hello = {
  type: "text",
  text: "Hello! I am a simulated Claude model, so nothing you write leaves this machine. What would you like to try?"
}

describe("@anthropic-ai/vertex-sdk", () => {
  it.each(["claude-sonnet-4-5@20250929", "@vertex-ai/claude-sonnet-4-5@20250929", "claude-haiku-4-5-20251001"])(
    "AnthropicVertex creates, streams and counts with %s (N101, N304, N801, N802)",
    async (model) => {
      const asked = { model, max_tokens: 100, messages }
      const { content } = await client().messages.create(asked)
      const final = await client().messages.stream(asked).finalMessage()
      const beta = await client().beta.messages.create({ ...asked, betas: ["context-1m-2025-08-07"] })
      const { input_tokens: counted } = await client().messages.countTokens({ model, messages })
      expect([content, final.content, beta.content, counted]).toEqual([[hello], [hello], [hello], 8])
    }
  )
  it("AnthropicVertex reads a refusal in Anthropic's shape (N803, N804)", async () => {
    const asked = { max_tokens: 5, messages }
    const refused = client().messages.create({ ...asked, model: "@google/claude-sonnet-4-5" })
    await expect(refused).rejects.toMatchObject({ status: 400, type: "invalid_request_error" })
  })
})
