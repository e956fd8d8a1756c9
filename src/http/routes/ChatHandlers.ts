// POST /v1/chat/completions: a chat in OpenAI's dialect, answered as one completion or as a stream of chunks.
// It must not depend on providers, or on how bodies are read.
import { pingFrame } from "../../wire/frames.ts"
import { chatReader } from "../request/ChatReader.ts"
import { completion } from "../response/Reply.ts"
import { events } from "../response/StreamReply.ts"
import { fillModel, handleOperation, type OperationRoute } from "./OperationRoute.ts"

/** Prompts answer as chats do. */
export const chatReplies: Pick<OperationRoute<"chat", never>, "operation" | "reply" | "stream"> = {
  operation: "chat",
  reply: completion,
  stream: {
    isAsked: ({ stream }) => stream === true,
    ping: pingFrame,
    reply: (opened, { modalities, stream_options: asked }, { images, strict }, incoming, keepAlive) =>
      events(
        opened,
        {
          strict,
          images,
          usage: asked?.["include_usage"] === true,
          customs: incoming.customTools,
          asksForImages: Array.isArray(modalities) && modalities.includes("image")
        },
        incoming,
        keepAlive
      )
  }
}

export const chatRoute = { ...chatReplies, read: fillModel(chatReader) }

export const ChatHandlers = handleOperation(chatRoute)
