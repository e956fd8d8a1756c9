// How a stream of any dialect goes wrong in itself.
// It must not know dialects.
import type { Reason } from "../../domain/ProviderError.ts"

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
