// GET /openapi.json and /docs: the contract as a document and as a page, without a key.
// It must not depend on any endpoint; the contract is loaded and rendered at its first request.
import * as Effect from "effect/Effect"
import { lifecycleRoute } from "../../edge/RequestLifecycle.ts"
import { together } from "../../edge/Route.ts"
import type * as Pages from "./DocsPages.ts"
import { type CompressedPage, pageAnswer } from "../../response/CompressedPage.ts"

type Render = (pages: typeof Pages) => Promise<CompressedPage>

/** Rendered once for all, and not by the request that came first: that one may be broken off. */
const route = (path: "/openapi.json" | "/docs", render: Render) => {
  let made: Promise<CompressedPage> | undefined
  return lifecycleRoute(
    "GET",
    path,
    Effect.succeed((incoming) =>
      Effect.promise(async () => {
        made ??= import("./DocsPages.ts").then(render)
        return pageAnswer(await made, incoming)
      })
    )
  )
}

export const DocsHandlers = together(
  route("/openapi.json", (pages) => pages.documentPage()),
  route("/docs", (pages) => pages.docsPage())
)
