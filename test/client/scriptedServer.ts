// Runs a server that answers call after call by a script, and records its requests.
// Must not depend on a client.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Step = (response: ServerResponse, request: SeenRequest) => void

export interface ScriptedServer {
  readonly url: string
  readonly seen: Array<SeenRequest>
  /** Resolves when the client has closed the connection of that call. */
  readonly gone: (call: number) => Promise<void>
  readonly close: () => Promise<void>
}

const read = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const part of request) text += String(part)
  return text
}

/** The last step answers all further calls. */
export const scriptedServer = async (...steps: ReadonlyArray<Step>): Promise<ScriptedServer> => {
  const seen: Array<SeenRequest> = []
  const gone: Array<Promise<void>> = []
  const server = createServer((request, response) => {
    gone.push(new Promise((resolve) => response.once("close", () => resolve())))
    void read(request).then((body) => {
      const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body }
      seen.push(one)
      steps[Math.min(seen.length, steps.length) - 1]?.(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    gone: async (call) => gone[call],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  }

/** Frames, each in a write of its own; the answer ends after them unless it stays open or is torn off. */
export const frames =
  (texts: ReadonlyArray<string>, ending: "ended" | "open" | "torn" = "ended"): Step =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "request-1" })
    for (const text of texts) response.write(text)
    if (ending === "ended") response.end()
    if (ending === "torn") setImmediate(() => response.destroy())
  }

/** Accepts the request without an answer. */
export const silence: Step = () => {}

/** Closes the connection without an answer. */
export const hangUp: Step = (response) => {
  response.destroy()
}
