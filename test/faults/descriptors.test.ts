// Tests a process that may open few files, with more clients than that.
// Must not look inside the process.
import { existsSync } from "node:fs"
import { connect } from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterEach, beforeEach, expect, it } from "vitest"
import { processPatienceMillis, until } from "../support/eventually.ts"
import { apiError, fixed, gemini } from "../support/faulty.ts"
import { processes } from "../support/process.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { rawServer } from "../upstream/evilServer.ts"

const { start } = processes()
let scope: Scope.Closeable
beforeEach(async () => {
  scope = await Effect.runPromise(Scope.make())
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const post = (): string => {
  const body = JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] })
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-gateway-api-key: ${gatewayKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** What a client receives until its connection closes. */
const exchange = (port: number): { readonly text: () => string; readonly leave: () => void } => {
  let text = ""
  const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(post()))
  socket.on("error", () => undefined)
  socket.on("data", (part) => (text += part.toString("latin1")))
  return { text: () => text, leave: () => void socket.destroy() }
}

const isShown = existsSync("/proc/self/limits")

it.skipIf(!isShown)(
  "descriptors: with 256 open files each of 400 clients is answered, beyond the bound with 503 (F42)",
  async () => {
    const waiting: Array<() => void> = []
    const upstream = await Effect.runPromise(
      Scope.provide(
        rawServer((socket) => void waiting.push(() => void socket.write(fixed(gemini("Hi", "STOP"))))),
        scope
      )
    )
    const config = JSON.stringify({
      providers: [{ slug: "google", provider: "google", api_key: "key", base_url: upstream.url }],
      keys: [{ name: "one", key: gatewayKey }]
    })
    const served = start(["serve", "--port", "0", "--config", "gateway.json"], {
      openFiles: 256,
      files: { "gateway.json": config },
      env: { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0" }
    })
    const [, port = ""] = await served.said(/API {6}http:\S+:(\d+)\/v1/)
    await served.said(/The process may open 256 files: it serves 73 connections, keeps 20 idle ones to providers/)
    const clients = Array.from({ length: 400 }, () => exchange(Number(port)))
    const refused = () => clients.filter(({ text }) => text().startsWith("HTTP/1.1 503 Service Unavailable\r\n"))
    await until(() => refused().length === 400 - 73 && waiting.length === 73, processPatienceMillis)
    const [first] = refused()
    const [head = "", body = ""] = first?.text().split("\r\n\r\n") ?? []
    expect(JSON.parse(body)).toEqual(
      apiError("overloaded", "The gateway is at its limit of requests; try again shortly.")
    )
    expect([/^retry-after: (.*)$/m.exec(head)?.[1], /^connection: (.*)$/m.exec(head)?.[1]]).toEqual(["1", "close"])
    for (const answer of waiting) answer()
    await until(() => clients.every(({ text }) => /^HTTP\/1\.1 (200|503) /.test(text())), processPatienceMillis)
    expect(clients.filter(({ text }) => text().startsWith("HTTP/1.1 200 ")).length).toBe(73)
    for (const { leave } of clients) leave()
    served.child.kill("SIGTERM")
    expect((await served.ended).code).toBe(0)
  },
  60_000
)
