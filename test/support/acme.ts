// A provider that is not ours: it speaks OpenAI's chat at an address of its own. Who authorises its calls is up to each test.
import * as Result from "effect/Result"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { openAiChat } from "../../src/provider/openAiChat.ts"
import type { Provider } from "../../src/provider/Provider.ts"

const chat = openAiChat(
  (_account, _model, call) => Result.succeed({ url: `https://acme.example${call}`, headers: {} }),
  defaultLimits
)

export const acmeCalls: Provider["prepare"] = {
  chat: (request, context) => chat(request, context, { family: "openai", modelId: context.modelId, endpoint: false })
}
