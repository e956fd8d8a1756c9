// Requests that come together arrive together, and those whose client has gone do not arrive.
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

it("hands on behind this turn of the loop, in order, who is still there", async () => {
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

it("leaves all other events as they are", () => {
  const server = new StepwiseServer()
  const told: Array<unknown> = []
  server.on("connection", (socket) => told.push(socket))
  const socket = new Socket()
  expect([server.emit("connection", socket), server.emit("dropRequest"), told]).toEqual([true, false, [socket]])
})
