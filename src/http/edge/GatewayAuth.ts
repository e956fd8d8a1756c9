// Finds the gateway key of a request before anything else of the request is read.
// It must not depend on bodies, providers or their credentials.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import { foreignForm, presentedKeys } from "../../api/clientRequests.ts"
import { Catalog, Configs } from "../../catalog/Catalog.ts"
import {
  Busy,
  ConcurrencyReached,
  type GatewayError,
  KeyInvalid,
  KeyMissing,
  ScopeMissing,
  type StoreUnavailable
} from "../../domain/GatewayError.ts"
import type { GatewayKey, KeyScope } from "../../domain/GatewayKey.ts"
import type { CatalogView } from "../../domain/ProviderAccount.ts"
import { SharedSlots, type SlotRefused } from "../../keys/FairShares.ts"
import { GatewayKeys } from "../../keys/GatewayKeys.ts"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { Traffic } from "../node/Traffic.ts"
import { type Handler, lifecycleRoute } from "./RequestLifecycle.ts"
import type { RouteMethod, RoutePath, Routes } from "./Route.ts"
import { sessionKey } from "./ConsoleAuth.ts"

/** A request of a known key. */
export interface Call {
  readonly incoming: IncomingRequest
  readonly key: GatewayKey
  /** Looks the key up again. It fails when the key, or the console session, has ended since. */
  readonly known: Effect.Effect<{ readonly key: GatewayKey }, GatewayError>
  /** The key as the request presents it. It is kept out of the credentials of providers. */
  readonly keyText: string
  /** The configs it may name. */
  readonly configs: Configs["Service"]
  /** The accounts at the time of the request. A change while its body is read counts for later requests. */
  readonly catalog: CatalogView
}

export type KeyedHandler = (
  call: Call
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

const crowded = (refused: SlotRefused, key: GatewayKey): GatewayError =>
  refused === "all"
    ? new Busy({ code: "overloaded", retryAfterMillis: 1000 })
    : new ConcurrencyReached({ resource: "requests", limit: refused === "limit" ? key.concurrency : undefined })

type KeyedServices = GatewayKeys | Catalog | Configs | Traffic

/** A known key, and the text that presents it. */
interface Known {
  readonly key: GatewayKey
  readonly keyText: string
}

const keyInvalid = (text: string): KeyInvalid => {
  const looksLike = foreignForm(text)
  return new KeyInvalid(looksLike === undefined ? {} : { looksLike })
}

/** The first text that is a known key. Without one the fault of the first text counts. */
const firstKnown = (
  { find }: GatewayKeys["Service"],
  [first, ...others]: ReadonlyArray<string>
): Effect.Effect<Known, KeyMissing | KeyInvalid | StoreUnavailable> => {
  const known = (keyText: string) => Effect.mapEager(find(keyText), (key): Known => ({ key, keyText }))
  if (first === undefined) return Effect.fail(new KeyMissing())
  const search = others.reduce(
    (before, text) => Effect.catch(before, (fault) => Effect.mapError(known(text), () => fault)),
    known(first)
  )
  return Effect.mapErrorEager(search, (fault) => (fault._tag === "KeyInvalid" ? keyInvalid(first) : fault))
}

/** A route for holders of a gateway key; `make` builds its handler once. */
export const keyedRoute = <R, Method extends RouteMethod>(
  method: Method,
  path: RoutePath<Method>,
  make: Effect.Effect<KeyedHandler, never, R>,
  scope: KeyScope = "inference"
): Routes<R | KeyedServices> => lifecycleRoute(method, path, keyed(make, scope))

/** A handler for holders of a gateway key of this scope. */
export const keyed = <R>(
  make: Effect.Effect<KeyedHandler, never, R>,
  scope: KeyScope = "inference"
): Effect.Effect<Handler, never, R | KeyedServices> =>
  Effect.gen(function* () {
    const keys = yield* GatewayKeys
    const catalog = yield* Catalog
    const configs = yield* Configs
    const traffic = yield* Traffic
    const shares = scope === "admin" ? traffic.adminShares : traffic.shares
    const slots = yield* SharedSlots
    const sessions = scope === "admin" ? yield* ConsoleSessions : undefined
    const handler = yield* make
    return (incoming) => {
      const presented = presentedKeys(incoming.headers, incoming.queryKey)
      const session = presented.length === 0 ? sessionKey(sessions, incoming) : undefined
      const search: Effect.Effect<Known, GatewayError> =
        session === undefined
          ? firstKnown(keys, presented)
          : Effect.map(session, (key): Known => ({ key, keyText: "" }))
      return Effect.flatMapEager(search, ({ key, keyText }) => {
        incoming.recorder?.keyed(key)
        // A key tried on the admin API is refused as an unknown one, so that the answer does not show where it is good.
        if (!key.scopes.includes(scope))
          return Effect.fail(scope === "admin" ? keyInvalid(keyText) : new ScopeMissing({ scope }))
        const hold = shares.enter(key.id, key.concurrency)
        if (typeof hold === "string") return Effect.fail(crowded(hold, key))
        incoming.hold = hold
        const call = { incoming, key, known: search, keyText, configs, catalog: catalog.now() }
        if (slots === undefined || key.concurrency === undefined) return handler(call)
        // A slot that was taken is freed with the hold, so nothing may come between the two.
        const entered = Effect.uninterruptible(
          Effect.map(slots.enter(key.id, key.concurrency), (free) => {
            hold.freeShared = free
            return free !== undefined
          })
        )
        return Effect.flatMap(entered, (isEntered) => {
          if (isEntered) return handler(call)
          shares.refused("requests")
          return Effect.fail(crowded("limit", key))
        })
      })
    }
  })

/**
 * A route that costs little to answer, as steps. What its handler asks for is that of the place where routes are made;
 * only the scope is that of the request.
 */
export function scopedRoute<Method extends RouteMethod, Step extends Effect.Effect<unknown, GatewayError, unknown>>(
  scope: KeyScope,
  method: Method,
  path: RoutePath<Method>,
  handler: (call: Call) => Generator<Step, HttpServerResponse.HttpServerResponse, never>
): Routes<Exclude<Effect.Services<Step>, Scope.Scope> | KeyedServices>
export function scopedRoute<Method extends RouteMethod>(
  scope: KeyScope,
  method: Method,
  path: RoutePath<Method>,
  handler: (
    call: Call
  ) => Generator<Effect.Effect<unknown, GatewayError, unknown>, HttpServerResponse.HttpServerResponse, never>
): Routes<unknown> {
  const run = Effect.fnUntraced(handler)
  const make = Effect.contextWith((services: Context.Context<unknown>) =>
    Effect.succeed((call: Call) =>
      Effect.flatMap(Effect.scope, (ofRequest) =>
        Effect.provideContext(run(call), Context.add(services, Scope.Scope, ofRequest))
      )
    )
  )
  return keyedRoute(method, path, make, scope)
}
