// Reads a message or delta of an OpenAI-compatible upstream as a delta in full form.
// Must not depend on frames, envelopes or finish reasons.
import type * as Types from "effect/Types"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Delta } from "../../wire/openai/ChatReply.ts"
import type { ContentBlockDelta } from "../../wire/openai/Extensions.ts"
import type { UpstreamMessage } from "../../wire/openai/UpstreamChat.ts"
import { type CallsState, hasNameless, noCalls, readCallDeltas, textOfArguments } from "./calls.ts"
import { fieldNames, unreadFields } from "./rest.ts"

/** State of one choice's message between its deltas. */
export interface MessageState {
  readonly calls: CallsState
  /** True after a legacy `function_call`. */
  readonly legacy: boolean
  /** True when the legacy call has a name. */
  readonly legacyNamed: boolean
  /** True after thinking: the text then needs a block. */
  readonly reasoned: boolean
}

export const noMessage: MessageState = { calls: noCalls, legacy: false, legacyNamed: false, reasoned: false }

/** True for a finished message with a nameless call. */
export const hasNamelessCall = ({ calls, legacy, legacyNamed }: MessageState): boolean =>
  hasNameless(calls) || (legacy && !legacyNamed)

const messageFields = fieldNames(
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "content_blocks"
)

/** Drops the role and empty fields; keeps unknown fields. `whole` marks a complete message. */
export const readMessage = (
  before: MessageState,
  given: UpstreamMessage,
  whole: boolean,
  callId: () => string
): readonly [MessageState, Delta] => {
  const delta: Types.Mutable<Delta> = unreadFields(given, messageFields) ?? {}
  const text = contentText(given.content)
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
    const [next, pieces] = readCallDeltas(calls, given.tool_calls, whole, callId)
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

/** Some servers send content as a list of parts; parts without text are skipped. */
const contentText = (content: UpstreamMessage["content"]): string => {
  if (typeof content === "string") return content
  let text = ""
  for (const part of content ?? []) if (isJsonObject(part)) text += stringOf(part["text"])
  return text
}

/** Thinking is block 0, text is block 1; an answer without thinking has no blocks. */
const blocksOf = (thinking: string, text: string): ReadonlyArray<ContentBlockDelta> => [
  ...(thinking === "" ? [] : [{ index: 0, delta: { thinking } }]),
  ...(text === "" ? [] : [{ index: 1, delta: { text } }])
]
