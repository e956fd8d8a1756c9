// Tests clients that read nothing, and more clients than connections allowed, over real sockets.
// Must not look inside the gateway.
import { connect, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import { until } from "../support/eventually.ts"
import { chunked, event, fixed, gemini, lastPiece, piece } from "../support/faulty.ts"
import { passTime, passUntilEnded, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, settingsFor, startGateway } from "../support/TestGateway.ts"
import { type EvilServer, rawServer } from "../upstream/evilServer.ts"

let scope: Scope.Closeable
beforeEach(async () => {
  scope = await Effect.runPromise(Scope.make())
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const start = async (
  answer: Parameters<typeof rawServer>[0],
  limits: Partial<LimitValues>
): Promise<{ upstream: EvilServer; gateway: Awaited<ReturnType<typeof startGateway>> }> => {
  const upstream = await Effect.runPromise(Scope.provide(rawServer(answer), scope))
  return { upstream, gateway: await startGateway(settingsFor(upstream.url, { limits })) }
}

const body = (stream: boolean) =>
  JSON.stringify({ model: "@google/gemini-2.5-flash", stream, messages: [{ role: "user", content: "Hello" }] })

/** A client that opens a stream and reads only on command. */
const client = (url: string): { socket: Socket; closed: Promise<void> } => {
  const text = body(true)
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" }, () =>
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-gateway-api-key: ${gatewayKey}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
    )
  )
  socket.on("error", () => undefined)
  socket.pause()
  return { socket, closed: new Promise((resolve) => socket.once("close", () => resolve())) }
}

/** Writes events as fast as they are taken. */
const endless = (socket: Socket): void => {
  socket.write(chunked)
  const some = piece(event(gemini("x".repeat(10_000))))
  const more = () => {
    while (!socket.destroyed) if (!socket.write(some)) return
  }
  socket.on("drain", more)
  more()
}

const ask = async (url: string) => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
    body: body(false)
  })
  await answer.text()
  return answer.status
}

describe("slow clients", () => {
  it("slow clients: one that reads nothing is cut with its call, while others are served (F28, TH17)", async () => {
    stopTime()
    const { gateway, upstream } = await start(
      (socket, request) =>
        void (request.includes(":stream") ? endless(socket) : socket.write(fixed(gemini("Hi", "STOP")))),
      { writeStallMillis: 200 }
    )
    const stalled = [client(gateway.url), client(gateway.url)]
    await upstream.connected(2)
    expect(await ask(gateway.url)).toBe(200)
    await passUntilEnded(10, Promise.all([upstream.closed(1), upstream.closed(2)]))
    for (const { socket } of stalled) socket.resume()
    await Promise.all(stalled.map(({ closed }) => closed))
    expect(await ask(gateway.url)).toBe(200)
    resumeTime()
    await gateway.close()
  })

  it("slow clients: a client that waits for its upstream is not cut (F28, TH17)", async () => {
    stopTime()
    const asked = Promise.withResolvers<Socket>()
    const { gateway, upstream } = await start((socket) => asked.resolve(socket), { writeStallMillis: 50 })
    const { closed, socket } = client(gateway.url)
    let text = ""
    socket.on("data", (bytes) => (text += bytes.toString("utf8")))
    socket.resume()
    const waiting = await asked.promise
    // Silent for as long as several looks at the client's socket take.
    passTime(300)
    waiting.write(`${chunked}${piece(event(gemini("Hi", "STOP")))}${lastPiece}`)
    await until(() => text.includes("data: [DONE]"))
    expect([text.startsWith("HTTP/1.1 200 OK\r\n"), upstream.accepted()]).toEqual([true, 1])
    socket.end()
    await closed
    resumeTime()
    await gateway.close()
  })

  it("slow clients: above the bound of connections, the next one is refused until a client leaves (TH17, F42)", async () => {
    const { gateway } = await start((socket) => void socket.write(fixed(gemini("Hi", "STOP"))), { connections: 2 })
    const port = Number(new URL(gateway.url).port)
    const opened = () =>
      new Promise<Socket>((resolve) => {
        const socket = connect({ port, host: "127.0.0.1" }, () => resolve(socket))
        socket.on("error", () => undefined)
      })
    const answered = async (socket: Socket): Promise<string> => {
      const answer = new Promise<string>((resolve) => {
        socket.once("data", (bytes) => resolve(bytes.toString("utf8").slice(9, 12)))
        socket.once("close", () => resolve("none"))
      })
      socket.write("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n")
      return answer
    }
    const [first, second] = [await opened(), await opened()]
    expect([await answered(first), await answered(second), await answered(await opened())]).toEqual([
      "200",
      "200",
      "503"
    ])
    first.destroy()
    let later = "503"
    while (later === "503") later = await answered(await opened())
    expect(later).toBe("200")
    second.destroy()
    await gateway.close()
  })
})
