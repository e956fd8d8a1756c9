// Who is calling: the gateway key of a request, before anything else of it is read.
// It must not know bodies, providers or their credentials.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import { presentedKey } from "../api/Headers.ts"
import { KeyMissing } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { GatewayKeys } from "../keys/GatewayKeys.ts"

/** The record of the key this request came with. */
export class CurrentKey extends Context.Service<CurrentKey, GatewayKey>()("gateway/http/CurrentKey") {}

/** Lets a request pass with a known gateway key only; routes without it do not compile where they need the key. */
export const GatewayAuth = HttpRouter.middleware<{ provides: CurrentKey }>()(
  Effect.gen(function*() {
    const keys = yield* GatewayKeys
    return (app) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const presented = presentedKey(request.headers)
        if (presented === undefined) return yield* Effect.fail(new KeyMissing())
        const key = yield* keys.find(Redacted.make(presented))
        return yield* Effect.provideService(app, CurrentKey, key)
      })
  })
)
