// Every recorded request of the Responses API and of its unchanged clients, through a whole gateway without a socket.
// It must not judge what a model answers.
import { describe, expect, it } from "vitest"
import { clientRequests } from "../support/clientRequests.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"
import { loudlySkipped, recordings, sharedDir } from "../support/shared.ts"

const gatewayWith = gatewaysOver()
const said = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
}
const stream = { status: 200, chunks: [`data: ${JSON.stringify(said)}\n\n`] }
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Sends a body as it is, but for a model of this gateway; a failure's status, code and place, else how it ended. */
const send = async (path: string, body: Record<string, unknown>): Promise<ReadonlyArray<unknown>> => {
  const gateway = gatewayWith(({ url }) =>
    url.includes("countTokens") ? replying({ totalTokens: 3 }) : url.includes("stream") ? stream : replying(said)
  )
  const answer = await gateway.post(path, { ...body, model: "@google/gemini-3-flash-preview" })
  const text = await answer.text()
  if (answer.status !== 200) {
    const { error } = JSON.parse(text)
    return [answer.status, error.code, error.param]
  }
  return [200, text.includes('"status":"completed"') || text.includes('"response.input_tokens"')]
}

if (sharedDir() === undefined) loudlySkipped("recorded requests of the Responses API through the gateway")

describe.runIf(sharedDir() !== undefined)("recorded requests through the gateway", () => {
  it("responses: are served, or refused by name (R301 R801)", async () => {
    const refused: Array<ReadonlyArray<unknown>> = []
    for (const { id, request } of recordings("openai-responses")) {
      if (!isObject(request.body)) continue
      const path = request.url.endsWith("/input_tokens") ? "/v1/responses/input_tokens" : "/v1/responses"
      const outcome = await send(path, request.body)
      if (outcome[0] !== 200 || outcome[1] !== true) refused.push([id, ...outcome])
    }
    const unknown = [400, "previous_response_not_found", "previous_response_id"]
    expect(refused).toEqual([
      ["openai-responses/background-mode-vcr", 400, "unsupported_parameter", "background"],
      ["openai-responses/image-generation-jpeg", 400, "invalid_value", "tool_choice"],
      ["openai-responses/model-file-search-tool-stream-4", 400, "unsupported_tool", "tools[0].type"],
      // The responses they continue were made elsewhere.
      ["openai-responses/openai-previous-response-id-auto-mode", ...unknown],
      ["openai-responses/openai-previous-response-id-seed-auto-chains-through-retries-2", ...unknown]
    ])
  })

  it("responses: of unchanged clients are all served (R801)", async () => {
    const outcomes: Array<ReadonlyArray<unknown>> = []
    for (const { id, request } of clientRequests()) {
      if (!request.path.startsWith("/v1/responses") || !isObject(request.body)) continue
      outcomes.push([id, ...(await send(request.path, request.body))])
    }
    expect(outcomes).toHaveLength(11)
    expect(outcomes.filter(([, status, isWhole]) => status !== 200 || isWhole !== true)).toEqual([])
  })
})
