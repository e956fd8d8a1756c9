// GET /openapi.json, /docs and /docs/{page}: the contract as a document and as a page, and the pages of the documentation, without a key.
// It must not depend on any endpoint. The contract is rendered, and a page compressed, at the first request for it.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { openRoute } from "../../edge/RequestLifecycle.ts"
import { together } from "../../edge/Route.ts"
import { BasePath } from "../../node/Proxied.ts"
import { type CompressedPage, linkedPage, type LinkedPage, pageAnswer } from "../../response/CompressedPage.ts"
import type * as Pages from "./DocsPages.ts"
import { pathUnknown } from "../../request/IncomingRequest.ts"

type Render = (pages: typeof Pages, base: string) => Promise<CompressedPage>

/** Rendered once for each base path, of which a process has few, and not by the request that came first: that one may be broken off. */
const contractRoute = (path: "/openapi.json" | "/docs", render: Render) => {
  const pages = new Map<string, Promise<CompressedPage>>()
  return openRoute("GET", path, (incoming) =>
    Effect.flatMap(BasePath, (base) =>
      Effect.promise(async () => {
        const page = pages.get(base) ?? import("./DocsPages.ts").then((made) => render(made, base))
        pages.set(base, page)
        return pageAnswer(await page, incoming)
      })
    )
  )
}

export const DocsHandlers = together(
  contractRoute("/openapi.json", (pages, base) => pages.documentPage(base)),
  contractRoute("/docs", (pages, base) => pages.docsPage(base))
)

// GET /docs/{page}: the pages of the documentation, public and without a network.

/** The module that `npm run pages` writes: the HTML of each page by its name, and the digest of their style. */
interface Bundle {
  readonly pages: Readonly<Record<string, string>>
  readonly styleDigest: string
}
const bundleModule = "#guides"

/** No scripts run, nothing is loaded, and the style is that of the build. */
const policyOf = (styleDigest: string): string =>
  [
    "default-src 'none'",
    `style-src '${styleDigest}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** The built pages; none where they are not built. */
const loadBundle = (): Promise<Bundle> =>
  import(/* @vite-ignore */ bundleModule).catch(() => ({ pages: {}, styleDigest: "" }))

/** A clone has no pages until they are built. */
const unbuilt = HttpServerResponse.text(
  "The pages are not built: run npm run pages, and start the gateway again. They are in the folder docs as well.",
  { status: 503, headers: { "cache-control": "no-store" } }
)

const guidesPrefix = "/docs/"

let loadingGuides: Promise<Bundle> | undefined
const madeGuides = new Map<string, LinkedPage>()

const linkedGuide = (name: string, html: string, { styleDigest }: Bundle): LinkedPage => {
  const known = madeGuides.get(name)
  if (known !== undefined) return known
  const page = linkedPage(html, "text/html; charset=utf-8", {
    "content-security-policy": policyOf(styleDigest),
    "referrer-policy": "no-referrer"
  })
  madeGuides.set(name, page)
  return page
}

export const GuidesHandlers = openRoute(
  "GET",
  "/docs/:page",
  Effect.fnUntraced(function* (incoming) {
    const bundle = yield* Effect.promise(() => (loadingGuides ??= loadBundle()))
    if (Object.keys(bundle.pages).length === 0) return unbuilt
    const name = incoming.path.slice(guidesPrefix.length)
    const html = Object.hasOwn(bundle.pages, name) ? bundle.pages[name] : undefined
    return html === undefined
      ? yield* pathUnknown(incoming)
      : yield* Effect.promise(async () => pageAnswer(await linkedGuide(name, html, bundle)(incoming), incoming))
  })
)
