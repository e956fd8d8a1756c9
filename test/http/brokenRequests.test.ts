// Tests bytes that are no request, sent on a connection after requests that are answered still.
// Must not depend on a translator: the chat service is a fake.
import { connect } from "node:net"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Server } from "../../src/http/Server.ts"
import { until } from "../support/eventually.ts"
import { fullChunks, fullCompletion, hello, key, type Script, script, services } from "./face.ts"

let scope: Scope.Closeable
let scripted: Script
let port = 0
beforeEach(async () => {
  scope = Scope.makeUnsafe()
  scripted = script()
  const built = Layer.buildWithScope(
    Server.layer({ host: "127.0.0.1", port: 0 }).pipe(Layer.provide(services(scripted)), Layer.orDie),
    scope
  )
  const { address } = Context.get(await Effect.runPromise(built), HttpServer.HttpServer)
  port = "port" in address ? address.port : 0
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** A connection on which these bytes are sent, and what it has received. */
const sending = (bytes: string) => {
  const line = {
    text: "",
    isClosed: false,
    socket: connect({ port, host: "127.0.0.1" }, () => line.socket.write(bytes))
  }
  line.socket.on("data", (part) => (line.text += part.toString("latin1")))
  line.socket.on("error", () => undefined)
  line.socket.on("close", () => (line.isClosed = true))
  return line
}

const chat = (body: object): string => {
  const text = JSON.stringify(body)
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-gateway-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}
const alive = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"
const garbage = "NO SUCH THING\r\n\r\n"

/** Status and body of each answer of a connection, bodies of chunks as they came. */
const answersOf = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 )/)
    .map((answer) => [/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], answer.split("\r\n\r\n").slice(1).join("\r\n\r\n")])

const malformed =
  '{"error":{"message":"The request is not well-formed HTTP/1.1.","type":"invalid_request_error","param":null,"code":"malformed_http"}}'

/** An answer that waits until it may go. */
const heldAnswer = () => {
  const [begun, go] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  scripted.value = Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go)), fullCompletion)
  return { begun: Deferred.await(begun), go: Deferred.succeed(go, undefined) }
}

describe("broken bytes after requests of a connection", () => {
  it("broken bytes: are refused after the answer that runs, and the connection closes", async () => {
    const { begun, go } = heldAnswer()
    const line = sending(chat(hello))
    await Effect.runPromise(begun)
    line.socket.write(garbage)
    line.socket.write("more")
    // The server has read them by then: it reads in order.
    await until(async () => answersOf(await once(alive))[0]?.[0] === "200")
    expect(line.text).toBe("")
    await Effect.runPromise(go)
    await until(() => line.isClosed)
    const [first, second, ...more] = answersOf(line.text)
    expect([first?.[0], JSON.parse(first?.[1] ?? "").object, second, more]).toEqual([
      "200",
      "chat.completion",
      ["400", malformed],
      []
    ])
  })

  it("broken bytes: are refused after every whole request before them", async () => {
    const { begun, go } = heldAnswer()
    const line = sending(`${chat(hello)}${alive}${alive}${garbage}`)
    await Effect.runPromise(begun)
    expect(line.text).toBe("")
    await Effect.runPromise(go)
    await until(() => line.isClosed)
    const [, ...rest] = answersOf(line.text)
    expect(rest).toEqual([
      ["200", '{"status":"ok"}'],
      ["200", '{"status":"ok"}'],
      ["400", malformed]
    ])
  })

  it("broken bytes: a stream that has begun goes to its end before the refusal", async () => {
    const go = Deferred.makeUnsafe<void>()
    scripted.chunks = Stream.concat(
      Stream.fromIterable(fullChunks.slice(0, 1)),
      Stream.unwrap(Effect.as(Deferred.await(go), Stream.fromIterable(fullChunks.slice(1))))
    )
    const line = sending(chat({ ...hello, stream: true }))
    await until(() => line.text.includes('"role":"assistant"'))
    line.socket.write(garbage)
    await until(async () => answersOf(await once(alive))[0]?.[0] === "200")
    await Effect.runPromise(Deferred.succeed(go, undefined))
    await until(() => line.isClosed)
    const [first, second] = answersOf(line.text)
    expect([first?.[0], first?.[1]?.includes("data: [DONE]"), second]).toEqual(["200", true, ["400", malformed]])
  })

  it("broken bytes: in the body of the request itself are its answer", async () => {
    const line = sending(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-gateway-api-key: ${key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`
    )
    await until(() => line.isClosed)
    expect(answersOf(line.text)).toEqual([["400", malformed]])
  })
})

const once = async (bytes: string): Promise<string> => {
  const line = sending(bytes)
  await until(() => line.text.endsWith("}"))
  line.socket.destroy()
  return line.text
}
