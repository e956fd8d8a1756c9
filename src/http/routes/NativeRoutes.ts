// Finds the paths of Google's own dialects before the router sees them, since one resource has many spellings, and hands each on.
// It must not depend on bodies or providers. Rules: N101, N109, N110, N901-N903.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { MethodNotAllowed, RouteUnknown, UnsupportedOperation } from "../../domain/GatewayError.ts"
import type { NativePath } from "../../domain/native/nativePath.ts"
import { operations } from "../../domain/operations.ts"
import { keyed, type KeyedHandler } from "../edge/GatewayAuth.ts"
import { type Handler, requestLifecycle } from "../edge/RequestLifecycle.ts"
import type { Answering } from "../edge/Route.ts"
import type { Arrival } from "../node/Arrival.ts"
import { operationOf } from "./nativeBodies.ts"
import { nativeOperations } from "./NativeHandlers.ts"
import { listNatively } from "./NativeModels.ts"

/** A refusal by name, once the key is known; the body is not read. */
const refuseByName: KeyedHandler = ({ incoming }) =>
  Effect.fail(
    new UnsupportedOperation({ message: incoming.native?._tag === "NotOffered" ? incoming.native.message : "" })
  )

const unserved: Handler = ({ method, native, path }) =>
  Effect.fail(
    native?._tag === "WrongMethod"
      ? new MethodNotAllowed({ method, allow: native.allow })
      : new RouteUnknown({ method, path: path.slice(0, 256) })
  )

const listPath = "/v1beta/models/*"
const refusedPath = "/v1beta/*"

/** A handler within the lifecycle of a route, by the template under which its requests are counted. */
const bounded = <R>(method: string, template: string, make: Effect.Effect<Handler, never, R>) =>
  Effect.flatMap(requestLifecycle(method, template), (bind) => Effect.map(make, bind))

const ofOperation = <R>(template: string, make: Effect.Effect<KeyedHandler, never, R>) =>
  bounded("POST", template, keyed(make))

/** The answer to each kind of path, made once. */
const answers = Effect.gen(function* () {
  const calls = {
    nativeContent: yield* ofOperation(operations.nativeContent.path, nativeOperations.nativeContent),
    nativeEmbeddings: yield* ofOperation(operations.nativeEmbeddings.path, nativeOperations.nativeEmbeddings),
    nativePredictions: yield* ofOperation(operations.nativePredictions.path, nativeOperations.nativePredictions),
    nativeCount: yield* ofOperation(operations.nativeCount.path, nativeOperations.nativeCount),
    messages: yield* ofOperation(operations.messages.alsoAt[0], nativeOperations.messages),
    messagesCountTokens: yield* ofOperation(
      operations.messagesCountTokens.alsoAt[0],
      nativeOperations.messagesCountTokens
    )
  }
  const models = yield* bounded("GET", listPath, keyed(Effect.succeed(listNatively)))
  const refused = yield* bounded("_OTHER", refusedPath, keyed(Effect.succeed(refuseByName)))
  const other = yield* bounded("_OTHER", "unmatched", Effect.succeed(unserved))
  return (path: NativePath): Answering => {
    switch (path._tag) {
      case "Call":
        return calls[operationOf(path)]
      case "Models":
        return models
      case "NotOffered":
        return refused
      case "WrongMethod":
      case "Unknown":
        return other
    }
  }
})

/** A client that asked for a socket gets its refusal and no second request (N902). */
const closing = HttpServerResponse.setHeader("connection", "close")

/** Answers the paths of Google's dialects; undefined for every other request. */
export const NativeRoutes: Effect.Effect<
  (arrival: Arrival) => ReturnType<Answering> | undefined,
  never,
  Effect.Services<typeof answers>
> = Effect.map(answers, (answerOf) => (arrival) => {
  const { headers, native } = arrival
  if (native === undefined) return undefined
  const answer = answerOf(native)(arrival)
  return headers["upgrade"] === undefined ? answer : Effect.map(answer, closing)
})
