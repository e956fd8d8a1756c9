// Error reasons for malformed answers of any dialect: unreadable events, cut streams, malformed tool calls.
// Must not depend on a dialect.
import type { Reason } from "../../../domain/ProviderError.ts"

export const unreadableEvent: Reason = {
  _tag: "BadReply",
  kind: "unreadable",
  message: "The upstream sent an event that does not have the shape of an answer."
}

export const cutAnswer: Reason = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete."
}

/** A call that no client could execute: it has no tool name, or its arguments are not an object. */
export const malformedCall: Reason = {
  _tag: "BadReply",
  kind: "malformed_call",
  message: "The upstream answered with a tool call that has no name, or whose arguments are not an object. Try again."
}
