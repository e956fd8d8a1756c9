// A chat body answered as the caller wants it: completion, stream or dry run.
// It must not know providers, or where the body came from.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { Prices } from "../../catalog/Prices.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { Limits } from "../../domain/Limits.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import type { Admission } from "../../keys/Admission.ts"
import { ProviderRouter } from "../../router/ProviderRouter.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { pulse } from "../response/Pulse.ts"
import { completion, events } from "../response/Reply.ts"
import type { Arrival } from "../request/RequestContexts.ts"
import { admittedRun } from "./AdmittedRun.ts"

export type ChatAnswer = (
  body: ChatRequest,
  context: RequestContext,
  arrival: Arrival
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

/** The answer path of every route that ends in a chat; built once per route. */
export const chatAnswer: Effect.Effect<ChatAnswer, never, ProviderRouter | Admission | Prices> = Effect.gen(
  function* () {
    const router = yield* ProviderRouter
    const limits = yield* Limits
    const admitted = yield* admittedRun
    const answer: ChatAnswer = (body, context, arrival) => {
      if (body.stream !== true) {
        return Effect.flatMap(router.run("chat", body, context), ({ served, value }) =>
          completion(value, served, context.strict, arrival)
        )
      }
      const options = { strict: context.strict, usage: body.stream_options?.["include_usage"] === true }
      return Effect.flatMap(router.open("chat", body, context), (opened) =>
        Effect.flatMap(pulse(arrival.node, limits.pingMillis), (beat) => events(opened, options, arrival, beat))
      )
    }
    return (body, context, arrival) => admitted("chat", body, context, arrival, () => answer(body, context, arrival))
  }
)
