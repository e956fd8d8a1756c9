// POST /admin/v1/dry-runs: what an upstream would get of a body, under any key and config. Nothing is sent or counted.
// It must not depend on how a body is read or translated: the handlers of the routes themselves answer.
import * as Effect from "effect/Effect"
import { Administration } from "../admin/Administration.ts"
import { requestHeaderNames } from "../api/Headers.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import { compileKey, type GatewayKey } from "../domain/GatewayKey.ts"
import { type Call, type KeyedHandler, keyedRoute } from "./edge/GatewayAuth.ts"
import type { IncomingRequest } from "./request/IncomingRequest.ts"
import { chatRoute, embeddingsRoute, imagesRoute, messagesRoute } from "./routes/OperationHandlers.ts"
import { nativeOperations, operationOf } from "./routes/NativeRoutes.ts"
import { operationHandler } from "./routes/OperationRoute.ts"
import { createResponse } from "./routes/ResponsesHandlers.ts"
import { type DryRunQuery, dryRunQuery } from "./admin/adminQuery.ts"

/** The handlers of the routes that have dry runs. */
const handlers = Effect.all({
  "/v1/chat/completions": operationHandler(chatRoute),
  "/v1/messages": operationHandler(messagesRoute),
  "/v1/responses": createResponse,
  "/v1/embeddings": operationHandler(embeddingsRoute),
  "/v1/images/generations": operationHandler(imagesRoute),
  ...nativeOperations
})

/** The body stays; of the headers those that describe it. */
const asDryRun = (
  incoming: IncomingRequest,
  { config, path, provider, query, route }: DryRunQuery
): IncomingRequest => ({
  ...incoming,
  path,
  query,
  native: typeof route === "string" ? undefined : route,
  recorder: undefined,
  hasOptions: true,
  headers: {
    "content-type": incoming.headers["content-type"],
    "content-length": incoming.headers["content-length"],
    "content-encoding": incoming.headers["content-encoding"],
    expect: incoming.headers["expect"],
    [requestHeaderNames.dryRun.name]: "true",
    [requestHeaderNames.config.name]: config,
    [requestHeaderNames.provider.name]: provider
  }
})

/** An admin sees the addresses of upstreams, whichever key it chooses, and uses nothing of its limits. */
const unlimited = ({ budget: _budget, rate_limit: _rateLimit, ...key }: GatewayKey): GatewayKey => ({
  ...key,
  scopes: [...key.scopes, "admin"]
})

export const DryRuns = keyedRoute(
  "POST",
  "/admin/v1/dry-runs",
  Effect.gen(function* () {
    const { keys } = yield* Administration
    const answers = yield* handlers
    const answerOf = ({ route }: DryRunQuery): KeyedHandler =>
      answers[typeof route === "string" ? route : operationOf(route)]
    const keyOf = (id: string): Effect.Effect<GatewayKey, GatewayError> =>
      Effect.map(keys.get(id), (entry) => compileKey(id, entry))
    return Effect.fnUntraced(function* (call: Call) {
      const query = yield* Effect.fromResult(dryRunQuery(call.incoming.url))
      const key = query.key === undefined ? call.key : yield* keyOf(query.key)
      return yield* answerOf(query)({ ...call, key: unlimited(key), incoming: asDryRun(call.incoming, query) })
    })
  }),
  "admin"
)
