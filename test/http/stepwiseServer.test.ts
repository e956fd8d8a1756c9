// Tests the stepwise server: requests of one event loop turn arrive together, without those whose client has left.
// Must not open a socket.
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { expect, it } from "vitest"
import { StepwiseServer } from "../../src/http/StepwiseServer.ts"

const request = (url: string): readonly [IncomingMessage, ServerResponse] => {
  const incoming = new IncomingMessage(new Socket())
  incoming.url = url
  return [incoming, new ServerResponse(incoming)]
}

it("stepwise server: hands on connected requests after the current turn of the loop, in order", async () => {
  const server = new StepwiseServer()
  const arrived: Array<string | undefined> = []
  server.on("request", ({ url }) => arrived.push(url))
  const [first, gone, second] = [request("/first"), request("/gone"), request("/second")]
  for (const [incoming, response] of [first, gone, second])
    expect(server.emit("request", incoming, response)).toBe(true)
  gone[1].destroy()
  expect(arrived).toEqual([])
  await turn()
  expect(arrived).toEqual(["/first", "/second"])
})

it("stepwise server: leaves all other events unchanged", () => {
  const server = new StepwiseServer()
  const told: Array<unknown> = []
  server.on("connection", (socket) => told.push(socket))
  const socket = new Socket()
  expect([server.emit("connection", socket), server.emit("dropRequest"), told]).toEqual([true, false, [socket]])
})
