// A provider kind of an application, with OpenAI's chat at an address of its own; each test sets its authorization.
// Must not depend on the built-in providers.
import * as Result from "effect/Result"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { openAiChat } from "../../src/provider/chat.ts"
import type { Provider } from "../../src/provider/Provider.ts"

const chat = openAiChat(
  (_account, _model, call) => Result.succeed({ url: `https://acme.example${call}`, headers: {} }),
  defaultLimits
)

export const acmeCalls: Provider["prepare"] = {
  chat: (request, context) => chat(request, context, { family: "openai", modelId: context.modelId, endpoint: false })
}
