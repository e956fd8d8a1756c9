// Signals of a running gateway: what they mean on each platform, and the line of the log when one stops the service.
// Must not look inside the gateway.
import { spawn } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { signalsOf } from "../../../src/cli/process/platform.ts"
import { program } from "../../support/buildProgram.ts"
import { startCollector } from "../../support/collector.ts"
import { startCommand } from "../../support/commandLine.ts"
import { processPatienceMillis, until } from "../../support/eventually.ts"
import { processes } from "../../support/process.ts"

const { home, start } = processes()
const key = "mgk_signals0000000000000000000000000"

/** An upstream whose streams begin, and end when they may. */
let finish = (): void => undefined
const upstream = createServer((_, response) => {
  const frame = (text: string, more = {}) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }] })}\r\n\r\n`
  response.writeHead(200, { "content-type": "text/event-stream" }).write(frame("Hel"))
  finish = () => response.end(frame("lo", { finishReason: "STOP" }))
})
let base = ""
beforeAll(() => new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done)))
beforeAll(() => {
  base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
})
afterAll(() => new Promise((done) => upstream.close(done)))

const file = () => `
server: { port: 0 }
providers: [{ slug: google, provider: google, api_key: k, base_url: "${base}" }]
keys: [{ name: ci, key: ${key} }]
`

it("signals: Windows ends the service by Ctrl+Break and its closing console, and reloads by no signal", () => {
  expect([signalsOf("linux"), signalsOf("darwin"), signalsOf("win32")]).toEqual([
    { ending: [], reloading: ["SIGHUP"] },
    { ending: [], reloading: ["SIGHUP"] },
    { ending: ["SIGBREAK", "SIGHUP"], reloading: [] }
  ])
})

it.each([
  ["0", ""],
  ["50", "New ones are taken for 50 ms. "]
])("signals: SIGTERM logs how many streams run, with a delay of %s ms", { timeout: 120_000 }, async (delay, taken) => {
  const gateway = start(["serve"], {
    files: { "gateway.yaml": file() },
    env: { GATEWAY_LIMITS_READY_DELAY_MILLIS: delay, GATEWAY_LOG_FORMAT: "json" }
  })
  const [, origin = ""] = await gateway.said(/API {6}(http:\S+)\/v1/)
  const answer = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key },
    body: JSON.stringify({
      model: "@google/gemini-3.8-flash",
      stream: true,
      messages: [{ role: "user", content: "Hello" }]
    })
  })
  gateway.child.kill("SIGTERM")
  expect((await gateway.said(/"msg":"(The service is stopping[^"]*)"/))[1]).toBe(
    `The service is stopping: 1 request runs, 1 stream among them. ${taken}The rest has 600 s to end.`
  )
  finish()
  expect([(await answer.text()).includes("data: [DONE]"), (await gateway.ended).code]).toEqual([true, 0])
})

it.skipIf(process.platform !== "linux")(
  "signals: on a terminal SIGINT closes the listener without a delay, and logs it",
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(home, "terminal-"))
    writeFileSync(join(folder, "gateway.yaml"), file())
    // `script` runs the command on a terminal of its own.
    const child = spawn("script", ["-qefc", `${process.execPath} ${program} serve`, "/dev/null"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1" }
    })
    let out = ""
    child.stdout.on("data", (part) => (out += part))
    const ended = new Promise<number | null>((done) => child.once("close", done))
    await until(() => /pid \d+[^]*API {6}http/.test(out), processPatienceMillis)
    process.kill(Number(/pid (\d+)/.exec(out)?.[1]), "SIGINT")
    expect([await ended, /The service is stopping.*(?=\r)/.exec(out)?.[0]]).toEqual([
      0,
      "The service is stopping: 0 requests run. The rest has 600 s to end."
    ])
  }
)

it("a service whose environment asks for protobuf warns, and sends JSON", async () => {
  const collector = await startCollector()
  const env = {
    GATEWAY_LIMITS_READY_DELAY_MILLIS: "0",
    GATEWAY_LOG_FORMAT: "json",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf"
  }
  const gateway = startCommand(["serve"], env, { files: { "gateway.yaml": file() } })
  expect((await gateway.said(/"level":"warn","msg":"([^"]*protobuf[^"]*)"/))[1]).toBe(
    "OTEL_EXPORTER_OTLP_PROTOCOL asks for http/protobuf; http/json is sent to the same address"
  )
  const [, origin = ""] = await gateway.said(/API {6}(http:\S+)\/v1/)
  await fetch(`${origin}/v1/models`, { headers: { "x-gateway-api-key": key } })
  expect((await gateway.stop()).code).toBe(0)
  // The collector reads JSON only.
  expect(collector.spans.map(({ name }) => name)).toEqual(["GET /v1/models/*"])
  await collector.close()
})
