// Where calls of Claude go: tokens are counted in the location of the account, and a repeated call stays there.
import { afterAll, beforeAll, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ limits: { retries: 2 } })
})
afterAll(() => gateway.close())

const ask = async (path: string, region: string) => {
  const before = gateway.simulator.calls.length
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-api-key": gatewayKey,
      authorization: "Bearer ya29.own",
      "x-gateway-vertex-region": region,
      "x-gateway-vertex-project-id": "test-project"
    },
    body: JSON.stringify({
      model: "@vertex-ai/anthropic.claude-opus-5-5",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hello" }]
    })
  })
  await response.text()
  const urls = gateway.simulator.calls.slice(before).flatMap(({ url }) => (url.includes("/locations/") ? [url] : []))
  return { status: response.status, urls }
}

const place = (region: string) => `/v1/projects/test-project/locations/${region}/publishers/anthropic/models`

it.each(["eu", "us", "global"])("tokens of Claude are counted in %s (M-801)", async (region) => {
  for (const path of ["/v1/messages/count_tokens", "/v1/chat/completions/count_tokens"]) {
    expect((await ask(path, region)).urls).toEqual([`${place(region)}/count-tokens:rawPredict`])
  }
})

it("a call that is repeated stays in eu (M-801)", async () => {
  gateway.simulator.script([
    { status: 503, body: {} },
    { status: 503, body: {} }
  ])
  const path = `${place("eu")}/claude-opus-5-5:rawPredict`
  expect((await ask("/v1/messages", "eu")).urls).toEqual([path, path, path])
})
