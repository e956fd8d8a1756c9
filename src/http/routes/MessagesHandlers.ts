// POST /v1/messages and its token count: native body in, the upstream's own answer, stream or dry run out.
// It must not know providers, or what a native body holds beyond what is read of it.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Limits } from "../../domain/Limits.ts"
import { ProviderRouter } from "../../router/ProviderRouter.ts"
import { readCounted, readMessages } from "../../translate/messages-to-claude.ts"
import { frame } from "../../wire/frames.ts"
import { checkModel } from "../../router/bodyChecks.ts"
import { admittedRun } from "./AdmittedRun.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { pulse } from "../response/Pulse.ts"
import { textReader } from "../request/ReadBody.ts"
import { passed, passedEvents } from "../response/Reply.ts"
import { requestContext } from "../request/RequestContexts.ts"

/** The event with which Anthropic itself keeps a silent stream alive. */
const pingFrame = frame('{"type": "ping"}', "ping")

const reader = (read: typeof readMessages) =>
  textReader((body, bytes) =>
    Result.flatMap(read(body, bytes), (request) => Result.map(checkModel(request.model), () => request))
  )

const answers = keyedRoute(
  "POST",
  "/v1/messages",
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const limits = yield* Limits
    const readBody = yield* reader(readMessages)
    const admitted = yield* admittedRun
    return Effect.fnUntraced(function* (call) {
      const { arrival, request } = call
      const context = yield* Effect.fromResult(requestContext(call))
      const body = yield* readBody(request, arrival, context.config?.model)
      return yield* admitted("messages", body, context, arrival, () =>
        body.stream
          ? Effect.flatMap(router.open("messages", body, context), (opened) =>
              Effect.flatMap(pulse(arrival.node, limits.pingMillis, pingFrame), (beat) =>
                passedEvents(opened, arrival, beat)
              )
            )
          : Effect.flatMap(router.run("messages", body, context), ({ served, value }) => passed(value, served, arrival))
      )
    })
  })
)

const counts = keyedRoute(
  "POST",
  "/v1/messages/count_tokens",
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const readBody = yield* reader(readCounted)
    const admitted = yield* admittedRun
    return Effect.fnUntraced(function* (call) {
      const { arrival, request } = call
      const context = yield* Effect.fromResult(requestContext(call))
      const body = yield* readBody(request, arrival, context.config?.model)
      return yield* admitted("messagesCountTokens", body, context, arrival, () =>
        Effect.flatMap(router.run("messagesCountTokens", body, context), ({ served, value }) =>
          passed(value, served, arrival)
        )
      )
    })
  })
)

export const MessagesHandlers = Layer.merge(answers, counts)
