// Tests that the Node which runs has each mark that the gateway reads of its objects, with the meaning it is read by.
// Must not depend on the gateway's server: each mark is met on a plain server of Node.
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { afterEach, beforeEach, expect, it } from "vitest"
import {
  endsConnection,
  hasBegun,
  headText,
  keepFromNode,
  queuedBytes,
  responseOnSocket
} from "../../../src/http/node/NodeMarks.ts"

let server = createServer()
let client: Socket
beforeEach(async () => {
  server = createServer({ highWaterMark: 16 * 1024 }).listen(0, "127.0.0.1")
  await once(server, "listening")
})
afterEach(() => {
  client.destroy()
  server.close()
  server.closeAllConnections()
})

const arrive = async (request: string): Promise<readonly [IncomingMessage, ServerResponse]> => {
  const address = server.address()
  client = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1", () =>
    client.write(request)
  )
  const [message, response]: ReadonlyArray<unknown> = await once(server, "request")
  return [message as IncomingMessage, response as ServerResponse]
}

it("marks of Node: the socket names the answer that has it, until that is complete", async () => {
  const [{ socket }, response] = await arrive("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
  expect(responseOnSocket(socket)).toBe(response)
  response.end()
  await once(response, "finish")
  expect(responseOnSocket(socket)).toBeUndefined()
})

it("marks of Node: an answer has begun when a part of it has gone out, and its head is there when it is written", async () => {
  const [, response] = await arrive("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
  expect([hasBegun(response), headText(response)]).toEqual([false, undefined])
  response.writeHead(200, { "x-mark": "1" })
  expect([hasBegun(response), headText(response)?.startsWith("HTTP/1.1 200 OK\r\nx-mark: 1\r\n")]).toEqual([
    false,
    true
  ])
  response.write("part")
  expect(hasBegun(response)).toBe(true)
})

it.each([
  ["keep-alive", false],
  ["close", true]
])("marks of Node: an answer of connection: %s ends its connection: %s", async (connection, ends) => {
  const [, response] = await arrive(`GET / HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\n\r\n`)
  response.writeHead(200)
  expect(endsConnection(response)).toBe(ends)
})

it("marks of Node: a request whose body is dealt with is not read, and its socket stays open", async () => {
  const [message, response] = await arrive(
    "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 9\r\n\r\n"
  )
  response.prependListener("finish", () => keepFromNode(message, response))
  response.end("late")
  await once(response, "finish")
  await turn()
  expect([message.complete, message.readableFlowing, message.socket.writableEnded]).toEqual([false, null, false])
})

it("marks of Node: the handle counts the bytes that the kernel has not taken", async () => {
  const [{ socket }, response] = await arrive("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
  client.pause()
  expect(queuedBytes(socket)).toBe(0)
  response.write(Buffer.alloc(64 * 1024 * 1024))
  await turn()
  expect(queuedBytes(socket)).toBeGreaterThan(0)
})
