// GET /docs/{page}: the pages of the documentation, public and without a network.
// It must not depend on what the pages describe; a page is compressed at its first request.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { RouteUnknown } from "../../../domain/GatewayError.ts"
import { lifecycleRoute } from "../../edge/RequestLifecycle.ts"
import { type CompressedPage, compressPage, pageAnswer } from "../../response/CompressedPage.ts"

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

const prefix = "/docs/"

let loading: Promise<Bundle> | undefined
const made = new Map<string, Promise<CompressedPage>>()

const compressed = (name: string, html: string, { styleDigest }: Bundle): Promise<CompressedPage> => {
  const known = made.get(name)
  if (known !== undefined) return known
  const page = compressPage(html, "text/html; charset=utf-8", {
    "content-security-policy": policyOf(styleDigest),
    "referrer-policy": "no-referrer"
  })
  made.set(name, page)
  return page
}

export const GuidesHandlers = lifecycleRoute(
  "GET",
  "/docs/:page",
  Effect.succeed(
    Effect.fnUntraced(function* (incoming) {
      const bundle = yield* Effect.promise(() => (loading ??= loadBundle()))
      if (Object.keys(bundle.pages).length === 0) return unbuilt
      const name = incoming.path.slice(prefix.length)
      const html = Object.hasOwn(bundle.pages, name) ? bundle.pages[name] : undefined
      return html === undefined
        ? yield* new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) })
        : yield* Effect.promise(async () => pageAnswer(await compressed(name, html, bundle), incoming))
    })
  )
)
