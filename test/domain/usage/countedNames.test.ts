// Tests the names under which sums count a request: programs by their user-agent, and the bound of what clients choose.
// Must not depend on a store.
import { expect, it } from "vitest"
import { clientName, makeCountedNames, type RequestRow } from "../../../src/domain/RequestRow.ts"
import { rowOf } from "../../support/requestRows.ts"

it.each([
  ["OpenAI/Python 1.40.0", "OpenAI/Python"],
  ["claude-cli/1.0.0 (external, cli)", "claude-cli"],
  ["GeminiCLI/v0.1.5/gemini-2.5-pro (linux; x64)", "GeminiCLI"],
  ["google-genai-sdk/1.24.0 gl-node/v22", "google-genai-sdk"],
  ["node", "node"],
  ["", undefined],
  [" spaced", undefined],
  ["\u00e9t\u00e9/1", undefined],
  ["x".repeat(65), undefined]
])("usage by client: the program of the user-agent %j is %j", (userAgent, name) => {
  expect(clientName(userAgent)).toBe(name)
})

const day = 24 * 3_600_000
const row = (endedMillis: number, keyId: string, client?: string, metadata?: Record<string, string>): RequestRow =>
  rowOf({
    endedMillis,
    requestId: "r",
    traceId: "t",
    route: "/v1/chat/completions",
    status: 200,
    provider: undefined,
    model: undefined,
    target: undefined,
    attempts: [],
    stream: false,
    cache: undefined,
    durationMillis: 1,
    ttftMillis: undefined,
    overheadMillis: 0,
    usage: undefined,
    costMicros: undefined,
    keyId,
    client,
    metadata,
    errorCode: undefined
  })

it("usage by client: a key counts so many pairs of client and metadata in a day, and the rest as other", () => {
  const names = makeCountedNames(2)
  const count = (...given: Parameters<typeof row>) => names(row(...given), "m")
  const other = { model: "m", client: "other" }
  expect([
    count(0, "a", "curl"),
    count(1, "a", "curl", { team: "red" }),
    count(2, "a", "node", { team: "red" }),
    count(3, "a", "node"),
    count(4, "a", "curl"),
    count(5, "b", "node", { team: "red" }),
    count(day, "a", "node")
  ]).toEqual([
    { model: "m", client: "curl", metadata: "{}" },
    { model: "m", client: "curl", metadata: '{"team":"red"}' },
    { ...other, metadata: '{"team":"other"}' },
    { ...other, metadata: "{}" },
    { model: "m", client: "curl", metadata: "{}" },
    { model: "m", client: "node", metadata: '{"team":"red"}' },
    { model: "m", client: "node", metadata: "{}" }
  ])
})
