// The OpenAPI document and its page, rendered and compressed; loaded at the first request for either.
// It must not depend on requests, or on any endpoint.
import { createHash } from "node:crypto"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as HttpRouter from "effect/http/HttpRouter"
import { apiBelow, openApi } from "../../../api/openApi.ts"
import { type CompressedPage, compressPage } from "../../response/CompressedPage.ts"

export const documentPage = (base: string): Promise<CompressedPage> =>
  compressPage(JSON.stringify(openApi(base)), "application/json", {})

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
export const docsPage = async (base: string): Promise<CompressedPage> => {
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiScalar.layer(apiBelow(base), { path: "/docs", scalar }), {
    disableLogger: true
  })
  const html = await (await handler(new Request("http://localhost/docs"))).text()
  await dispose()
  return compressPage(html, "text/html; charset=utf-8", {
    "content-security-policy": policyOf(html),
    "referrer-policy": "no-referrer"
  })
}
