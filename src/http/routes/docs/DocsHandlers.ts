// GET /openapi.json and /docs: the contract as a document and as a page, without a key.
// It must not depend on any endpoint; the contract is loaded and rendered at its first request.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { lifecycleRoute } from "../../edge/RequestLifecycle.ts"
import { together } from "../../edge/Route.ts"
import type * as Pages from "./DocsPages.ts"
import { baseHeaders } from "../../response/baseHeaders.ts"
import type { IncomingRequest } from "../../request/IncomingRequest.ts"

type DocsPage = Pages.DocsPage
type Render = (pages: typeof Pages) => Promise<DocsPage>

const headersOf = (page: DocsPage, incoming: IncomingRequest): Record<string, string> => ({
  ...baseHeaders(incoming),
  ...page.headers,
  etag: page.etag,
  "cache-control": "no-cache",
  vary: "accept-encoding"
})

const answer = async (
  page: DocsPage,
  { plainBytes }: typeof Pages,
  incoming: IncomingRequest
): Promise<HttpServerResponse.HttpServerResponse> => {
  const headers = headersOf(page, incoming)
  if (incoming.headers["if-none-match"]?.includes(page.etag) === true)
    return HttpServerResponse.empty({ status: 304, headers })
  const { contentType } = page
  return /\bgzip\b/.test(incoming.headers["accept-encoding"] ?? "")
    ? HttpServerResponse.uint8Array(page.gzipped, { contentType, headers: { ...headers, "content-encoding": "gzip" } })
    : HttpServerResponse.uint8Array(await plainBytes(page), { contentType, headers })
}

/** Rendered once for all, and not by the request that came first: that one may be broken off. */
const route = (path: "/openapi.json" | "/docs", render: Render) => {
  let made: Promise<DocsPage> | undefined
  return lifecycleRoute(
    "GET",
    path,
    Effect.succeed((incoming) =>
      Effect.promise(async () => {
        const pages = await import("./DocsPages.ts")
        made ??= render(pages)
        return answer(await made, pages, incoming)
      })
    )
  )
}

export const DocsHandlers = together(
  route("/openapi.json", (pages) => pages.documentPage()),
  route("/docs", (pages) => pages.docsPage())
)
