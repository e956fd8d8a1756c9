// A page that is rendered once and served compressed, with an ETag that spares its bytes to a client that has them.
// It must not depend on what the page shows.
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { baseHeaders } from "./responseHeaders.ts"

/** A page in its compressed form, which nearly every client accepts. */
export interface CompressedPage {
  readonly gzipped: Uint8Array
  /** Weak, because both forms share it. */
  readonly etag: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

const zip = promisify(gzip)
const unzip = promisify(gunzip)

export const compressPage = async (
  text: string,
  contentType: string,
  headers: Readonly<Record<string, string>>
): Promise<CompressedPage> => ({
  gzipped: await zip(text),
  etag: `W/"${createHash("sha256").update(text).digest("base64url")}"`,
  contentType,
  headers: { ...headers, "x-content-type-options": "nosniff" }
})

/** A page for one request. */
export type LinkedPage = (incoming: Pick<IncomingRequest, "url">) => Promise<CompressedPage>

/** From the address of a request to the root of the gateway, such as `../`. Every slash counts, as in a browser. */
const rootOf = (url: string): string => {
  const [path = ""] = url.split("?", 1)
  return "../".repeat(path.split("/").length - 2) || "./"
}

/** Addresses deeper than those of the pages are rendered for each request. */
const mostRoots = 4

/**
 * A page whose links to the gateway's own addresses are relative, so that they hold below any prefix of a reverse proxy.
 * It is rendered once for each depth of its address.
 */
export const linkedPage = (
  html: string,
  contentType: string,
  headers: Readonly<Record<string, string>>
): LinkedPage => {
  const made = new Map<string, Promise<CompressedPage>>()
  return ({ url }) => {
    const root = rootOf(url)
    const known = made.get(root)
    if (known !== undefined) return known
    const page = compressPage(html.replaceAll(/ (href|src)="\//g, ` $1="${root}`), contentType, headers)
    if (made.size < mostRoots) made.set(root, page)
    return page
  }
}

const headersOf = (page: CompressedPage, incoming: IncomingRequest): Record<string, string> => ({
  ...baseHeaders(incoming),
  "cache-control": "no-cache",
  ...page.headers,
  etag: page.etag,
  vary: "accept-encoding"
})

/** The page for one request: 304 without a body where the client has it, uncompressed where the client asks for that. */
export const pageAnswer = async (
  page: CompressedPage,
  incoming: IncomingRequest
): Promise<HttpServerResponse.HttpServerResponse> => {
  const headers = headersOf(page, incoming)
  if (incoming.headers["if-none-match"]?.includes(page.etag) === true)
    return HttpServerResponse.empty({ status: 304, headers })
  const { contentType } = page
  return /\bgzip\b/.test(incoming.headers["accept-encoding"] ?? "")
    ? HttpServerResponse.uint8Array(page.gzipped, { contentType, headers: { ...headers, "content-encoding": "gzip" } })
    : HttpServerResponse.uint8Array(await unzip(page.gzipped), { contentType, headers })
}
