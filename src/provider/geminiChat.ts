// Chat with a Gemini model, as both providers prepare it; only the route differs.
// It must not know configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type FamilyRef, parseFamily } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { chatToGemini } from "../translate/chat-to-gemini/ChatToGemini.ts"
import { modelFacts } from "../translate/shared/modelFacts.ts"
import { prepare } from "../upstream/Prepared.ts"
import type { Route } from "./cloudRoute.ts"
import type { Prepare } from "./Provider.ts"

export type ChatRoute = (account: ProviderAccount, ref: FamilyRef, stream: boolean) => Result.Result<Route, GatewayError>

/** Prepares chat completions over a route of one provider. */
export const geminiChat = (route: ChatRoute, limits: LimitValues): Prepare<"chat"> => (request, context) =>
  Result.flatMap(parseFamily(context.modelId), (ref) =>
    Result.flatMap(route(context.account, ref, context.stream), ({ url, headers, tuned }) =>
      prepare({
        translator: chatToGemini,
        request,
        context: {
          id: `chatcmpl-${context.request.idSeed}`,
          createdSeconds: context.request.createdSeconds,
          model: ref.modelId,
          target: {
            kind: context.account.kind,
            family: "gemini",
            modelId: ref.modelId,
            facts: modelFacts(ref.modelId, { tuned }),
            issuer: `gemini/${context.account.kind}`
          },
          strict: context.request.strict,
          betas: context.request.betas,
          callId: context.callId,
          signature: context.signature
        },
        target: {
          slug: context.account.slug,
          kind: context.account.kind,
          modelId: ref.modelId,
          operation: "chat",
          optionIndex: context.optionIndex
        },
        url,
        headers,
        origin: context.account.origin,
        limits
      })))
