// A POST route of one operation that answers at once: body in, answer or dry run out.
// It must not know providers, nor what any operation is about.
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Catalog } from "../../catalog/Catalog.ts"
import type { Configs } from "../../catalog/Configs.ts"
import type { Prices } from "../../catalog/Prices.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { Admission } from "../../keys/Admission.ts"
import type { GatewayKeys } from "../../keys/GatewayKeys.ts"
import type { Operations } from "../../provider/Provider.ts"
import { ProviderRouter } from "../../router/ProviderRouter.ts"
import { admittedRun } from "./AdmittedRun.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { type BodyLimit, bodyReader, type Check } from "../request/ReadBody.ts"
import { answer } from "../response/Reply.ts"
import { requestContext } from "../request/RequestContexts.ts"
import type { Traffic } from "../node/Traffic.ts"

export interface UnaryRoute<Op extends keyof Operations> {
  readonly path: `/v1/${string}`
  readonly operation: Op
  readonly body: Schema.Codec<Operations[Op]["request"], unknown>
  readonly check: Check<Operations[Op]["request"]>
  readonly most?: BodyLimit
  /** The answer without its extension fields. */
  readonly strictly: (full: Operations[Op]["out"]) => Operations[Op]["out"]
  /** What the answer says it used. */
  readonly usage: (full: Operations[Op]["out"]) => Usage | undefined
}

export const unaryRoute = <Op extends keyof Operations>(
  route: UnaryRoute<Op>
): Layer.Layer<
  never,
  never,
  ProviderRouter | Admission | Prices | GatewayKeys | Catalog | Configs | Traffic | HttpRouter.HttpRouter
> =>
  keyedRoute(
    "POST",
    route.path,
    Effect.gen(function* () {
      const router = yield* ProviderRouter
      const readBody = yield* bodyReader(route.body, route.check, route.most)
      const admitted = yield* admittedRun
      return Effect.fnUntraced(function* (call) {
        const { arrival, request } = call
        const context = yield* Effect.fromResult(requestContext(call))
        const body = yield* readBody(request, arrival, context.config?.model)
        return yield* admitted(route.operation, body, context, arrival, () =>
          Effect.flatMap(router.run(route.operation, body, context), ({ served, value }) =>
            answer(context.strict ? route.strictly(value) : value, served, route.usage(value), arrival)
          )
        )
      })
    })
  )
