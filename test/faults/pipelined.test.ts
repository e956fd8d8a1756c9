// Tests clients that send many requests on one connection without waiting, and bursts, over real sockets.
// Must not look inside the gateway.
import { connect, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { until } from "../support/eventually.ts"
import { fixed, gemini } from "../support/faulty.ts"
import { isRelease } from "../support/release.ts"
import { passTime, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, settingsFor, startGateway } from "../support/TestGateway.ts"
import { rawServer } from "../upstream/evilServer.ts"

let scope: Scope.Closeable
beforeEach(async () => {
  scope = await Effect.runPromise(Scope.make())
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const post = (text: string): string => {
  const body = JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: text }] })
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-gateway-api-key: ${gatewayKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** An upstream that repeats the text of each request, and the most calls that ran together. */
const repeating = async () => {
  const seen = { calls: 0, running: 0, most: 0 }
  const upstream = await Effect.runPromise(
    Scope.provide(
      rawServer((socket, request) => {
        seen.calls++
        seen.most = Math.max(seen.most, ++seen.running)
        setImmediate(() => {
          seen.running--
          socket.write(fixed(gemini(/"text":"(n\d+)"/.exec(request)?.[1] ?? "", "STOP")))
        })
      }),
      scope
    )
  )
  return { seen, upstream }
}

describe("pipelined requests", () => {
  const count = isRelease ? 1_000 : 100
  it(`pipelined requests: ${count} on one connection make one upstream call at a time, in order`, async () => {
    const { seen, upstream } = await repeating()
    const gateway = await startGateway(settingsFor(upstream.url, {}))
    const names = Array.from({ length: count }, (_, at) => `n${at}`)
    let text = ""
    const socket = connect({ port: Number(new URL(gateway.url).port), host: "127.0.0.1" }, () =>
      socket.write(names.map(post).join(""))
    )
    socket.on("data", (part) => (text += part.toString("latin1")))
    await until(() => text.includes(`"content":"${names.at(-1)}"`))
    expect([...text.matchAll(/"content":"(n\d+)"/g)].map(([, name]) => name)).toEqual(names)
    expect({ ...seen, sockets: upstream.accepted() }).toEqual({ calls: count, running: 0, most: 1, sockets: 1 })
    socket.destroy()
    await gateway.close()
  })

  it("pipelined requests: those of a connection that closes are not started", async () => {
    let calls = 0
    const upstream = await Effect.runPromise(
      Scope.provide(
        rawServer(() => void calls++),
        scope
      )
    )
    const gateway = await startGateway(settingsFor(upstream.url, {}))
    const socket = connect({ port: Number(new URL(gateway.url).port), host: "127.0.0.1" }, () =>
      socket.write(post("a").repeat(10))
    )
    await until(() => calls === 1)
    socket.destroy()
    await until(() => upstream.open() === 0)
    await gateway.close()
    expect([calls, upstream.accepted()]).toEqual([1, 1])
  })
})

describe("idle upstream sockets", () => {
  it("idle upstream sockets: those of a burst are closed, except a bounded number", async () => {
    stopTime()
    const asked: Array<Socket> = []
    const upstream = await Effect.runPromise(
      Scope.provide(
        rawServer((socket) => void asked.push(socket)),
        scope
      )
    )
    const gateway = await startGateway(settingsFor(upstream.url, { limits: { idleSockets: 3 } }))
    const port = Number(new URL(gateway.url).port)
    let answered = 0
    const clients = Array.from({ length: 50 }, () => {
      const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(post("n1")))
      return socket.once("data", () => answered++)
    })
    await until(() => asked.length === 50)
    for (const socket of asked) socket.write(fixed(gemini("n1", "STOP")))
    await until(() => answered === 50)
    expect(upstream.open()).toBe(50)
    // The gateway looks at its sockets each second: one look finds them unchanged since the look before.
    passTime(2_000)
    await until(() => upstream.open() <= 3)
    expect(upstream.open()).toBe(3)
    for (const socket of clients) socket.destroy()
    resumeTime()
    await gateway.close()
  })
})
