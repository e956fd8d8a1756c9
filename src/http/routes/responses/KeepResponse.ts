// Keeps whole answers of the Responses API before the client learns that they are whole, and counts those that are not kept.
// It must not depend on how an answer reaches the client. Rules: R411, R701, R703, R709.
import * as Effect from "effect/Effect"
import { metrics } from "../../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../../telemetry/Series.ts"
import { ResponseStore } from "../../../store/ResponseStore.ts"
import type { AnswerFinished } from "../../../translate/responses-to-chat/answer/envelope.ts"
import { keptContent } from "../../../translate/responses-to-chat/kept.ts"
import { responsesToChat } from "../../../translate/responses-to-chat/ResponsesToChat.ts"
import type { ResponseObject } from "../../../wire/openai/responses/Response.ts"
import type { Turn } from "./ReadTurn.ts"

/** The answer as it goes out; `promised`: a stream has shown before whether it will be kept. */
export type KeepResponse = (turn: Turn, finished: AnswerFinished, promised: boolean) => Effect.Effect<ResponseObject>

/** Built once per route. */
export const keepingResponses: Effect.Effect<KeepResponse, never, ResponseStore> = Effect.gen(function* () {
  const store = yield* ResponseStore
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  // A series begins with its first event.
  const cut = () => registry.counter(metrics.carriersCut, {})
  const unstored = (reason: "too_large" | "unavailable") => registry.counter(metrics.responsesUnstored, { reason })

  /** Whether the client may take it for kept. */
  const keep = ({ context, id, plan }: Turn, finished: AnswerFinished, response: ResponseObject, promised: boolean) =>
    Effect.match(
      store.keep({
        id,
        keyId: context.key.id,
        status: response.status === "incomplete" ? "incomplete" : "completed",
        previousId: plan.echo.previous_response_id ?? undefined,
        content: keptContent(response, finished, plan)
      }),
      {
        onSuccess: (isKept) => {
          if (!isKept) unstored("too_large").add(1)
          return isKept
        },
        onFailure: () => {
          unstored("unavailable").add(1)
          return promised
        }
      }
    )

  return (turn, finished, promised) =>
    Effect.clockWith((clock) => {
      if (finished.cut > 0) cut().add(1)
      const seconds = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
      const stamped = (isKept: boolean) => responsesToChat.stamp(finished, { seconds, isKept })
      return turn.plan.keep
        ? Effect.map(keep(turn, finished, stamped(true), promised), stamped)
        : Effect.succeed(stamped(false))
    })
})
