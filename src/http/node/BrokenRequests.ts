// Refuses bytes that are no request, after the answers to the requests before them on their connection.
// It must not depend on what is answered, or on why the bytes are refused.
import { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { messageOf } from "./Pipelined.ts"
import { destroyLater } from "./UnreadBody.ts"

/** True when a part of an answer has gone out; a second one would corrupt it. */
const isAnswering = (response: object | null): boolean =>
  response !== null && "_headerSent" in response && response._headerSent === true

/** Writes the refusal as the last answer of the connection. */
const refuseLast = (socket: Duplex, refusal: string): void => {
  const response = messageOf(socket)
  // The broken bytes belong to a later request than one that has arrived whole. Node gives its answer the socket first.
  if (socket.writable && response instanceof ServerResponse && response.req.complete) {
    response.once("close", () => refuseLast(socket, refusal))
    return
  }
  if (!socket.writable || isAnswering(response)) {
    socket.destroy()
    return
  }
  socket.end(refusal)
  destroyLater(socket)
}

/** Refuses the first broken bytes of each socket. Node reports every read after them as well. */
export const refusingBroken = (): ((socket: Duplex, refusal: () => string) => void) => {
  const refused = new WeakSet<Duplex>()
  return (socket, refusal) => {
    if (refused.has(socket)) return
    refused.add(socket)
    refuseLast(socket, refusal())
  }
}
