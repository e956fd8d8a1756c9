// Carries a request through the route of any operation: context, body, admission, then a dry run, an answer or a stream.
// It must not depend on a provider, or on what an operation is about.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { inTurn } from "../../batching/OwnTurn.ts"
import type { Catalog, Configs } from "../../catalog/Catalog.ts"
import type { Prices } from "../../catalog/Prices.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { isLimited } from "../../domain/GatewayKey.ts"
import { type Operation, type NativeOperation, operations } from "../../domain/operations.ts"
import type { RequestContext, ServedBy } from "../../domain/RequestContext.ts"
import type { Admission } from "../../keys/Admission.ts"
import type { GatewayKeys } from "../../keys/GatewayKeys.ts"
import type { Operations } from "../../provider/Provider.ts"
import { type AdmitMore, type Explained, type OpenedStream, ProviderRouter } from "../../router/ProviderRouter.ts"
import { admitting, admittingUncalled } from "../edge/Admitting.ts"
import { type Call, keyedRoute, type KeyedHandler } from "../edge/GatewayAuth.ts"
import type { RoutePath, Routes } from "../edge/Route.ts"
import type { Traffic } from "../node/Traffic.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import type { ReadBody } from "../request/ReadBody.ts"
import { requestContext } from "../request/requestContext.ts"
import { clientWords, explainedInClientsWords, servedInClientsWords } from "../response/clientWords.ts"
import { json } from "../response/Reply.ts"

type Body<Op extends Operation> = Operations[Op]["request"]
type Response<R = never> = Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>

/** A request as its route has read it: body, context, and what the route adds for its answer. */
export interface Asked<Op extends Operation> {
  readonly body: Body<Op>
  readonly context: RequestContext
}

/** How a route answers its requests. */
export interface OperationAnswers<Op extends Operation, A extends Asked<Op>> {
  /** Writes a complete answer. */
  readonly reply: (value: Operations[Op]["out"], served: ServedBy, asked: A, incoming: IncomingRequest) => Response
  readonly stream?: {
    readonly isAsked: (body: Body<Op>) => boolean
    /** Writes the events of a stream. */
    readonly reply: (
      opened: OpenedStream<Operations[Op]["chunk"]>,
      asked: A,
      incoming: IncomingRequest
    ) => Response<Scope.Scope>
  }
  /** Changes what a dry run shows; undefined for nothing. */
  readonly explained?: (explained: Explained, asked: A) => Explained
}

/** What differs between operations. */
export interface OperationRoute<Op extends Operation, R, A extends Asked<Op> = Asked<Op>> extends OperationAnswers<
  Op,
  A
> {
  readonly operation: Op
  /** A further route that ends in this operation; without it the operation's own path. */
  readonly path?: RoutePath<"POST">
  /** Reads and checks a request; built once per route. */
  readonly read: Effect.Effect<(call: Call) => Effect.Effect<A, GatewayError>, never, R>
}

/** Reads context and body. A body without a model has the one of the config. */
export const askedBy = <A, R>(
  reader: Effect.Effect<ReadBody<A>, never, R>,
  readContext: (call: Call) => Result.Result<RequestContext, GatewayError> = requestContext
) =>
  Effect.map(reader, (read) => (call: Call) => {
    const fixed = readContext(call)
    if (Result.isFailure(fixed)) return Effect.fail(fixed.failure)
    const context = fixed.success
    return Effect.mapEager(read(call.incoming, context.config?.model), (body) => ({ body, context }))
  })

/** The deadline of the request passed before it was admitted. */
const late = Symbol("late")

/** A late request is not called either: the router refuses it as past its deadline. */
const admitInTime = <A, E>(
  admitted: Effect.Effect<A, E>,
  { deadlineMillis }: RequestContext
): Effect.Effect<A | typeof late, E> =>
  deadlineMillis === undefined
    ? admitted
    : Effect.clockWith((clock) =>
        Effect.timeoutOrElse(admitted, {
          duration: Math.max(0, deadlineMillis - clock.currentTimeMillisUnsafe()),
          orElse: () => Effect.succeed(late)
        })
      )

export type OperationServices = ProviderRouter | Admission | Prices | GatewayKeys | Catalog | Configs | Traffic

/** The route of an operation. */
export const handleOperation = <Op extends Exclude<Operation, NativeOperation>, R, A extends Asked<Op>>(
  route: OperationRoute<Op, R, A>
): Routes<R | OperationServices> =>
  keyedRoute("POST", route.path ?? operations[route.operation].path, operationHandler(route))

/**
 * The handler of an operation, wherever its path is read: body, admission, then a dry run, an answer or a stream. A key
 * without limits is not asked for admission.
 */
export const operationHandler = <Op extends Operation, R, A extends Asked<Op>>({
  explained = (shown) => shown,
  operation,
  read: makeRead,
  reply,
  stream
}: OperationRoute<Op, R, A>): Effect.Effect<KeyedHandler, never, R | ProviderRouter | Admission | Prices> =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const admit = yield* admitting
    const admitUncalled = yield* admittingUncalled
    const read = yield* makeRead

    const dryRun = (asked: A, incoming: IncomingRequest) =>
      Effect.flatMap(
        Effect.andThen(
          admitUncalled(asked.context.key, incoming),
          router.explain(operation, asked.body, asked.context)
        ),
        (shown) => json(explained(explainedInClientsWords(shown, clientWords(operation, incoming)), asked), incoming)
      )

    /** `context` is that of the call to the router. */
    const run = (asked: A, context: RequestContext, incoming: IncomingRequest, admitMore?: AdmitMore) => {
      const { body } = asked
      const wordOf = clientWords(operation, incoming)
      return stream?.isAsked(body) === true
        ? Effect.flatMap(router.open(operation, body, context, admitMore), (opened) =>
            stream.reply(
              wordOf === undefined ? opened : { ...opened, served: servedInClientsWords(opened.served, wordOf) },
              asked,
              incoming
            )
          )
        : Effect.flatMap(router.run(operation, body, context, admitMore), ({ served, value }) =>
            reply(value, servedInClientsWords(served, wordOf), asked, incoming)
          )
    }

    return (call) => {
      const { incoming } = call
      return Effect.flatMapEager(read(call), (asked) => {
        const { body, context } = asked
        if (context.dryRun) return dryRun(asked, incoming)
        if (!isLimited(context.key)) return run(asked, context, incoming)
        const admitted = inTurn(incoming.hold?.size, () => admit(operation, body, context, incoming))
        return Effect.flatMap(admitInTime(admitted, context), (admitMore) =>
          admitMore === late
            ? run(asked, { ...context, deadlineMillis: 0 }, incoming)
            : run(asked, context, incoming, admitMore)
        )
      })
    }
  })
