// Chat with a Gemini model, as both providers prepare it; only the route differs.
// It must not know configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { chatToGemini } from "../translate/chat-to-gemini/ChatToGemini.ts"
import { continuesAnswer, mayContinue } from "../translate/chat-to-gemini/longDecode.ts"
import { prepare } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput, targetFacts } from "./callInput.ts"
import type { RouteOf } from "./callRoute.ts"

export const geminiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) => {
    const { account, stream } = context
    const found = targetFacts(context, model)
    const { facts } = found
    const isLong = facts.longDecode !== undefined
    const hops =
      isLong && limits.longDecodeCalls > 1 && mayContinue(request, facts, stream) ? limits.longDecodeCalls : undefined
    const knowsToken = hops !== undefined || (isLong && continuesAnswer(request))
    return Result.flatMap(
      routeOf(
        knowsToken ? withTokens(account) : account,
        model,
        stream ? ":streamGenerateContent?alt=sse" : ":generateContent"
      ),
      (route) =>
        prepare({ translator: chatToGemini, request, hops, ...callInput("chat", context, model, route, limits, found) })
    )
  }

/** Vertex AI knows the token of a continued answer in v1beta1 only (M-602). */
const withTokens = (account: ProviderAccount): ProviderAccount =>
  account.kind === "vertex-ai" ? { ...account, apiVersion: "v1beta1" } : account
