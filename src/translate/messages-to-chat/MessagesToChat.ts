// The pair of Anthropic's messages and our own chat in its full form: models of any family serve a message.
// It must not know targets, stores or keys. Rules: D101, D102.
import { messageFromChat, streamFromChat } from "./response.ts"
import { paramOf } from "./facts.ts"
import { historyCallIds } from "./messages.ts"
import { requestToChat } from "./request.ts"

export const messagesToChat = {
  name: "messages-to-chat",
  request: requestToChat,
  /** The word of the request for a parameter of the chat. */
  paramOf,
  /** Ids of all calls of the history, whose signatures may be remembered. */
  history: historyCallIds,
  response: messageFromChat,
  stream: streamFromChat
} as const
