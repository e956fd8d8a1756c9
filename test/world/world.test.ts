// Runs every report of the world through the whole service.
// Must not depend on a kind of report.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewaysOver, type SeenCall } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { loudlySkipped, sharedDir } from "../support/shared.ts"
import type { Reply, Row } from "./row.ts"
import { rows } from "./rows/rows.ts"

const gatewayOver = gatewaysOver()
const accounts = [
  { ...googleAccount, slug: "d" },
  { ...vertexAccount, slug: "p" }
]

const gemini = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}
const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 }
}
const openAi = {
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "open",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
}

/** "Hi", or as many vectors as were asked for, in the words of the family that the address names. */
const greeting = ({ body, url }: Pick<SeenCall, "url" | "body">): unknown => {
  const asked = typeof body === "object" && body !== null ? body : {}
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 1)
  const vectors = Array.from({ length: "requests" in asked ? count(asked.requests) : 1 }, () => ({ values: [3, 4] }))
  if (url.includes(":batchEmbedContents")) return { embeddings: vectors }
  if (url.includes(":embedContent")) return { embedding: { values: [3, 4] } }
  if (url.includes(":countTokens")) return { totalTokens: 1 }
  if (url.includes(":predict"))
    return {
      predictions: Array.from({ length: "instances" in asked ? count(asked.instances) : 1 }, () => ({
        embeddings: { values: [3, 4], statistics: { token_count: 1, truncated: false } }
      }))
    }
  if (url.includes("/publishers/anthropic/")) return claude
  return url.includes("/endpoints/") ? openAi : gemini
}

/** A body that passes as its own bytes is read as well. */
const written = (body: unknown): unknown =>
  typeof body === "string" || body instanceof Uint8Array ? JSON.parse(Buffer.from(body).toString()) : body

const answering = (upstream: ReadonlyArray<Reply> | undefined): TransportScript => {
  let n = 0
  return (request) => {
    const body = written(request.body)
    const reply = upstream?.[Math.min(n++, upstream.length - 1)] ?? {
      status: 200,
      body: greeting({ ...request, body })
    }
    const chunks = Array.isArray(reply.body) ? reply.body.map(String) : [JSON.stringify(reply.body)]
    return { status: reply.status, chunks, ...(reply.headers === undefined ? {} : { headers: reply.headers }) }
  }
}

const pathOf = (url: string): string => url.slice(new URL(url).origin.length)

/** Ids and times of the gateway's own are replaced. */
const settled = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => {
    if (name === "created" || name === "created_at" || name === "completed_at" || name === "expires_at") return 0
    return typeof value === "string" ? value.replaceAll(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g, "ID") : value
  })
const events = (text: string): ReadonlyArray<unknown> =>
  text
    .split("\n\n")
    .flatMap((event) => event.split("\n").filter((line) => line.startsWith("data: ")))
    .map((line) => (line === "data: [DONE]" ? "[DONE]" : settled(line.slice(6))))

const isStream = (answer: Response) => answer.headers.get("content-type")?.startsWith("text/event-stream") === true

/** What came of a request, in the fields that its row expects. */
const outcome = async (row: Omit<Row, "id" | "kind" | "title">): Promise<unknown> => {
  const { seen, send } = gatewayOver(answering(row.upstream), { accounts })
  const answer = await send(row.path ?? "/v1/chat/completions", {
    method: row.method ?? "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...row.headers },
    ...(row.body === undefined ? {} : { body: JSON.stringify(row.body) })
  })
  const text = await answer.text()
  const { answer: wanted, called, headers = {}, sent, status = 200 } = row.expected
  return {
    status: answer.status,
    // An unexpected answer explains itself.
    ...(answer.status === status ? {} : { text }),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, answer.headers.get(name)])),
    ...(sent === undefined ? {} : { sent: seen.map(({ body }) => written(body)) }),
    ...(called === undefined ? {} : { called: seen.map(({ url }) => pathOf(url)) }),
    ...(wanted === undefined ? {} : { answer: isStream(answer) ? events(text) : settled(text) })
  }
}

it.each(rows.map((row) => [`${row.title} (${row.kind}, ${row.id})`, row] as const))("%s", async (_, row) => {
  expect(await outcome(row)).toStrictEqual({ status: 200, headers: {}, ...row.expected })
})

/** Reports whose subject is no request and answer, or is more than one, by the tests that hold them. */
const elsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  "what a call costs: test/http/costs.test.ts, test/keys": ["RB33", "RB35", "RB36", "RB78", "RB80", "RB81"],
  "imports: test/cli/importServed.test.ts": ["RB39", "RB41"],
  "times of streams: test/faults/gatewayStream.test.ts": ["RB31", "RB52"],
  "credentials: test/auth, test/cli/settings": ["RB26", "RB29", "RB30"],
  "networks: test/upstream, test/cli/process": ["RB28", "RB51", "RB88", "RB91", "RB108", "RB112"],
  "databases: test/store": ["RB82", "RB83", "RB85", "RB87", "RB90"]
}

const reported = (): ReadonlyArray<{ readonly id: string; readonly check?: Omit<Row, "id" | "kind" | "title"> }> => {
  const file = join(sharedDir() ?? "", "reports", "reports.jsonl")
  if (!existsSync(file)) {
    loudlySkipped("the reports next to the checkout")
    return []
  }
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
}

it("every report next to the checkout has a row or a test of its own (W1)", () => {
  const ids = new Set([...rows.map(({ id }) => id), ...Object.values(elsewhere).flat()])
  expect(reported().flatMap(({ check, id }) => (check === undefined && !ids.has(id) ? [id] : []))).toStrictEqual([])
})

it("reports that bring their own check hold (W1)", async () => {
  const checks = reported().flatMap(({ check, id }) => (check === undefined ? [] : [{ id, check }]))
  const outcomes = await Promise.all(checks.map(async ({ check, id }) => [id, await outcome(check)]))
  expect(outcomes).toStrictEqual(checks.map(({ check, id }) => [id, { status: 200, headers: {}, ...check.expected }]))
})
