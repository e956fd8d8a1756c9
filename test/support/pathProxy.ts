// A reverse proxy on loopback that shows a server below a prefix, which it keeps or takes off.
// Must not depend on what is served.
import { once } from "node:events"
import { createServer, request } from "node:http"

export interface PathProxy {
  readonly url: string
  readonly close: () => Promise<void>
}

/** `headers` are added to every request; the host is passed on as the client sent it. */
export const startPathProxy = async (
  target: string,
  {
    headers = {},
    prefix,
    strips = false
  }: {
    readonly prefix: string
    readonly strips?: boolean
    readonly headers?: Readonly<Record<string, string>>
  }
): Promise<PathProxy> => {
  const server = createServer((incoming, response) => {
    const { method, url = "/" } = incoming
    if (!url.startsWith(prefix)) return void response.writeHead(502).end(`${url} is not below ${prefix}`)
    const path = strips ? url.slice(prefix.length) || "/" : url
    const call = request(target + path, { method, headers: { ...incoming.headers, ...headers } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    call.on("error", () => response.destroy())
    response.on("close", () => call.destroy())
    incoming.pipe(call)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
