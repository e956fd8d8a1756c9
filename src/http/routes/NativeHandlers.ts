// The operations of Google's own dialects: native body in; the upstream's own answer or stream out.
// It must not depend on providers, or on how the path of a request is found.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type GatewayError, RouteUnknown } from "../../domain/GatewayError.ts"
import type { NativeCall } from "../../domain/native/nativePath.ts"
import type { NativeOperation } from "../../domain/operations.ts"
import type { MessagesRequest } from "../../translate/messages-to-claude.ts"
import type { NativeRequest } from "../../translate/native/nativeRequest.ts"
import type { Call } from "../edge/GatewayAuth.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { nativeContext, type NativeSlugs } from "../request/nativeContext.ts"
import { type BodyLimit, bytesReader } from "../request/ReadBody.ts"
import { requestContext } from "../request/requestContext.ts"
import { passed } from "../response/Reply.ts"
import { passedEvents, passedFraming } from "../response/StreamReply.ts"
import { messagesPing } from "./MessagesHandlers.ts"
import { readNative, readRawMessages } from "./nativeBodies.ts"
import { operationHandler } from "./OperationRoute.ts"

/** The slugs of the setting `native`. */
export const NativeDefaults: Context.Reference<NativeSlugs> = Context.Reference<NativeSlugs>(
  "gateway/http/NativeDefaults",
  { defaultValue: () => ({}) }
)

const context = Effect.map(NativeDefaults, (slugs) => (call: Call) => {
  const { headers, native } = call.incoming
  const read = requestContext(call)
  return native?._tag === "Call" ? nativeContext(read, native, headers, slugs) : read
})

type Read<A> = (call: Call) => Effect.Effect<A, GatewayError>

/** Reads the body of a call; only calls come here. */
const reader = <A>(
  most: BodyLimit,
  read: (call: NativeCall, incoming: IncomingRequest, body: Bytes) => Effect.Effect<A, GatewayError>
): Effect.Effect<Read<A>> =>
  Effect.map(bytesReader(most), (bytesOf) => ({ incoming }: Call) => {
    const { method, native, path } = incoming
    return native?._tag === "Call"
      ? Effect.flatMapEager(bytesOf(incoming), (body) => read(native, incoming, body))
      : Effect.fail(new RouteUnknown({ method, path: path.slice(0, 256) }))
  })

type Bytes = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof bytesReader>>>>

const native = (most: BodyLimit): Effect.Effect<Read<NativeRequest>> =>
  reader(most, (call, incoming, { bytes, limits }) =>
    Effect.fromResult(readNative(call, incoming.query, incoming.headers, bytes, limits))
  )

const raw: Effect.Effect<Read<MessagesRequest>> = reader("bodyBytes", (call, incoming, { bytes, limits }) =>
  Effect.fromResult(readRawMessages(call, incoming.query, incoming.headers, bytes, limits))
)

const content = operationHandler({
  operation: "nativeContent",
  context,
  read: native("bodyBytes"),
  reply: (value, served, _context, incoming) => passed(value, served, incoming),
  stream: {
    isAsked: ({ stream }) => stream,
    // Google's clients take nothing but events (N403).
    ping: undefined,
    reply: (opened, { framing }, _context, incoming, keepAlive) => passedFraming(opened, framing, incoming, keepAlive)
  }
})

const unary = (operation: Exclude<NativeOperation, "nativeContent">, most: BodyLimit) =>
  operationHandler({
    operation,
    context,
    read: native(most),
    reply: (value, served, _context, incoming) => passed(value, served, incoming)
  })

const messages = operationHandler({
  operation: "messages",
  context,
  read: raw,
  reply: (value, served, _context, incoming) => passed(value, served, incoming),
  stream: {
    isAsked: ({ stream }) => stream,
    ping: messagesPing,
    reply: (opened, _body, _context, incoming, keepAlive) => passedEvents(opened, incoming, keepAlive)
  }
})

const messagesCount = operationHandler({
  operation: "messagesCountTokens",
  context,
  read: raw,
  reply: (value, served, _context, incoming) => passed(value, served, incoming)
})

/** The handler of each operation that a native call can end in. Pictures to edit are sent as base64. */
export const nativeOperations = {
  nativeContent: content,
  nativeEmbeddings: unary("nativeEmbeddings", "embeddingsBodyBytes"),
  nativePredictions: unary("nativePredictions", "bodyBytes"),
  nativeCount: unary("nativeCount", "bodyBytes"),
  messages,
  messagesCountTokens: messagesCount
}
