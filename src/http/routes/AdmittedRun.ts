// Runs a request once its key may have it run; a dry run is answered with what would be sent.
// It must not depend on bodies, or on how an answer is written.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { Prices } from "../../catalog/Prices.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import type { Admission } from "../../keys/Admission.ts"
import type { Operations } from "../../provider/Provider.ts"
import { ProviderRouter } from "../../router/ProviderRouter.ts"
import { admitting, admittingUncalled, isLimited } from "../edge/Admitting.ts"
import type { Arrival } from "../request/RequestContexts.ts"
import { json } from "../response/Reply.ts"

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

export type AdmittedRun = <Op extends keyof Operations>(
  operation: Op,
  body: Operations[Op]["request"],
  context: RequestContext,
  arrival: Arrival,
  run: () => Answered
) => Answered

/** Built once per route. A key without limits is not asked for. */
export const admittedRun: Effect.Effect<AdmittedRun, never, ProviderRouter | Admission | Prices> = Effect.gen(
  function* () {
    const router = yield* ProviderRouter
    const admit = yield* admitting
    const admitUncalled = yield* admittingUncalled
    return (operation, body, context, arrival, run) => {
      if (context.dryRun) {
        const explained = Effect.andThen(admitUncalled(context.key, arrival), router.explain(operation, body, context))
        return Effect.flatMap(explained, (shown) => json(shown, arrival))
      }
      return isLimited(context.key) ? Effect.flatMap(admit(operation, body, context, arrival), run) : run()
    }
  }
)
