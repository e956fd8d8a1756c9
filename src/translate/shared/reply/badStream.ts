// Error reasons for malformed answers of any dialect: unreadable events, cut streams, malformed tool calls.
// Must not depend on a dialect.
import { answerBounds } from "../../../domain/Limits.ts"
import type { Reason } from "../../../domain/ProviderError.ts"

export const unreadableEvent: Reason = {
  _tag: "BadReply",
  kind: "unreadable",
  message: "The upstream sent an event that does not have the shape of an answer."
}

export const largeEvent: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: "The upstream sent an event over the size limit."
}

export const tooManyEvents: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent an answer with more than ${answerBounds.events} events.`
}

export const tooSilent: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent more than ${answerBounds.silentBytes} bytes of comments without an event.`
}

const tooMany = (most: number, what: string): Reason => ({
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent an answer with more than ${most} ${what}.`
})

export const tooManyChoices = tooMany(answerBounds.choices, "choices")
const tooManyParts = tooMany(answerBounds.parts, "parts")
const tooManyCalls = tooMany(answerBounds.calls, "tool calls")

/** What is wrong with a choice of so many parts and calls; undefined for nothing. */
export const excessOf = (parts: number, calls: number): Reason | undefined =>
  parts > answerBounds.parts ? tooManyParts : calls > answerBounds.calls ? tooManyCalls : undefined

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
