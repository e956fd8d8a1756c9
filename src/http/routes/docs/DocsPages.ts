// The OpenAPI document and its page, rendered and compressed; loaded at the first request for either.
// It must not depend on requests, or on any endpoint.
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as HttpRouter from "effect/http/HttpRouter"
import { openApi, WholeApi } from "../../../api/openApi.ts"

/** A page in its compressed form, which nearly every client accepts. */
export interface DocsPage {
  readonly gzipped: Uint8Array
  /** Weak, because both forms share it. */
  readonly etag: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

const zip = promisify(gzip)
const unzip = promisify(gunzip)

/** The bytes for a client that takes no compressed ones. */
export const plainBytes = (page: DocsPage): Promise<Uint8Array> => unzip(page.gzipped)

const pageOf = async (text: string, contentType: string, headers: Record<string, string>): Promise<DocsPage> => ({
  gzipped: await zip(text),
  etag: `W/"${createHash("sha256").update(text).digest("base64url")}"`,
  contentType,
  headers: { ...headers, "x-content-type-options": "nosniff" }
})

export const documentPage = (): Promise<DocsPage> => pageOf(JSON.stringify(openApi()), "application/json", {})

/** Only the scripts of the page run, and only its own origin is called. */
const policyOf = (html: string): string => {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** What would lead to, or hand the document to, Scalar's own service is left out; the policy would stop it as well. */
const scalar = {
  withDefaultFonts: false,
  favicon: "data:,",
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  authentication: { preferredSecurityScheme: "gatewayKey" }
}

/** Effect's page with Scalar inside; it is a route there, so it is asked for once. */
export const docsPage = async (): Promise<DocsPage> => {
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiScalar.layer(WholeApi, { path: "/docs", scalar }), {
    disableLogger: true
  })
  const html = await (await handler(new Request("http://localhost/docs"))).text()
  await dispose()
  return pageOf(html, "text/html; charset=utf-8", {
    "content-security-policy": policyOf(html),
    "referrer-policy": "no-referrer"
  })
}
