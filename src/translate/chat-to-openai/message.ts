// A message or delta of an upstream as a delta of ours in full form.
// It must not know frames, envelopes or finish reasons.
import type * as Types from "effect/Types"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Delta } from "../../wire/openai/ChatReply.ts"
import type { ContentBlockDelta } from "../../wire/openai/Extensions.ts"
import type { UpstreamMessage } from "../../wire/openai/UpstreamChat.ts"
import { type CallState, hasNameless, noCalls, readCalls, textOfArguments } from "./calls.ts"
import { fields, restOf } from "./rest.ts"

/** What must be remembered of one choice's message between its deltas. */
export interface MessageState {
  readonly calls: ReadonlyArray<CallState>
  /** It called by the legacy `function_call`. */
  readonly legacy: boolean
  /** The legacy call has a name. */
  readonly legacyNamed: boolean
  /** It thought, so that its text belongs to a block. */
  readonly reasoned: boolean
}

export const noMessage: MessageState = { calls: noCalls, legacy: false, legacyNamed: false, reasoned: false }

/** True for a message that is over and calls something without a name. */
export const hasNamelessCall = ({ calls, legacy, legacyNamed }: MessageState): boolean =>
  hasNameless(calls) || (legacy && !legacyNamed)

const messageFields = fields(
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "content_blocks"
)

/** A delta has no role, and no field that says nothing; fields we do not know are in it. `whole` is a message at once. */
export const readMessage = (
  before: MessageState,
  given: UpstreamMessage,
  whole: boolean,
  callId: () => string
): readonly [MessageState, Delta] => {
  const delta: Types.Mutable<Delta> = restOf(given, messageFields) ?? {}
  const text = textOf(given.content)
  if (text !== "") delta.content = text
  const refusal = given["refusal"]
  if (typeof refusal === "string" && refusal !== "") delta.refusal = refusal
  const called = given["function_call"]
  const legacy = isJsonObject(called)
  if (legacy) delta.function_call = { name: stringOf(called["name"]), arguments: textOfArguments(called["arguments"]) }
  const thought = stringOf(given["reasoning_content"]) || stringOf(given["reasoning"])
  if (thought !== "") delta.reasoning_content = thought
  const reasoned = before.reasoned || thought !== ""
  if (thought !== "" || (reasoned && text !== "")) delta.content_blocks = blocksOf(thought, text)
  let calls = before.calls
  if (given.tool_calls) {
    const [next, pieces] = readCalls(calls, given.tool_calls, whole, callId)
    if (pieces.length > 0) delta.tool_calls = pieces
    calls = next
  }
  const legacyNamed = before.legacyNamed || (delta.function_call?.name !== undefined && delta.function_call.name !== "")
  const isSame =
    calls === before.calls &&
    reasoned === before.reasoned &&
    (!legacy || before.legacy) &&
    legacyNamed === before.legacyNamed
  return [isSame ? before : { calls, legacy: legacy || before.legacy, legacyNamed, reasoned }, delta]
}

const stringOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** Some servers send content as a list of parts; those without text say nothing here. */
const textOf = (content: UpstreamMessage["content"]): string => {
  if (typeof content === "string") return content
  let text = ""
  for (const part of content ?? []) if (isJsonObject(part)) text += stringOf(part["text"])
  return text
}

/** Thoughts are the first block of an answer that has any, its text the second. */
const blocksOf = (thinking: string, text: string): ReadonlyArray<ContentBlockDelta> => [
  ...(thinking === "" ? [] : [{ index: 0, delta: { thinking } }]),
  ...(text === "" ? [] : [{ index: 1, delta: { text } }])
]
