// The Gemini Developer API: from account and model to URL.
// It must not know bodies, keys or configs.
import * as Result from "effect/Result"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import type { FamilyRef } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Route } from "./cloudRoute.ts"
import { geminiHost, segment, upstreamUrl } from "./hosts.ts"

/** Where a chat call of this model goes on the Gemini API; other families do not live there. */
export const makerChatRoute = (account: ProviderAccount, ref: FamilyRef, stream: boolean): Result.Result<Route, GatewayError> => {
  if (ref.family !== "gemini") {
    return Result.fail(new UnsupportedOperation({
      message: `"${ref.modelId}" is not served by the Gemini API (${account.slug}); use a vertex-ai provider for it.`
    }))
  }
  const version = account.apiVersion ?? "v1beta"
  const verb = stream ? "streamGenerateContent" : "generateContent"
  const path = `/${version}/models/${segment(ref.modelId)}:${verb}`
  const headers = account.quotaProject === undefined ? {} : { "x-goog-user-project": account.quotaProject }
  return Result.map(upstreamUrl(account, geminiHost, path, stream ? "?alt=sse" : ""), (url) => ({ url, headers, tuned: false }))
}
