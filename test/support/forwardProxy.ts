// A forward proxy on loopback: tunnels by CONNECT to one server of the test, and answers plain requests itself.
// Must not know what passes; it keeps the first line and the credential of each request.
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import type { Duplex } from "node:stream"

export interface ForwardProxy {
  readonly port: number
  readonly asked: Array<{ readonly line: string; readonly credential: string | undefined }>
  readonly close: () => Promise<void>
}

export interface ProxyOptions {
  /** The port that every tunnel leads to; undefined: no tunnel is opened. */
  readonly to: number | undefined
}

export const startForwardProxy = async ({ to }: ProxyOptions): Promise<ForwardProxy> => {
  const asked: Array<{ readonly line: string; readonly credential: string | undefined }> = []
  const open = new Set<Duplex>()
  const server = createServer((request, response) => {
    asked.push({ line: `${request.method} ${request.url}`, credential: request.headers["proxy-authorization"] })
    request.resume().on("end", () => response.end("{}"))
  })
  server.on("connect", (request, socket, head) => {
    asked.push({ line: `CONNECT ${request.url}`, credential: request.headers["proxy-authorization"] })
    open.add(socket)
    socket.on("error", () => {}).on("close", () => open.delete(socket))
    if (to === undefined) {
      socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
      return
    }
    const upstream = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on("error", () => socket.destroy())
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    port: address.port,
    asked,
    close: async () => {
      for (const socket of open) socket.destroy()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  }
}
