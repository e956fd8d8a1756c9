import { createServer, request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, settingsFor, startGateway, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

/** Asks over a socket of its own; `leave` breaks it off. */
const ask = (url: string, model: string, stream: boolean) => {
  const sent = httpRequest(`${url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey }
  })
  sent.on("error", () => undefined)
  sent.end(JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }))
  const firstBytes = new Promise<string>((resolve) => {
    sent.once("response", (response) => {
      response.on("error", () => undefined)
      response.once("data", (bytes: Buffer) => resolve(bytes.toString()))
    })
  })
  return { firstBytes, leave: () => sent.destroy() }
}

/** Resolves once the condition holds, looking again at every turn of the event loop. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe("F26 a client that leaves", () => {
  it("T1322 in the middle of a stream closes the upstream stream", async () => {
    const { counters } = gateway.simulator
    const before = counters.abortedStreams
    for (let round = 1; round <= 10; round++) {
      const asked = ask(gateway.url, "@google/demo-endless", true)
      expect((await asked.firstBytes).startsWith("data: {\"id\":\"chatcmpl-")).toBe(true)
      asked.leave()
      await until(() => counters.abortedStreams === before + round)
    }
    await until(() => counters.openStreams === 0)
  })

  it("T1322 before the first byte of a stream closes the upstream stream", async () => {
    const { counters } = gateway.simulator
    const aborted = counters.abortedStreams
    const requests = counters.requests
    const asked = ask(gateway.url, "@google/demo-hangs", true)
    await until(() => counters.requests === requests + 1)
    asked.leave()
    await until(() => counters.abortedStreams > aborted)
    expect([counters.abortedStreams, counters.openStreams]).toEqual([aborted + 1, 0])
  })

  it("T1322 while a whole answer is awaited closes the upstream call", async () => {
    let closed = 0
    const called = Promise.withResolvers<void>()
    const silent = createServer((_request, response) => {
      response.once("close", () => closed++)
      called.resolve()
    })
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    const { url, close } = await startGateway(settingsFor(`http://127.0.0.1:${address.port}`))
    const asked = ask(url, "@google/gemini-2.5-flash", false)
    await called.promise
    asked.leave()
    await until(() => closed > 0)
    await close()
    silent.close()
    expect(closed).toBe(1)
  })
})
