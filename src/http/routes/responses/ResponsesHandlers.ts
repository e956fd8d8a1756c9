// POST /v1/responses and its token count: a request of the Responses API, run as the chat it becomes.
// It must not depend on providers, or on how a request becomes a chat.
import * as Effect from "effect/Effect"
import { type Call, keyedRoute } from "../../edge/GatewayAuth.ts"
import { together } from "../../edge/Route.ts"
import { requestContext } from "../../request/requestContext.ts"
import { answer } from "../../response/Reply.ts"
import { runningOperation } from "../OperationRoute.ts"
import { readTurn } from "./ReadTurn.ts"
import { ignoredInTurn, responseReplies } from "./ResponseReplies.ts"

/** The handler of a request of the Responses API, wherever its path is read. */
export const createResponse = Effect.gen(function* () {
  const run = yield* runningOperation
  const read = yield* readTurn
  const replies = yield* responseReplies
  return Effect.fnUntraced(function* (call: Call) {
    const context = yield* Effect.fromResult(requestContext(call))
    const turn = yield* read(call, context)
    return yield* run("chat", turn.chat, turn.context, call.incoming, replies(turn, call.incoming))
  })
})

const create = keyedRoute("POST", "/v1/responses", createResponse)

/** Counting is free, so the answer has no usage. */
const countTokens = keyedRoute(
  "POST",
  "/v1/responses/input_tokens",
  Effect.gen(function* () {
    const run = yield* runningOperation
    const read = yield* readTurn
    return Effect.fnUntraced(function* (call) {
      const context = yield* Effect.fromResult(requestContext(call))
      const turn = yield* read(call, context)
      return yield* run("countTokens", turn.chat, turn.context, call.incoming, {
        reply: ({ input_tokens }, served) =>
          answer(
            { object: "response.input_tokens", input_tokens },
            { ...served, ignored: ignoredInTurn(turn, served.ignored) },
            undefined,
            call.incoming
          ),
        stream: undefined,
        explained: (shown) => ({ ...shown, ignored_params: ignoredInTurn(turn, shown.ignored_params) })
      })
    })
  })
)

export const ResponsesHandlers = together(create, countTokens)
