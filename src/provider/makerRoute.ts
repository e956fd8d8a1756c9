// The Gemini Developer API: from account and model to URL.
// It must not depend on bodies, keys or configs.
import * as Result from "effect/Result"
import { UnsupportedOperation } from "../domain/GatewayError.ts"
import { fixedHeaders, geminiHost, segment, upstreamUrl } from "./hosts.ts"
import { memoizeRoutes, type RouteOf } from "./callRoute.ts"

/** Where a call of this model goes on the Gemini API; other families do not live there. */
export const makerRoute: RouteOf = memoizeRoutes((account, model, call, asked = "v1beta") => {
  if (model.family !== "gemini" || model.endpoint) {
    return Result.fail(
      new UnsupportedOperation({
        message: `"${model.modelId}" is not served by the Gemini API (${account.slug}); use a vertex-ai provider for it.`
      })
    )
  }
  const [verb = "", query] = call.split("?")
  return Result.map(
    upstreamUrl(
      account,
      geminiHost,
      `/${account.apiVersion ?? asked}/models/${segment(model.modelId)}${verb}`,
      query === undefined ? "" : `?${query}`
    ),
    (url) => ({ url, headers: fixedHeaders(account) })
  )
})
