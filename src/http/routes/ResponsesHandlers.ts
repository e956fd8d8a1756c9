// The routes of the Responses API: a request, run as the chat it becomes; its token count; and kept responses by their id.
// It must not depend on providers, or on how a request becomes a chat. Rules: R111, R112, R223, R412, R706.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BodyInvalid, RecordUnknown, type RequestFault } from "../../domain/GatewayError.ts"
import { Carriers } from "../../store/Carriers.ts"
import { ResponseStore } from "../../store/ResponseStore.ts"
import { isResponseId, type Shown } from "../../translate/responses-to-chat/facts.ts"
import { inputItems, type ItemsAsked, readKept, shownAgain } from "../../translate/responses-to-chat/kept.ts"
import { shownBy } from "../../translate/responses-to-chat/params.ts"
import { type Call, keyedRoute, scopedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import { answer, json } from "../response/Reply.ts"
import { handleOperation, operationHandler } from "./OperationRoute.ts"
import { readTurn } from "./ReadTurn.ts"
import { explainedInTurn, ignoredInTurn, responseReplies } from "./ResponseReplies.ts"

/** The handler of a request of the Responses API, wherever its path is read. */
export const createResponse = Effect.flatMap(responseReplies, (answers) =>
  operationHandler({ ...answers, operation: "chat", read: readTurn })
)

const createRoute = keyedRoute("POST", "/v1/responses", createResponse)

/** Counting is free, so the answer has no usage. */
const countRoute = handleOperation({
  operation: "countTokens",
  path: "/v1/responses/input_tokens",
  read: readTurn,
  reply: ({ input_tokens }, served, turn, incoming) =>
    answer(
      { object: "response.input_tokens", input_tokens },
      { ...served, ignored: ignoredInTurn(turn, served.ignored) },
      undefined,
      incoming
    ),
  explained: explainedInTurn
})

export const ResponsesHandlers = together(createRoute, countRoute)

// The queries of the routes of kept responses: what is shown again of one, and a page of its input.

const queryFault = (param: string, code: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message }))

/** Lists of a query are written with brackets, with a number in them, or as a repeated name. */
const isInclude = (name: string): boolean => /^include(?:\[\d*\])?$/.test(name)

const shownQuery = (query: string): Result.Result<Omit<Shown, "summaries">, RequestFault> => {
  const params = new URLSearchParams(query)
  if (params.get("stream") === "true")
    return queryFault("stream", "unsupported_parameter", "A kept response is answered whole; leave stream out.")
  return Result.succeed(shownBy([...params].filter(([name]) => isInclude(name)).map(([, word]) => word)))
}

const mostItems = 100
const usualItems = 20

const itemsQuery = (query: string): Result.Result<ItemsAsked, RequestFault> => {
  const params = new URLSearchParams(query)
  const limit = params.get("limit") ?? String(usualItems)
  const order = params.get("order") ?? "desc"
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostItems)
    return queryFault("limit", "invalid_value", `limit is a whole number from 1 to ${mostItems}.`)
  if (order !== "asc" && order !== "desc") return queryFault("order", "invalid_value", "order is asc or desc.")
  return Result.succeed({ limit: Number(limit), order, after: params.get("after") ?? undefined })
}

// Kept responses by their id: one, its input, its deletion; and what this gateway does to none of them.

const responseIdIn = (path: string): string => path.split("/")[3] ?? ""

const unknownResponse = (id: string): RecordUnknown => new RecordUnknown({ kind: "response", id: id.slice(0, 64) })

/** A response of the caller's key; of any other one nothing is to be seen. */
const findKept = Effect.fnUntraced(function* ({ incoming, key }: Call) {
  const id = responseIdIn(incoming.path)
  const stored = isResponseId(id) ? yield* (yield* ResponseStore).get(key.id, id, incoming.hold) : undefined
  const response = stored === undefined ? undefined : readKept(stored.content)
  return response ?? (yield* unknownResponse(id))
})

const retrieve = scopedRoute("inference", "GET", "/v1/responses/:id", function* (call) {
  const shown = yield* Effect.fromResult(shownQuery(call.incoming.query))
  const response = yield* findKept(call)
  const { seal } = yield* (yield* Carriers).forKey(call.key.id)
  return yield* json(shownAgain(response, shown, seal), call.incoming)
})

const remove = scopedRoute("inference", "DELETE", "/v1/responses/:id", function* ({ incoming, key }) {
  const id = responseIdIn(incoming.path)
  const isGone = isResponseId(id) && (yield* (yield* ResponseStore).remove(key.id, id))
  return isGone ? yield* json({ id, object: "response", deleted: true }, incoming) : yield* unknownResponse(id)
})

const listInput = scopedRoute("inference", "GET", "/v1/responses/:id/input_items", function* (call) {
  const asked = yield* Effect.fromResult(itemsQuery(call.incoming.query))
  return yield* json(inputItems(yield* findKept(call), asked), call.incoming)
})

const cancel = scopedRoute("inference", "POST", "/v1/responses/:id/cancel", function* (call) {
  yield* findKept(call)
  return yield* new BodyInvalid({
    code: "response_not_cancellable",
    param: null,
    message: "Only responses made in the background can be cancelled, and there are none here."
  })
})

const compact = keyedRoute(
  "POST",
  "/v1/responses/compact",
  Effect.succeed(() =>
    Effect.fail(
      new BodyInvalid({
        code: "unsupported_operation",
        param: null,
        message: "Conversations are not compacted here; the client shortens its own input."
      })
    )
  )
)

export const KeptHandlers = together(retrieve, remove, listInput, cancel, compact)
