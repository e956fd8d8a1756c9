// /console: the files of the console, which are public; what they show needs a session. Without a console there are no routes.
// It must not depend on what the pages do.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { RouteUnknown } from "../../../domain/GatewayError.ts"
import { ConsoleSessions } from "../../../keys/ConsoleSessions.ts"
import { together } from "../../edge/Route.ts"
import { lifecycleRoute } from "../../edge/RequestLifecycle.ts"
import { type CompressedPage, compressPage, pageAnswer } from "../../response/CompressedPage.ts"
import { sessionHandlers } from "./SessionHandlers.ts"

/** Only the console's own files run, and only its own origin is called. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

const htmlHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin"
}

/** The names of the files contain a digest of their bytes. */
const assetHeaders = { "cache-control": "public, max-age=31536000, immutable" }

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8"
}

const assets = "/console/assets/"

type Pages = ReadonlyMap<string, CompressedPage>

/** The module that `npm run pages` writes: the text of each file by its name. */
interface Bundle {
  readonly files: Readonly<Record<string, string>>
}
const bundleModule = "#console"

/** The built console; no pages where it is not built. It is loaded once, at the first request for it. */
const loadPages = async (): Promise<Pages> => {
  const { files }: Bundle = await import(/* @vite-ignore */ bundleModule).catch(() => ({ files: {} }))
  const pages = Object.entries(files).map(async ([name, text]): Promise<readonly [string, CompressedPage]> => {
    const ending = name.slice(name.lastIndexOf(".") + 1)
    return [
      name,
      await compressPage(text, types[ending] ?? "text/plain", ending === "html" ? htmlHeaders : assetHeaders)
    ]
  })
  return new Map(await Promise.all(pages))
}

/** A clone has no console until it is built. */
const unbuilt = HttpServerResponse.text("The console is not built: run npm run pages, and start the gateway again.", {
  status: 503,
  headers: { "cache-control": "no-store" }
})

const files = () => {
  let loading: Promise<Pages> | undefined
  return lifecycleRoute(
    "GET",
    "/console/*",
    Effect.succeed(
      Effect.fnUntraced(function* (incoming) {
        const pages = yield* Effect.promise(() => (loading ??= loadPages()))
        if (pages.size === 0) return unbuilt
        const isAsset = incoming.path.startsWith(assets)
        const page = pages.get(isAsset ? incoming.path.slice(assets.length) : "index.html")
        return page === undefined
          ? yield* new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) })
          : yield* Effect.promise(() => pageAnswer(page, incoming))
      })
    )
  )
}

export const ConsoleHandlers = Effect.flatMap(ConsoleSessions, (sessions) =>
  sessions === undefined ? together() : together(files(), sessionHandlers(sessions))
)
