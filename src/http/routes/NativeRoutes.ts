// Google's own dialects: finds their paths before the router sees them, reads their bodies, and answers with the upstream's own answer or stream.
// It must not depend on providers or accounts. Rules: N101, N109, N110, N901-N903.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import {
  type BodyInvalid,
  type GatewayError,
  MethodNotAllowed,
  UnsupportedOperation
} from "../../domain/GatewayError.ts"
import { type NativeCall, type NativePath, readNativeModel } from "../../domain/native/nativePath.ts"
import { readNativeQuery } from "../../domain/native/nativeQuery.ts"
import { builtInModels } from "../../domain/models/modelTable.ts"
import { parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import { resolveModelName } from "../../domain/serving.ts"
import { type NativeOperation, operations } from "../../domain/operations.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import type { MessagesRequest } from "../../translate/messages-to-claude.ts"
import { type NativeRequest, readNativeBody } from "../../translate/native/nativeBody.ts"
import { nativeContext, nativeServingHeaders, type NativeSlugs, requestContext } from "../request/requestContext.ts"
import { type Call, keyed, type KeyedHandler } from "../edge/GatewayAuth.ts"
import { type BodyLimit, bytesReader, type ReadBytes } from "../request/ReadBody.ts"
import { passed } from "../response/Reply.ts"
import { passedFraming } from "../response/StreamReply.ts"
import { type Handler, requestLifecycle } from "../edge/RequestLifecycle.ts"
import type { Answering } from "../edge/Route.ts"
import type { Arrival } from "../node/Exchange.ts"
import { pathUnknown } from "../request/IncomingRequest.ts"
import { messagesAnswers } from "./OperationHandlers.ts"
import { operationHandler } from "./OperationRoute.ts"
import { listNatively } from "./ModelsHandlers.ts"

type Fault = BodyInvalid | UnsupportedOperation

/** The model of the path without slug and prefix; undefined where it cannot be read. */
const pathModelId = (model: string): string | undefined =>
  Result.getOrElse(
    Result.flatMap(parseModelRef(model), ({ rest }) => Result.map(parseFamily(rest), ({ modelId }) => modelId)),
    () => undefined
  )

/** The operation that a call ends in; texts are embedded by predict as well. */
export const operationOf = ({ model, verb }: NativeCall): NativeOperation | "messages" | "messagesCountTokens" => {
  switch (verb) {
    case "generateContent":
    case "streamGenerateContent":
      return "nativeContent"
    case "countTokens":
    case "computeTokens":
      return "nativeCount"
    case "embedContent":
    case "batchEmbedContents":
      return "nativeEmbeddings"
    case "predict": {
      const id = pathModelId(model)
      const isEmbedding = id !== undefined && builtInModels.find(id).record.family === "embedding"
      return isEmbedding ? "nativeEmbeddings" : "nativePredictions"
    }
    case "rawPredict":
    case "streamRawPredict":
      return "messages"
    case "countMessages":
      return "messagesCountTokens"
  }
}

/** A request in Gemini's dialect. */
const readNative = (
  call: NativeCall,
  { headers, query }: Arrival,
  { bytes, limits }: ReadBytes
): Result.Result<NativeRequest, Fault> =>
  Result.flatMap(readNativeQuery(query, call), ({ framing, ignored, upstream }) =>
    Result.flatMap(readNativeModel(call, call.model), ({ modelId, rest }) =>
      Result.map(readNativeBody(call.verb, { form: call.form, rest, modelId }, bytes, limits), (body) => ({
        verb: call.verb,
        form: call.form,
        version: call.version,
        model: call.model,
        modelId,
        stream: call.verb === "streamGenerateContent",
        framing,
        query: upstream,
        headers: nativeServingHeaders(headers, call),
        bytes: body.bytes,
        ignored
      }))
    )
  )

const noModel = { rest: "", modelId: "" }

/** Each provider of the AI SDK names it in its user agent. */
const aiSdk = /(^|\s)ai-sdk\//

/** A request of Claude's clients that speak to Vertex AI; a count names its model in the body (N802). */
const readRawMessages = (
  call: NativeCall,
  { headers, query }: Arrival,
  { bytes, limits }: ReadBytes
): Result.Result<MessagesRequest, Fault> =>
  Result.flatMap(readNativeQuery(query, call), () =>
    Result.flatMap(readNativeBody(call.verb, { form: call.form, ...noModel }, bytes, limits), (body) => {
      const model = body.model ?? call.model
      // The router resolves the operator's names; here the suffix of a long context alone is no part of the id.
      return Result.map(readNativeModel(call, resolveModelName(model, {}).model), () => ({
        model,
        stream: call.verb === "streamRawPredict",
        betas: body.betas,
        bytes: body.bytes,
        version: undefined,
        user: body.user,
        isRaw: true,
        ...(aiSdk.test(headers["user-agent"] ?? "") ? { hidesVertexEvents: true } : {})
      }))
    })
  )

// The operations of Google's own dialects: native body in; the upstream's own answer or stream out.

/** The slugs of the setting `native`. */
export const NativeDefaults: Context.Reference<NativeSlugs> = Context.Reference<NativeSlugs>(
  "gateway/http/NativeDefaults",
  { defaultValue: () => ({}) }
)

/** Reads context and body of a call; only calls come here. */
const askedNatively = <A>(
  most: BodyLimit,
  read: (call: NativeCall, arrival: Arrival, body: ReadBytes) => Result.Result<A, Fault>
) =>
  Effect.gen(function* () {
    const slugs = yield* NativeDefaults
    const bytesOf = yield* bytesReader(most)
    return (call: Call): Effect.Effect<{ readonly body: A; readonly context: RequestContext }, GatewayError> => {
      const { incoming } = call
      const { headers, native } = incoming
      if (native?._tag !== "Call") return Effect.fail(pathUnknown(incoming))
      const context = nativeContext(requestContext(call), native, headers, slugs)
      if (Result.isFailure(context)) return Effect.fail(context.failure)
      return Effect.flatMapEager(bytesOf(incoming), (bytes) =>
        Effect.fromResult(Result.map(read(native, incoming, bytes), (body) => ({ body, context: context.success })))
      )
    }
  })

const askedOfClaude = askedNatively("bodyBytes", readRawMessages)

const unaryHandler = (operation: Exclude<NativeOperation, "nativeContent">, most: BodyLimit) =>
  operationHandler({ operation, read: askedNatively(most, readNative), reply: passed })

/** The handler of each operation that a native call can end in. Pictures to edit are sent as base64. */
export const nativeOperations = {
  nativeContent: operationHandler({
    operation: "nativeContent",
    read: askedNatively("bodyBytes", readNative),
    reply: passed,
    stream: {
      isAsked: ({ stream }) => stream,
      reply: (opened, { body }, incoming) => passedFraming(opened, body.framing, incoming)
    }
  }),
  nativeEmbeddings: unaryHandler("nativeEmbeddings", "embeddingsBodyBytes"),
  nativePredictions: unaryHandler("nativePredictions", "bodyBytes"),
  nativeCount: unaryHandler("nativeCount", "bodyBytes"),
  messages: operationHandler({ ...messagesAnswers, operation: "messages", read: askedOfClaude }),
  messagesCountTokens: operationHandler({ operation: "messagesCountTokens", read: askedOfClaude, reply: passed })
}

// Finds the paths of Google's own dialects before the router sees them, since one resource has many spellings, and hands each on.

/** A refusal by name, once the key is known; the body is not read. */
const refuseByName: KeyedHandler = ({ incoming }) =>
  Effect.fail(
    new UnsupportedOperation({ message: incoming.native?._tag === "NotOffered" ? incoming.native.message : "" })
  )

const unserved: Handler = (incoming) => {
  const { method, native } = incoming
  return Effect.fail(
    native?._tag === "WrongMethod" ? new MethodNotAllowed({ method, allow: native.allow }) : pathUnknown(incoming)
  )
}

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
const closingConnection = HttpServerResponse.setHeader("connection", "close")

/** Answers the paths of Google's dialects; undefined for every other request. */
export const NativeRoutes: Effect.Effect<
  (arrival: Arrival) => ReturnType<Answering> | undefined,
  never,
  Effect.Services<typeof answers>
> = Effect.map(answers, (answerOf) => (arrival) => {
  const { headers, native } = arrival
  if (native === undefined) return undefined
  const answer = answerOf(native)(arrival)
  return headers["upgrade"] === undefined ? answer : Effect.map(answer, closingConnection)
})
