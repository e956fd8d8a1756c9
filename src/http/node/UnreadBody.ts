// What becomes of the rest of a body whose request is answered before all of it has come.
// It must not depend on why the request is answered.
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** How much of an unread body is taken in to keep the connection. */
const mostDrained = 256 * 1024

/** How long a client may take to read its answer before the socket is destroyed. */
const graceMillis = 500

/**
 * True when the answer closes its connection, because the rest of the body is too large to be taken in, or the client
 * waits for a word before it sends it.
 */
export const closesConnection = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers.expect !== undefined || Number(request.headers["content-length"] ?? 0) > mostDrained)

/** Destroys a socket that a client keeps open after its last answer. */
export const destroyLater = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), graceMillis)
  socket.once("close", () => clearTimeout(timer))
}

/** Ends the connection, and reads on for a while: a socket that is destroyed with unread bytes takes the answer with it. */
const closeGently = (socket: Duplex): void => {
  if (socket.destroyed) return
  socket.end()
  destroyLater(socket)
}

/** Node's own mark of an answer that ends its connection. */
const isLast = (response: object): boolean => "_last" in response && response._last === true

/** Node's own marks, which it reads right after this: the body is dealt with, and the socket stays for now. */
const keepFromNode = (request: object, response: object): void => {
  Object.assign(request, { _consuming: true })
  Object.assign(response, { _last: false })
}

/**
 * Takes in a bounded rest of the body once its answer is written. Node would take in any amount of it, or destroy the
 * socket before the client has read its answer.
 */
export const boundUnreadBody = (request: IncomingMessage, response: ServerResponse): void => {
  // Before Node's own listener.
  response.prependListener("finish", () => {
    if (request.complete || request.destroyed) return
    const { socket } = request
    if (isLast(response)) {
      keepFromNode(request, response)
      return closeGently(socket)
    }
    let bytes = 0
    request.on("data", (part: Buffer) => {
      bytes += part.length
      if (bytes <= mostDrained) return
      request.pause()
      closeGently(socket)
    })
    request.resume()
  })
}
