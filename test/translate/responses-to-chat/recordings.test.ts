// Every recorded conversation with OpenAI's service, and what unchanged clients send: taken, or refused by the rules of the API's page.
// It must not judge what a provider would answer.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { loudlySkipped, recordings, sharedDir } from "../../support/shared.ts"
import { translated } from "../../support/responses.ts"

interface Sent {
  readonly id: string
  readonly body: JsonObject
}

const recorded: ReadonlyArray<Sent> = recordings("openai-responses").flatMap(({ id, request }) =>
  typeof request.body === "object" && request.body !== null ? [{ id, body: request.body as JsonObject }] : []
)

const captured = (): ReadonlyArray<Sent> => {
  const dir = sharedDir()
  if (dir === undefined) return []
  const folder = join(dir, "client-requests")
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const { request } = JSON.parse(readFileSync(join(folder, name), "utf8"))
      return typeof request.body === "object" &&
        request.body !== null &&
        String(request.path).startsWith("/v1/responses")
        ? [{ id: name.slice(0, -".json".length), body: request.body }]
        : []
    })
}

if (sharedDir() === undefined) loudlySkipped("recorded requests of the Responses API")

/** An item that was kept by the turn before. */
const stored = (id: string) => ({ item: { type: "reasoning", id, summary: [] }, carrier: undefined })

describe.runIf(sharedDir() !== undefined)("recorded requests of the Responses API", () => {
  it("become a chat, or are refused by name (R301)", () => {
    const refused = recorded.flatMap(({ body, id }) => {
      const read = translated(body, { stored })
      return Result.isFailure(read) ? [[id, ...read.failure]] : []
    })
    expect(refused).toEqual([
      ["openai-responses/background-mode-vcr", "unsupported_parameter", "background"],
      ["openai-responses/model-file-search-tool-stream-4", "unsupported_tool", "tools[0].type"]
    ])
  })

  it("of unchanged clients all become a chat (R801)", () => {
    const all = captured()
    expect(all).toHaveLength(11)
    const refused = all.flatMap(({ body, id }) => {
      const read = translated(body, { stored })
      return Result.isFailure(read) ? [[id, ...read.failure]] : []
    })
    expect(refused).toEqual([])
  })
})
