// The marks that Node keeps on its own objects and documents nowhere: each is read or set here and in no other file.
// It must not depend on why a mark is needed. A test holds each mark against the Node that runs it.
import { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** The answer that has the socket, even one that has not begun; undefined for none. Node's own handler of broken bytes reads it so. */
export const responseOnSocket = (socket: Duplex): ServerResponse | undefined =>
  "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse ? socket._httpMessage : undefined

/** True once a part of an answer has gone out; a second answer would corrupt it. */
export const hasBegun = (response: ServerResponse): boolean =>
  "_headerSent" in response && response._headerSent === true

/** True for an answer that ends its connection. */
export const endsConnection = (response: ServerResponse): boolean => "_last" in response && response._last === true

/** To be called when an answer is finished, before Node's own listener: Node neither reads the body nor ends the socket. */
export const keepFromNode = (request: object, response: ServerResponse): void => {
  Object.assign(request, { _consuming: true })
  Object.assign(response, { _last: false })
}

/** The head of an answer as it goes over the wire, once it is written; undefined before. */
export const headText = (response: ServerResponse): string | undefined =>
  "_header" in response && typeof response._header === "string" ? response._header : undefined

/** The bytes of the running write that the kernel has not taken; 0 for none. */
export const queuedBytes = (socket: object): number => {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined
  const isKnown = typeof handle === "object" && handle !== null && "writeQueueSize" in handle
  return isKnown ? Number(handle.writeQueueSize) : 0
}
