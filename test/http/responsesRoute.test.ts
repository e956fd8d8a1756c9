// The route of responses as a whole: its paths, configs and fallbacks, silence, a client that leaves, and what stays of a run.
// It must not know how a response is made.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { PassThrough } from "node:stream"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { describe, expect, it, vi } from "vitest"
import { randomMasterText } from "../../src/store/Encryption.ts"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { adminKey } from "../support/accounted.ts"
import { startCollector } from "../support/collector.ts"
import { fallback, inline } from "../support/config.ts"
import { until } from "../support/eventually.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"
import {
  geminiKey,
  gatewayKey,
  serviceAccount,
  settingsFor,
  startGateway,
  startTestGateway
} from "../support/TestGateway.ts"

const gatewayWith = gatewaysOver()
const model = "@google/gemini-2.5-flash"
const said = (text: string) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
})
const frame = (value: unknown) => `data: ${JSON.stringify(value)}\r\n\r\n`
const busy = {
  status: 503,
  chunks: [JSON.stringify({ error: { code: 503, message: "Not now.", status: "UNAVAILABLE" } })]
}

describe("the route", () => {
  it("responses: has one path, in the spellings of every route (R109)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const statuses = []
    const paths = ["/v1/responses", "/v1/responses?beta=true", "/v1/v1/responses", "/responses", "/openai/v1/responses"]
    for (const path of paths)
      statuses.push((await gateway.post(path, { model, input: "Hi" }, { "openai-beta": "responses=v1" })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200])
  })

  it("responses: a config gives the model and changes the chat's parameters (R104 R302)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const config = {
      provider: "google",
      override_params: { model: "gemini-2.5-pro", max_tokens: 7 },
      drop_params: ["top_p"]
    }
    const answer = await gateway.post("/v1/responses", { input: "Hi", top_p: 0.5 }, inline(config))
    expect([answer.status, gateway.seen.map(({ body, url }) => [url.split("/").at(-1), body])]).toEqual([
      200,
      [
        [
          "gemini-2.5-pro:generateContent",
          { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 7 } }
        ]
      ]
    ])
  })

  it("responses: before the first chunk a stream may fall back, and fails as HTTP (R512)", async () => {
    const streamed = { status: 200, headers: { "content-type": "text/event-stream" }, chunks: [frame(said("Hello"))] }
    const gateway = gatewayWith(({ url }) => (url.includes("generativelanguage") ? busy : streamed))
    const asked = { model: "gemini-2.5-flash", input: "Hi", stream: true }
    const both = inline(fallback({ provider: "google" }, { provider: "vertex-ai" }))
    const answer = await gateway.post("/v1/responses", asked, both)
    expect([answer.status, (await answer.text()).includes("event: response.completed\n")]).toEqual([200, true])
    const alone = await gateway.post("/v1/responses", asked, inline({ provider: "google" }))
    expect([alone.status, alone.headers.get("content-type"), (await alone.json()).error.code]).toEqual([
      503,
      "application/json",
      "upstream_unavailable"
    ])
  })

  it("responses: silence is bridged by comments, and a client that leaves leaves nothing kept (R516 R517)", async () => {
    const gateway = await startTestGateway({ limits: { pingMillis: 20 } })
    const begun = frame({ candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] }, index: 0 }] })
    gateway.simulator.script([
      { for: "model", headers: { "content-type": "text/event-stream" }, chunks: [begun], end: "hang" }
    ])
    const headers = { "content-type": "application/json", "x-gateway-api-key": gatewayKey }
    const leaving = new AbortController()
    const answer = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model, input: "Hi", stream: true }),
      signal: leaving.signal
    })
    let text = ""
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    while (!text.endsWith(": ping\n\n: ping\n\n")) text += (await reader?.read())?.value ?? ""
    expect(text.startsWith("event: response.created\n")).toBe(true)
    const id = /"id":"(resp_[0-9a-f]{32})"/.exec(text)?.[1]
    leaving.abort()
    await until(() => gateway.simulator.counters.abortedStreams > 0)
    const kept = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
    expect([kept.status, gateway.simulator.counters.openStreams]).toEqual([404, 0])
    await gateway.close()
  })
})

describe("what stays of a run", () => {
  it("responses: database, log, metrics and spans hold no prompt, no answer and no reasoning (R805)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-responses-"))
    const collector = await startCollector()
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    const simulator = makeSimulator({
      geminiApiKeys: [geminiKey],
      serviceAccounts: [serviceAccount],
      anyLocation: true
    })
    const upstream = await simulator.listen()
    const sink = new PassThrough()
    let log = ""
    sink.on("data", (bytes: Buffer) => (log += bytes.toString("utf8")))
    const gateway = await startGateway(
      {
        ...settingsFor(upstream.url),
        keys: [
          { name: "test", key: Redacted.make(gatewayKey) },
          { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
        ],
        store: {
          location: { kind: "sqlite", path: join(folder, "gateway.db") },
          keyFile: "unused",
          secretKeys: [Redacted.make(randomMasterText())]
        },
        log: { format: "json" },
        export: { traces: true, metrics: { intervalMillis: undefined, isDelta: false }, content: false, isNamed: false }
      },
      Layer.mergeAll(
        Layer.succeed(LogSink, sink),
        Layer.sync(Metric.MetricRegistry, () => new Map())
      )
    )
    const parts = [
      { text: "canary-thought", thought: true },
      { text: "canary-answer", thoughtSignature: Buffer.from("canary-signature").toString("base64") }
    ]
    const reply = { ...said(""), candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }] }
    simulator.script([{ body: reply }, { headers: { "content-type": "text/event-stream" }, chunks: [frame(reply)] }])
    const headers = { "content-type": "application/json", "x-gateway-api-key": gatewayKey }
    const ids: Array<string> = []
    for (const stream of [false, true]) {
      const answer = await fetch(`${gateway.url}/v1/responses`, {
        method: "POST",
        headers,
        body: JSON.stringify({
          model: "@google/gemini-3-flash-preview",
          instructions: "canary-instructions",
          input: "canary-prompt",
          metadata: { note: "canary-metadata" },
          reasoning: { summary: "auto" },
          stream
        })
      })
      const text = await answer.text()
      expect(text).toContain("canary-answer")
      ids.push(/"id":"(resp_[0-9a-f]{32})"/.exec(text)?.[1] ?? "")
    }
    const kept = await Promise.all(ids.map((id) => fetch(`${gateway.url}/v1/responses/${id}`, { headers })))
    expect(kept.map(({ status }) => status)).toEqual([200, 200])
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    const listed = await fetch(`${gateway.url}/admin/v1/requests`, { headers: { "x-gateway-api-key": adminKey } })
    const left = [metrics, await listed.text()]
    await gateway.close()
    await upstream.close()
    await collector.close()
    vi.unstubAllEnvs()
    const database = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"))
    rmSync(folder, { recursive: true, force: true })
    expect([
      log.includes("/v1/responses"),
      collector.spans.length > 0,
      database.join("").includes(ids[0] ?? "")
    ]).toEqual([true, true, true])
    const everything = [...left, ...database, log, JSON.stringify([collector.spans, collector.metrics])].join("\n")
    expect(everything.match(/canary-\w+/g)).toBe(null)
  })
})
