// Holds the files of a streaming request, as the architecture page lists them, to what runs.
// Must not judge the order of the files.
import { readFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

const root = new URL("../../", import.meta.url)
const page = readFileSync(new URL("docs/internals/architecture.md", root), "utf8")
const table = /<!-- path -->([\s\S]*?)<!-- \/path -->/.exec(page)?.[1] ?? ""
const rows = [...table.matchAll(/^\| \[[^\]]+\]\(\.\.\/\.\.\/([^)]+)\) \| (both|chat|messages) \|/gm)]

/** The files of one kind of request. */
const filesOf = (kind: "chat" | "messages"): ReadonlyArray<string> =>
  rows.flatMap(([, file = "", of]) => (of === "both" || of === kind ? [file] : []))

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

/** The files of `src` with a function that ran while the request was answered. */
const filesThatRun = async (path: string, body: object): Promise<ReadonlySet<string>> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  try {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${gatewayKey}` },
      body: JSON.stringify({ max_tokens: 64, messages: [{ role: "user", content: "Hi" }], stream: true, ...body })
    })
    await answer.text()
    expect(answer.status).toBe(200)
    const { result } = await session.post("Profiler.takePreciseCoverage")
    const ran = result.filter(({ functions }) =>
      functions.some(({ ranges }) => (ranges[0]?.startOffset ?? 0) > 0 && (ranges[0]?.count ?? 0) > 0)
    )
    const folder = fileURLToPath(root)
    return new Set(ran.map(({ url }) => (url.startsWith("file:") ? fileURLToPath(url) : url).replace(folder, "")))
  } finally {
    await session.post("Profiler.stopPreciseCoverage")
    session.disconnect()
  }
}

it("architecture page: lists a file once, and as many as the last count", () => {
  expect(new Set(rows.map(([, file]) => file)).size).toBe(rows.length)
  expect([filesOf("chat").length, filesOf("messages").length]).toEqual([23, 21])
})

it("architecture page: lists files that a streamed chat runs", async () => {
  const ran = await filesThatRun("/v1/chat/completions", { model: "@google/gemini-2.5-flash" })
  expect(filesOf("chat").filter((file) => !ran.has(file))).toEqual([])
})

it("architecture page: lists files that a streamed message runs", async () => {
  const ran = await filesThatRun("/v1/messages", { model: "@vertex-ai/claude-sonnet-4-5" })
  expect(filesOf("messages").filter((file) => !ran.has(file))).toEqual([])
})
