// How an answer of any dialect goes wrong in itself, streamed or not.
// It must not know dialects.
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

/** A call that no client could make: it names no tool, or its arguments are no object. */
export const malformedCall: Reason = {
  _tag: "BadReply",
  kind: "malformed_call",
  message: "The upstream answered with a tool call that has no name, or whose arguments are not an object. Try again."
}
