// POST /v1/messages and its token count: native body in; the upstream's own answer or stream out.
// It must not depend on providers, or on fields of a native body beyond those that are read of it.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { servesOtherModels } from "../../domain/serve/otherModels.ts"
import { checkModel } from "../../router/bodies/bodyChecks.ts"
import { Carriers, digestOfText } from "../../store/Carriers.ts"
import { messagesBody } from "../../translate/messagesBody.ts"
import { readCountRequest, readMessagesRequest } from "../../translate/messages-to-claude.ts"
import { frame } from "../../wire/frames.ts"
import { spansReader } from "../request/ReadBody.ts"
import { passed } from "../response/Reply.ts"
import { passedEvents } from "../response/StreamReply.ts"
import { type CompleteContext, fillModel, handleOperation, type OperationRoute } from "./OperationRoute.ts"

/** The event with which Anthropic itself keeps a silent stream alive. */
export const messagesPing = frame('{"type": "ping"}', "ping")

const native = (read: typeof readMessagesRequest) =>
  fillModel(
    spansReader((body, bytes, spans) => {
      const spelled = messagesBody(body, bytes)
      return Result.flatMap(
        spelled === undefined ? read(body, bytes, spans) : read(spelled.body, spelled.bytes),
        (request) => Result.map(checkModel(request.model), () => request)
      )
    })
  )

/** What a model that is not Claude needs, where the request may reach one. */
const withOtherModels = Effect.map(Carriers, (carriers): CompleteContext => (context) => {
  const { catalog, config, key } = context
  const rules = [key.otherModels, config?.otherModels, catalog?.serving?.otherModels]
  if (!servesOtherModels("messages", rules)) return undefined
  return Effect.map(carriers.forKey(key.id), (seal) => ({
    ...context,
    otherModels: { ...seal, digest: digestOfText }
  }))
})

export const messagesRoute: OperationRoute<"messages", Carriers> = {
  operation: "messages",
  complete: withOtherModels,
  read: native(readMessagesRequest),
  reply: (value, served, _context, incoming) => passed(value, served, incoming),
  stream: {
    isAsked: ({ stream }) => stream,
    ping: messagesPing,
    reply: (opened, _body, _context, incoming, keepAlive) => passedEvents(opened, incoming, keepAlive)
  }
}

export const MessagesHandlers = handleOperation(messagesRoute)

export const MessagesCountHandlers = handleOperation({
  operation: "messagesCountTokens",
  complete: withOtherModels,
  read: native(readCountRequest),
  reply: (value, served, _context, incoming) => passed(value, served, incoming)
})
