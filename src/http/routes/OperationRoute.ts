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

/** Reads and checks the body of a request. */
type ReadOperation<Op extends Operation> = (
  call: Call,
  context: RequestContext
) => Effect.Effect<Body<Op>, GatewayError>

type ReadContext = (call: Call) => Result.Result<RequestContext, GatewayError>

/** Adds what a request needs of services to its context; undefined where it needs nothing. */
export type CompleteContext = (context: RequestContext) => Effect.Effect<RequestContext> | undefined

const plainContext: Effect.Effect<ReadContext> = Effect.succeed(requestContext)

/** What differs between operations. */
export interface OperationRoute<Op extends Operation, R> {
  readonly operation: Op
  /** A further route that ends in this operation; without it the operation's own path. */
  readonly path?: RoutePath<"POST">
  /** Built once per route. */
  readonly read: Effect.Effect<ReadOperation<Op>, never, R>
  /** Built once per route; without it the context follows from headers and key alone. */
  readonly context?: Effect.Effect<ReadContext, never, R>
  /** Built once per route; completes the context of a request whose body is read. Without it nothing is added. */
  readonly complete?: Effect.Effect<CompleteContext, never, R>
  /** Writes a complete answer. */
  readonly reply: (
    value: Operations[Op]["out"],
    served: ServedBy,
    context: RequestContext,
    incoming: IncomingRequest
  ) => Response
  readonly stream?: {
    readonly isAsked: (body: Body<Op>) => boolean
    /** Writes the events of a stream. */
    readonly reply: (
      opened: OpenedStream<Operations[Op]["chunk"]>,
      body: Body<Op>,
      context: RequestContext,
      incoming: IncomingRequest
    ) => Response<Scope.Scope>
  }
}

/** A reader of bodies, whose missing `model` is the one of the config. */
export const fillModel = <A, R>(
  reader: Effect.Effect<ReadBody<A>, never, R>
): Effect.Effect<(call: Call, context: RequestContext) => ReturnType<ReadBody<A>>, never, R> =>
  Effect.map(
    reader,
    (read) =>
      ({ incoming }, { config }) =>
        read(incoming, config?.model)
  )

/** Writes what the router answers to one request. */
export interface OperationAnswers<Op extends Operation> {
  readonly reply: (value: Operations[Op]["out"], served: ServedBy) => Response
  /** Undefined unless a stream is asked for. */
  readonly stream: ((opened: OpenedStream<Operations[Op]["chunk"]>) => Response<Scope.Scope>) | undefined
  /** Changes what a dry run shows; undefined for nothing. */
  readonly explained?: (explained: Explained) => Explained
}

/** Carries a request whose body is read; the effect that makes it is run once per route. */
type RunOperation = <Op extends Operation>(
  operation: Op,
  body: Body<Op>,
  context: RequestContext,
  incoming: IncomingRequest,
  answers: OperationAnswers<Op>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

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

/** Admission, then a dry run, an answer or a stream. A key without limits is not asked for admission. */
export const runningOperation: Effect.Effect<RunOperation, never, ProviderRouter | Admission | Prices> = Effect.gen(
  function* () {
    const router = yield* ProviderRouter
    const admit = yield* admitting
    const admitUncalled = yield* admittingUncalled

    const run = <Op extends Operation>(
      operation: Op,
      body: Body<Op>,
      context: RequestContext,
      incoming: IncomingRequest,
      { reply, stream }: OperationAnswers<Op>,
      admitMore?: AdmitMore
    ) => {
      const wordOf = clientWords(operation, incoming)
      return stream === undefined
        ? Effect.flatMap(router.run(operation, body, context, admitMore), ({ served, value }) =>
            reply(value, servedInClientsWords(served, wordOf))
          )
        : Effect.flatMap(router.open(operation, body, context, admitMore), (opened) =>
            stream(wordOf === undefined ? opened : { ...opened, served: servedInClientsWords(opened.served, wordOf) })
          )
    }

    const dryRun = <Op extends Operation>(
      operation: Op,
      body: Body<Op>,
      context: RequestContext,
      incoming: IncomingRequest,
      { explained = (shown) => shown }: OperationAnswers<Op>
    ) =>
      Effect.flatMap(
        Effect.andThen(admitUncalled(context.key, incoming), router.explain(operation, body, context)),
        (shown) => json(explained(explainedInClientsWords(shown, clientWords(operation, incoming))), incoming)
      )

    return (operation, body, context, incoming, answers) => {
      if (context.dryRun) return dryRun(operation, body, context, incoming, answers)
      return isLimited(context.key)
        ? Effect.flatMap(
            admitInTime(
              inTurn(incoming.hold?.size, () => admit(operation, body, context, incoming)),
              context
            ),
            (admitted) =>
              admitted === late
                ? run(operation, body, { ...context, deadlineMillis: 0 }, incoming, answers)
                : run(operation, body, context, incoming, answers, admitted)
          )
        : run(operation, body, context, incoming, answers)
    }
  }
)

export type OperationServices = ProviderRouter | Admission | Prices | GatewayKeys | Catalog | Configs | Traffic

/** The route of an operation. */
export const handleOperation = <Op extends Exclude<Operation, NativeOperation>, R>(
  route: OperationRoute<Op, R>
): Routes<R | OperationServices> =>
  keyedRoute("POST", route.path ?? operations[route.operation].path, operationHandler(route))

/** The handler of an operation, wherever its path is read. A key without limits is not asked for admission. */
export const operationHandler = <Op extends Operation, R>({
  complete: makeComplete,
  context: makeContext = plainContext,
  operation,
  read,
  reply,
  stream
}: OperationRoute<Op, R>): Effect.Effect<KeyedHandler, never, R | OperationServices> =>
  Effect.gen(function* () {
    const run = yield* runningOperation
    const readBody = yield* read
    const readContext = yield* makeContext
    const complete = makeComplete === undefined ? undefined : yield* makeComplete
    return (call) => {
      const { incoming } = call
      const fixed = readContext(call)
      if (Result.isFailure(fixed)) return Effect.fail(fixed.failure)
      const given = fixed.success
      const answer = (body: Body<Op>, context: RequestContext) =>
        run(operation, body, context, incoming, {
          reply: (value, served) => reply(value, served, context, incoming),
          stream: stream?.isAsked(body) === true ? (opened) => stream.reply(opened, body, context, incoming) : undefined
        })
      return Effect.flatMapEager(readBody(call, given), (body) => {
        const completed = complete?.(given)
        return completed === undefined
          ? answer(body, given)
          : Effect.flatMap(completed, (context) => answer(body, context))
      })
    }
  })
