// GET /openapi.json and /docs: the contract as a document and as a page, for everybody.
// It must not know any endpoint; the contract is loaded and rendered when it is first asked for.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { boundedRoute } from "../edge/Boundary.ts"
import type * as Pages from "./DocsPages.ts"
import { arrivalHeaders } from "../response/Refusal.ts"
import type { Arrival } from "../request/RequestContexts.ts"

type Page = Pages.Page
type Render = (pages: typeof Pages) => Promise<Page>

const headersOf = (page: Page, arrival: Arrival): Record<string, string> => ({
  ...arrivalHeaders(arrival),
  ...page.headers,
  etag: page.etag,
  "cache-control": "no-cache",
  vary: "accept-encoding"
})

const answer = async (
  page: Page,
  { plainBytes }: typeof Pages,
  arrival: Arrival
): Promise<HttpServerResponse.HttpServerResponse> => {
  const headers = headersOf(page, arrival)
  if (arrival.headers["if-none-match"]?.includes(page.etag) === true)
    return HttpServerResponse.empty({ status: 304, headers })
  const { contentType } = page
  return /\bgzip\b/.test(arrival.headers["accept-encoding"] ?? "")
    ? HttpServerResponse.uint8Array(page.gzipped, { contentType, headers: { ...headers, "content-encoding": "gzip" } })
    : HttpServerResponse.uint8Array(await plainBytes(page), { contentType, headers })
}

/** Rendered once for all, and not by the request that came first: that one may be broken off. */
const route = (path: "/openapi.json" | "/docs", render: Render) => {
  let made: Promise<Page> | undefined
  return boundedRoute(
    "GET",
    path,
    Effect.succeed((_request, arrival) =>
      Effect.promise(async () => {
        const pages = await import("./DocsPages.ts")
        made ??= render(pages)
        return answer(await made, pages, arrival)
      })
    )
  )
}

export const DocsHandlers = Layer.merge(
  route("/openapi.json", (pages) => pages.documentPage()),
  route("/docs", (pages) => pages.docsPage())
)
