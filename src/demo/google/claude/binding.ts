// What a thinking block of the newest models is bound to: the system prompt, the tools and the messages before it.
// It must not depend on how signatures are made.
// Source: Anthropic's page on Fable 5.2, which refuses such a block in any other conversation.

import type { MessagesRequest } from "./request.ts"

/** Marks of prompt caching may move. */
const unmarked = (name: string, value: unknown): unknown => (name === "cache_control" ? undefined : value)

/** The seed of the signature of a block in the message at this position. */
export const boundSeed = ({ messages, system, tools }: MessagesRequest, position: number): string =>
  JSON.stringify([system, tools, messages.slice(0, position)], unmarked)
