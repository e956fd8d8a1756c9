// The pair of the Responses API and our own chat in its full form: whatever serves a chat serves a response.
// It must not know targets, stores or keys.
import { lastEvent, responseFromChat, stampResponse, streamFromChat } from "./response.ts"
import { neededOf } from "./items.ts"
import { inOwnWords, readBody, requestToChat } from "./request.ts"

export const responsesToChat = {
  name: "responses-to-chat",
  /** The body as this route takes it. */
  read: readBody,
  /** What has to be loaded before `request`. */
  needed: neededOf,
  request: requestToChat,
  /** A fault of the chat, in the words of the request. */
  fault: inOwnWords,
  response: responseFromChat,
  stream: streamFromChat,
  /** The answer as it goes out, and the last event of its stream. */
  stamp: stampResponse,
  lastEvent
} as const
