// Who is calling: the gateway key of a request, before anything else of it is read.
// It must not know bodies, providers or their credentials.
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { presentedKey } from "../../api/Headers.ts"
import { Catalog } from "../../catalog/Catalog.ts"
import { Configs } from "../../catalog/Configs.ts"
import {
  Busy,
  ConcurrencyReached,
  type GatewayError,
  KeyInvalid,
  KeyMissing,
  ScopeMissing
} from "../../domain/GatewayError.ts"
import type { GatewayKey, KeyScope } from "../../domain/GatewayKey.ts"
import type { CatalogView } from "../../domain/ProviderAccount.ts"
import type { SlotRefused } from "../../keys/FairShares.ts"
import { GatewayKeys } from "../../keys/GatewayKeys.ts"
import { boundedRoute, type RouteMethod, type RoutePath } from "./Boundary.ts"
import type { Arrival } from "../request/RequestContexts.ts"
import { Traffic } from "../node/Traffic.ts"

/** A request of a known key. */
export interface Call {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly arrival: Arrival
  readonly key: GatewayKey
  /** The configs it may name. */
  readonly configs: Configs["Service"]
  /** The accounts there are as it comes. A change that is made while its body is read is for those that come later. */
  readonly catalog: CatalogView
}

export type KeyedHandler = (
  call: Call
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

const crowded = (refused: SlotRefused, key: GatewayKey): GatewayError =>
  refused === "all"
    ? new Busy({ code: "overloaded", retryAfterMillis: 1000 })
    : new ConcurrencyReached({ resource: "requests", limit: refused === "limit" ? key.concurrency : undefined })

/** A route for holders of a gateway key; `make` builds its handler once. */
export const keyedRoute = <R>(
  method: RouteMethod,
  path: RoutePath,
  make: Effect.Effect<KeyedHandler, never, R>,
  scope: KeyScope = "inference"
): Layer.Layer<never, never, R | GatewayKeys | Catalog | Configs | Traffic | HttpRouter.HttpRouter> =>
  boundedRoute(
    method,
    path,
    Effect.gen(function* () {
      const keys = yield* GatewayKeys
      const catalog = yield* Catalog
      const configs = yield* Configs
      const traffic = yield* Traffic
      const shares = scope === "admin" ? traffic.adminShares : traffic.shares
      const handler = yield* make
      return (request, arrival) => {
        const presented = presentedKey(arrival.headers)
        if (presented === undefined) return Effect.fail(new KeyMissing())
        return Effect.flatMapEager(keys.find(presented), (key) => {
          if (arrival.record !== undefined) arrival.record.keyId = key.id
          // A key tried on the admin API is refused as an unknown one, so that the answer does not show where it is good.
          if (!key.scopes.includes(scope))
            return Effect.fail(scope === "admin" ? new KeyInvalid() : new ScopeMissing({ scope }))
          const hold = shares.enter(key.id, key.concurrency)
          if (typeof hold === "string") return Effect.fail(crowded(hold, key))
          arrival.hold = hold
          return handler({ request, arrival, key, configs, catalog: catalog.now() })
        })
      }
    })
  )
