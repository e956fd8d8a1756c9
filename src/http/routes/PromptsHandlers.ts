// POST /v1/prompts/{id}/completions and /render: variables in; the answer of a chat, or the chat body itself, out.
// It must not depend on templates, providers, or how a chat is answered.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Prompts } from "../../catalog/Catalog.ts"
import type { ReadyPrompt } from "../../catalog/mergedPrompts.ts"
import {
  type BodyInvalid,
  type BodyTooLarge,
  type GatewayError,
  RecordUnknown,
  type RouteUnknown
} from "../../domain/GatewayError.ts"
import { allows, type GatewayKey, lists } from "../../domain/GatewayKey.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readVariables, renderTemplate } from "../../catalog/renderTemplate.ts"
import { admittingUncalled } from "../edge/Admitting.ts"
import { type Call, scopedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import { textReader } from "../request/ReadBody.ts"
import { requestContext } from "../request/requestContext.ts"
import { json } from "../response/Reply.ts"
import { pathUnknown } from "../request/IncomingRequest.ts"
import { chatAnswers, keepChat, readChat } from "./OperationHandlers.ts"
import { handleOperation } from "./OperationRoute.ts"

// The prompt that a reference means for a key, and the model that comes with it.

const promptIdOf = (reference: string): string => reference.split("@", 1)[0] ?? ""

/** One that the key may not name counts as absent. */
export const promptOf = ({ find }: Prompts["Service"], reference: string, key: GatewayKey): ReadyPrompt | undefined =>
  allows(key.prompts, promptIdOf(reference)) ? find(reference) : undefined

/** The model of a prompt that the key lists is granted with it; the router grants it to requests for that model only. */
export const granting = (context: RequestContext, { model }: ReadyPrompt, reference: string): RequestContext =>
  model !== undefined && lists(context.key.prompts, promptIdOf(reference))
    ? { ...context, grantedModel: model }
    : context

// From a prompt and the body of its request to a chat body.

/** Variables fill the template. Every other field of the body replaces the template's own, unrendered. */
export const promptBody = (
  { model, template }: ReadyPrompt,
  body: JsonObject,
  { bodyBytes }: LimitValues
): Result.Result<JsonObject, BodyInvalid | BodyTooLarge> => {
  // Portkey's client sends the id of the path in the body as well, as prompt_id.
  const { prompt_id: _id, variables: sent, ...overrides } = body
  const rendered = Result.flatMap(readVariables(sent), (variables) => renderTemplate(template, variables, bodyBytes))
  return Result.map(rendered, (parameters) => ({ model, ...parameters, ...overrides }))
}

// POST /v1/prompts/{id}/completions and /render: variables in; the answer of a chat, or the chat body itself, out.

/** The prompt of a path, percent-decoded: its id, or id@version, or id@label. */
const referenceOf = (path: string): string => decodeURIComponent(path.split("/")[3] ?? "")

/** The prompt that a path names. */
const promptAt = (
  prompts: Prompts["Service"],
  path: string,
  key: GatewayKey
): Result.Result<ReadyPrompt, RouteUnknown | RecordUnknown> => {
  const reference = referenceOf(path)
  // Effect's path parameter matches an empty segment as well.
  if (reference === "") return Result.fail(pathUnknown({ method: "POST", path }))
  const prompt = promptOf(prompts, reference, key)
  return prompt === undefined
    ? Result.fail(new RecordUnknown({ kind: "prompt", id: reference.slice(0, 256) }))
    : Result.succeed(prompt)
}

interface PromptChat {
  /** As the prompt and the request make it. */
  readonly body: JsonObject
  /** The same, decoded and with the model of the config where it has none. */
  readonly chat: ChatRequest
}

type ReadPromptChat = (call: Call, context: RequestContext) => Effect.Effect<PromptChat, GatewayError>

/** Reads variables and makes the chat body of them; an invalid chat body fails here. */
const readPromptChat: Effect.Effect<ReadPromptChat, never, Prompts> = Effect.gen(function* () {
  const prompts = yield* Prompts
  const limits = yield* Limits
  const readBody = yield* textReader((body) => Result.succeed(body), "promptsBodyBytes")
  return Effect.fnUntraced(function* ({ incoming }, { config, key }) {
    const prompt = yield* Effect.fromResult(promptAt(prompts, incoming.path, key))
    const sent = yield* readBody(incoming)
    const body: JsonObject = yield* Effect.fromResult(promptBody(prompt, sent, limits))
    const given = config?.model === undefined || body["model"] !== undefined ? body : { ...body, model: config.model }
    return { body, chat: yield* keepChat(incoming, yield* Effect.fromResult(readChat(given, limits))) }
  })
})

const completionsRoute = handleOperation({
  ...chatAnswers,
  operation: "chat",
  path: "/v1/prompts/:id/completions",
  read: Effect.gen(function* () {
    const prompts = yield* Prompts
    const read = yield* readPromptChat
    return Effect.fnUntraced(function* (call) {
      const { path } = call.incoming
      const given = yield* Effect.fromResult(requestContext(call))
      const prompt = yield* Effect.fromResult(promptAt(prompts, path, call.key))
      const context = granting(given, prompt, referenceOf(path))
      const { chat } = yield* read(call, context)
      return { body: chat, context }
    })
  })
})

const renderRoute = scopedRoute("inference", "POST", "/v1/prompts/:id/render", function* (call) {
  const context = yield* Effect.fromResult(requestContext(call))
  const admitUncalled = yield* admittingUncalled
  yield* admitUncalled(context.key, call.incoming)
  const read = yield* readPromptChat
  const { body } = yield* read(call, context)
  return yield* json({ success: true, data: body }, call.incoming)
})

export const PromptsHandlers = together(completionsRoute, renderRoute)
