// Reads a request of the Responses API, with its prompt and what it continues or means by id; the outcome is the chat it becomes.
// It must not depend on how a chat is run or answered. Rules: R112, R217, R225, R228, R302, R405, R708.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { inTurn } from "../../batching/OwnTurn.ts"
import { Prompts } from "../../catalog/Catalog.ts"
import {
  BodyInvalid,
  type BodyTooLarge,
  type GatewayError,
  RecordUnknown,
  UnsupportedParameter
} from "../../domain/GatewayError.ts"
import { valuesIn } from "../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject, jsonObjectOf } from "../../domain/text/json.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { bytesOfValues, type RequestContext, type Room } from "../../domain/RequestContext.ts"
import { checkChat } from "../../operations/checks.ts"
import { innerValues } from "../../translate/shared/chat-request/toolCalls.ts"
import { Carriers, type CarrierSeal, digestOfText } from "../../store/Carriers.ts"
import { ResponseStore } from "../../store/ResponseStore.ts"
import {
  isResponseId,
  paramOf,
  type RenderedPrompt,
  type RequestFacts,
  responseIdOf,
  responseOfItem,
  type ResponsesChat,
  type StoredTurn
} from "../../translate/responses-to-chat/facts.ts"
import { itemFinder, readKept, turnOf } from "../../translate/responses-to-chat/kept.ts"
import { neededOf } from "../../translate/responses-to-chat/items.ts"
import { readResponsesRequest, requestToChat } from "../../translate/responses-to-chat/request.ts"
import type { ResponsesRequest } from "../../wire/openai/Responses.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Call } from "../edge/GatewayAuth.ts"
import { bodyDecoder, takeValues, textReader } from "../request/ReadBody.ts"
import { requestContext } from "../request/requestContext.ts"
import type { Asked } from "./OperationRoute.ts"
import { granting, promptBody, promptOf } from "./PromptsHandlers.ts"

// The prompt of the gateway that a request of the Responses API names, rendered, and what its key is granted with it.

interface Prompted {
  readonly prompt: RenderedPrompt | undefined
  readonly context: RequestContext
}

type ReadPrompt = (
  given: Readonly<Record<string, unknown>> | undefined,
  context: RequestContext
) => Result.Result<Prompted, GatewayError>

const promptFault = (param: string, code: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message }))

/** `id`, or `id@version`. */
const promptReference = ({ id, version }: Readonly<Record<string, unknown>>): Result.Result<string, BodyInvalid> => {
  if (typeof id !== "string" || id === "")
    return promptFault("prompt.id", "invalid_type", "prompt.id must be a string.")
  if (version === undefined || version === null) return Result.succeed(id)
  return typeof version === "string" || typeof version === "number"
    ? Result.succeed(`${id}@${version}`)
    : promptFault("prompt.version", "invalid_type", "prompt.version must be a string.")
}

const promptVariables = (variables: unknown): Result.Result<Json, BodyInvalid> => {
  if (variables === undefined || variables === null) return Result.succeed({})
  if (!isJsonObject(variables))
    return promptFault("prompt.variables", "invalid_type", "prompt.variables must be an object of texts.")
  const other = Object.entries(variables).find(([, value]) => typeof value !== "string")
  return other === undefined
    ? Result.succeed(variables)
    : promptFault(`prompt.variables.${other[0]}`, "invalid_type", "A variable of a prompt must be a string.")
}

/** The variables stand inside `prompt` here. */
const withinPrompt = <E extends BodyInvalid | BodyTooLarge>(fault: E | BodyInvalid): E | BodyInvalid =>
  fault._tag === "BodyInvalid" && fault.param?.startsWith("variables") === true
    ? new BodyInvalid({ code: fault.code, param: `prompt.${fault.param}`, message: fault.message })
    : fault

/** Built once per route. */
const promptReader: Effect.Effect<ReadPrompt, never, Prompts> = Effect.gen(function* () {
  const prompts = yield* Prompts
  const limits = yield* Limits
  const decode = bodyDecoder(ChatRequest, checkChat)
  return (given, context) =>
    given === undefined
      ? Result.succeed({ prompt: undefined, context })
      : Result.gen(function* () {
          const reference = yield* promptReference(given)
          const variables = yield* promptVariables(given["variables"])
          const ready = promptOf(prompts, reference, context.key)
          if (ready === undefined)
            return yield* Result.fail(new RecordUnknown({ kind: "prompt", id: reference.slice(0, 256) }))
          const body = yield* Result.mapError(promptBody(ready, { variables }, limits), withinPrompt)
          const chat = yield* decode(body, limits)
          const { messages, model, ...parameters } = chat
          return {
            prompt: { messages, model, parameters: jsonObjectOf(parameters) },
            context: granting(context, ready, reference)
          }
        })
})

// Reads a request of the Responses API and loads what it continues or means by id; the outcome is the chat it becomes.

/** One request as a chat, in its full form with the order of its parts, and what its answer needs. */
export interface Turn extends Asked<"chat">, Omit<ResponsesChat, "chat"> {
  /** The id of the response. */
  readonly id: string
  readonly carriers: CarrierSeal
}

type ReadTurn = (call: Call) => Effect.Effect<Turn, GatewayError>

const invalid = (param: string, code: string, message: string) => new BodyInvalid({ code, param, message })

const previousUnknown = (id: string): BodyInvalid =>
  invalid("previous_response_id", "previous_response_not_found", `Previous response with id '${id}' not found.`)

