// POST /v1/prompts/{id}/completions and /render: variables in; the chat's answer, or the chat body itself, out.
// It must not know templates, providers, or how a chat is answered.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Prompts } from "../../catalog/Prompts.ts"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { allows, lists } from "../../domain/GatewayKey.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { Limits } from "../../domain/Limits.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { admittingUncalled } from "../edge/Admitting.ts"
import { chatAnswer } from "./ChatAnswer.ts"
import { checkChat } from "../../router/bodyChecks.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { promptBody } from "./promptBody.ts"
import { bodyDecoder, textReader } from "../request/ReadBody.ts"
import { json } from "../response/Reply.ts"
import { requestContext } from "../request/RequestContexts.ts"

/** The id of a path, percent-decoded; what cannot be decoded is no route. */
const referenceOf = (path: string): string => decodeURIComponent(path.split("/")[3] ?? "")

/** The chat body of a request: as a value, and decoded; what a chat could not be fails here. The context with what the prompt grants. */
const chatOf = Effect.gen(function* () {
  const prompts = yield* Prompts
  const limits = yield* Limits
  const decode = bodyDecoder(ChatRequest, checkChat)
  const readBody = yield* textReader((body) => Result.succeed(body), "promptsBodyBytes")
  return Effect.fnUntraced(function* ({ arrival, request }: Call, context: RequestContext) {
    const { config, key } = context
    const reference = referenceOf(arrival.path)
    // Effect's parameter takes an empty segment as well.
    if (reference === "") return yield* new RouteUnknown({ method: "POST", path: arrival.path.slice(0, 256) })
    const [id = ""] = reference.split("@", 1)
    // A prompt that the key may not name is one that is not there.
    const prompt = allows(key.prompts, id) ? prompts.find(reference) : undefined
    if (prompt === undefined) return yield* new RecordUnknown({ kind: "prompt", id: reference.slice(0, 256) })
    const sent = yield* readBody(request, arrival)
    const body: JsonObject = yield* Effect.fromResult(promptBody(prompt, sent, limits))
    const chat = config?.model === undefined || body["model"] !== undefined ? body : { ...body, model: config.model }
    const isGranted = lists(key.prompts, id) && chat["model"] === prompt.model
    return {
      body,
      chat: yield* Effect.fromResult(decode(chat, limits)),
      context: isGranted ? { ...context, grantedModel: prompt.model } : context
    }
  })
})

const completions = keyedRoute(
  "POST",
  "/v1/prompts/:id/completions",
  Effect.gen(function* () {
    const answer = yield* chatAnswer
    const read = yield* chatOf
    return Effect.fnUntraced(function* (call) {
      const { chat, context } = yield* read(call, yield* Effect.fromResult(requestContext(call)))
      return yield* answer(chat, context, call.arrival)
    })
  })
)

const render = keyedRoute(
  "POST",
  "/v1/prompts/:id/render",
  Effect.gen(function* () {
    const read = yield* chatOf
    const admitUncalled = yield* admittingUncalled
    return Effect.fnUntraced(function* (call) {
      const context = yield* Effect.fromResult(requestContext(call))
      yield* admitUncalled(context.key, call.arrival)
      const { body } = yield* read(call, context)
      return yield* json({ success: true, data: body }, call.arrival)
    })
  })
)

export const PromptsHandlers = Layer.merge(completions, render)
