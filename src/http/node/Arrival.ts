// A request as it arrives, from the server of the gateway or from that of another application.
// It must not depend on routes, keys or bodies.
import { IncomingMessage, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { HeaderRecord } from "../../api/Headers.ts"
import { clientDialect, knownPath } from "../../api/clientRequests.ts"
import { type NativePath, readNativePath } from "../../domain/native/nativePath.ts"

/** Where a request came from. */
interface Origin {
  readonly method: string
  /** Path and query as the client sent them. */
  readonly url: string
  readonly headers: HeaderRecord
  /** Node's request, where there is one. */
  readonly message: IncomingMessage | undefined
  /** Node's response, where the server is the gateway's own. Within another application answers are values, which its middleware sees. */
  readonly node: ServerResponse | undefined
  /** Reads a body that is not taken from `message`; undefined where the server is the gateway's own. */
  readonly accessor: Pick<HttpServerRequest.HttpServerRequest, "arrayBuffer"> | undefined
}

/** A request before its route is known. */
export interface Arrival extends Origin {
  /** As the routes know it, without the query. */
  readonly path: string
  /** The model that the path names, which goes before the body's; undefined where the body alone names it. */
  readonly pathModel: string | undefined
  /** The text after `?`. */
  readonly query: string
  /** The reading of the path where it is one of Google's own dialects. */
  readonly native: NativePath | undefined
}

const arrival = ({ accessor, headers, message, method, node, url }: Origin): Arrival => {
  const at = url.indexOf("?")
  const { model, path } = knownPath(at < 0 ? url : url.slice(0, at))
  return {
    method,
    url,
    headers,
    message,
    node,
    accessor,
    path,
    pathModel: model,
    query: at < 0 ? "" : url.slice(at + 1),
    native: readNativePath(method, path, clientDialect(headers) === "google")
  }
}

/** Only `set-cookie` would be a list, and requests have none. */
export const headersOfNode = ({ headers }: { readonly headers: IncomingHttpHeaders }): HeaderRecord =>
  headers as HeaderRecord

/** Path and query of a target, which a client of a proxy writes with its host. */
const targetOf = (url: string): string => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/** A request of the gateway's own server. */
export const arrivalOfNode = (message: IncomingMessage, node: ServerResponse): Arrival => {
  const { method = "GET", url = "/" } = message
  return arrival({
    method,
    url: url.startsWith("/") ? url : targetOf(url),
    headers: headersOfNode(message),
    message,
    node,
    accessor: undefined
  })
}

/** A request of another application's server, or of a web handler. Headers are Node's own where they are, for Effect's are a copy of them. */
export const arrivalOfEffect = (request: HttpServerRequest.HttpServerRequest): Arrival => {
  const { method, source, url } = request
  const message = source instanceof IncomingMessage ? source : undefined
  return arrival({
    method,
    url,
    headers: message === undefined ? request.headers : headersOfNode(message),
    message,
    node: undefined,
    accessor: request
  })
}