const tooLong: BodyInvalid = invalid(
  "previous_response_id",
  "context_length_exceeded",
  "The conversation that previous_response_id continues is longer than this gateway reads."
)

type Store = ResponseStore["Service"]

const turnIn = (content: JsonObject): StoredTurn | undefined => {
  const response = readKept(content)
  return response === undefined ? undefined : turnOf(response)
}

/** The stored turns before this request, the oldest first. */
const history = Effect.fnUntraced(function* (
  store: Store,
  keyId: string,
  previous: string | undefined,
  mostValues: number,
  room: Room | undefined
) {
  if (previous === undefined) return []
  if (!isResponseId(previous)) return yield* previousUnknown(previous.slice(0, 64))
  const chain = yield* store.chain(keyId, previous, room)
  if (chain._tag === "Missing") return yield* previousUnknown(chain.id)
  if (chain._tag === "TooLong") return yield* tooLong
  const turns: Array<StoredTurn> = []
  let values = 0
  for (const { content, id } of chain.turns) {
    const turn = yield* inTurn(room?.size, () => Effect.succeed(turnIn(content)))
    if (turn === undefined) return yield* previousUnknown(id)
    turns.push(turn)
    const turnValues = valuesIn(turn)
    values += turnValues
    if (values > mostValues) return yield* tooLong
    // The echo of the request is dropped here.
    room?.give(Math.max(0, bytesOfValues(valuesIn(content)) - bytesOfValues(turnValues)))
  }
  return turns
})

/** Finds the items that the request means by id. */
const storedItems = Effect.fnUntraced(function* (
  store: Store,
  keyId: string,
  ids: ReadonlyArray<string>,
  { messages }: LimitValues,
  room: Room | undefined
) {
  if (ids.length > messages)
    return yield* invalid("input", "array_too_long", `input holds more than ${messages} items.`)
  const responses = new Set(ids.map(responseOfItem).filter((id) => id !== undefined))
  const storedResponses = yield* store.some(keyId, [...responses], room)
  if (storedResponses === undefined)
    return yield* invalid(
      "input",
      "context_length_exceeded",
      "The responses that input refers to are together larger than this gateway reads."
    )
  const finders = new Map<string, ReturnType<typeof itemFinder>>()
  for (const [id, { content }] of storedResponses) {
    const response = yield* inTurn(room?.size, () => Effect.succeed(readKept(content)))
    if (response !== undefined) finders.set(id, itemFinder(response))
  }
  return (itemId: string) => finders.get(responseOfItem(itemId) ?? "")?.(itemId)
})

/** The body with the model of the config, where neither the body nor its prompt has one. */
const withModel = (body: ResponsesRequest, ofPrompt: boolean, model: string | undefined): ResponsesRequest =>
  model === undefined || ofPrompt || (body.model ?? undefined) !== undefined ? body : { ...body, model }

/** A request that wants nothing ignored is refused by the first thing that would be. */
const ignoredFault = (
  { ignored: [param] }: Pick<ResponsesChat, "ignored">,
  { unsupported }: RequestContext
): UnsupportedParameter | undefined =>
  param === undefined || unsupported !== "reject"
    ? undefined
    : new UnsupportedParameter({
        param,
        message: `"${param}" has no effect here, and the request asked for refusal of such parameters.`
      })

/** Built once per route. */
export const readTurn: Effect.Effect<ReadTurn, never, Carriers | Prompts | ResponseStore> = Effect.gen(function* () {
  const store = yield* ResponseStore
  const carriers = yield* Carriers
  const limits = yield* Limits
  const readPrompt = yield* promptReader
  const readBody = yield* textReader((sent, _bytes, left) => Result.succeed({ sent, left }))
  const load = Effect.fnUntraced(function* (
    body: JsonObject,
    keyId: string,
    { jsonValues }: LimitValues,
    room: Room | undefined
  ) {
    const { items, previous } = neededOf(body)
    return {
      history: yield* history(store, keyId, previous, jsonValues, room),
      stored: yield* storedItems(store, keyId, items, limits, room)
    }
  })
  return Effect.fnUntraced(function* (call) {
    const { incoming, key } = call
    const given = yield* Effect.fromResult(requestContext(call))
    const { left, sent } = yield* readBody(incoming)
    const body = yield* Effect.fromResult(readResponsesRequest(sent))
    const { context, prompt } = yield* Effect.fromResult(readPrompt(body.prompt ?? undefined, given))
    const sealing = yield* carriers.forKey(key.id)
    const facts: RequestFacts = {
      id: responseIdOf(given.idSeed),
      ...(yield* load(sent, key.id, left, incoming.hold)),
      prompt,
      unseal: sealing.unseal,
      digest: digestOfText,
      keeps: store.keeps,
      rejects: given.unsupported === "reject"
    }
    const model = withModel(body, prompt !== undefined, given.config?.model)
    const { chat, ...read } = yield* inTurn(incoming.hold?.size, () => Effect.fromResult(requestToChat(model, facts)))
    const fault = ignoredFault(read, given)
    if (fault !== undefined) return yield* fault
    const { paths } = read.plan
    incoming.wordOf = (param) => paramOf(paths, param)
    yield* Effect.fromResult(checkChat(chat, left))
    const shortage = takeValues(incoming, innerValues(chat))
    if (shortage !== undefined) return yield* shortage
    return {
      ...read,
      body: chat,
      context: { ...context, strict: false, ordered: true },
      id: facts.id,
      carriers: sealing
    }
  })
})
