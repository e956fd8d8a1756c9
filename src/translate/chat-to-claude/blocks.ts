// Translates the content blocks of a Claude answer (text, thinking, tool use, citations) to chat deltas, in order.
// Must not depend on finish reasons, usage or envelopes. A unary answer is read block by block in the same way.
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import type { BlockOut } from "../../wire/anthropic.ts"
import { grow, growBy, type GrownList, itemsOf } from "../../wire/grownList.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ContentBlockDelta, Delta } from "../../wire/openai/ChatReply.ts"
import { readMessages } from "../shared/chat-request/readMessages.ts"
import { joinTexts } from "../shared/chat-request/readParts.ts"
import { usesLegacyFunctions } from "../shared/chat-request/readTools.ts"
import { claudeNames, toolNamesOf } from "../shared/chat-request/toolCalls.ts"
import type { TranslateContext } from "../Translator.ts"
import { beginText, noSources, type Sources, withSources, withText } from "./citations.ts"
import { claudeFacts } from "./facts.ts"
import { renamedProperties, withNames } from "./inputSchema.ts"
import { claudeProvider, packThinking } from "./messages.ts"
import { jsonOutputOf } from "./tools.ts"

/** The block whose deltas are arriving. `text` is the part held back; `pieces` is true after the first piece. */
type Open =
  | { readonly kind: "text"; readonly index: number; readonly sources: GrownList<Json> }
  | {
      readonly kind: "thinking"
      readonly index: number
      readonly thinking: string
      readonly signature: string
      readonly shown: boolean
    }
  | {
      readonly kind: "call"
      readonly index: number
      readonly call: number
      readonly name: string
      /** The client's own names of properties that were sent under others; the arguments are then sent whole. */
      readonly renamed: ReadonlyMap<string, string> | undefined
      readonly pieces: boolean
      readonly text: string
    }
  | { readonly kind: "output"; readonly index: number; readonly pieces: boolean; readonly text: string }
  | { readonly kind: "own"; readonly index: number; readonly block: JsonObject; readonly text: string }
  | { readonly kind: "nothing"; readonly index: number }

/** State of an answer between its events. */
export interface BlocksState {
  readonly open: Open | undefined
  /** Number of calls of client tools sent so far. */
  readonly calls: number
  /** True after the structured answer began. */
  readonly answered: boolean
  /** Text that is held back while a structured answer may follow, because text next to one is dropped. */
  readonly content: string
  /** Index of the first block of held-back text. */
  readonly waitingAt: number | undefined
  readonly sources: Sources
  /** Thinking since the last call, in the form that the next request must send back. */
  readonly thoughts: GrownList<BlockOut>
  /** Number of blocks so far. */
  readonly blocks: number
}

export const noBlocks: BlocksState = {
  open: undefined,
  calls: 0,
  answered: false,
  content: "",
  waitingAt: undefined,
  sources: noSources,
  thoughts: undefined,
  blocks: 0
}

/** Constants of a whole answer. */
export interface BlocksFacts {
  readonly callId: (n: number) => string
  readonly unmangle: (name: string) => string
  /** By function, the client's own names of properties that were sent under others. */
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** The gateway's own tool for structured output; its arguments are the answer. */
  readonly output: { readonly name: string; readonly wrapped: boolean } | undefined
  /** True for legacy `functions` requests: one call per answer, sent whole. */
  readonly legacy: boolean
  /** True when the thinking belongs to a history that the client does not have; it is shown without signatures (M-303). */
  readonly unsigned: boolean
}

export const blocksFacts = (context: TranslateContext, request: ChatRequest): BlocksFacts => {
  const facts = claudeFacts(context.target.record)
  const output = Result.getOrElse(jsonOutputOf(request, facts), () => undefined)
  return {
    callId: context.callId,
    unmangle: toolNamesOf(request, claudeNames).unmangle,
    properties: propertiesOfTools(request),
    output: output?._tag === "Tool" ? output : undefined,
    legacy: usesLegacyFunctions(request),
    unsigned: !facts.prefill && endsWithAnswer(request)
  }
}

const noProperties: BlocksFacts["properties"] = new Map()

const propertiesOfTools = (request: ChatRequest): BlocksFacts["properties"] => {
  const tools = request.tools ?? request.functions ?? []
  if (tools.length === 0) return noProperties
  const all = new Map<string, ReadonlyMap<string, string>>()
  for (const tool of tools) {
    const declared = isJsonObject(tool) && isJsonObject(tool["function"]) ? tool["function"] : tool
    if (!isJsonObject(declared) || typeof declared["name"] !== "string") continue
    const renamed = renamedProperties(declared["parameters"])
    if (renamed !== undefined) all.set(declared["name"], renamed)
  }
  return all
}

/** True for a last message of the assistant that has text and no calls. */
const endsWithAnswer = ({ messages }: ChatRequest): boolean => {
  const last = messages.findLast(({ role }) => role !== "system" && role !== "developer")
  if (last?.role !== "assistant") return false
  const [turn] = Result.getOrElse(readMessages([last], defaultLimits), () => [])
  return turn?._tag === "Assistant" && turn.calls.length === 0 && /\S/.test(joinTexts(turn.parts))
}

type Step = readonly [BlocksState, ReadonlyArray<Delta>]

const textIn = (holder: JsonObject, field: string): string => {
  const value = holder[field]
  return typeof value === "string" ? value : ""
}

const blockDelta = (index: number, delta: ContentBlockDelta["delta"]): Pick<Delta, "content_blocks"> => ({
  content_blocks: [{ index, delta }]
})

const textDelta = (index: number, text: string): Delta => ({ content: text, ...blockDelta(index, { text }) })

/** True for a call that cannot be passed on. The id is not checked: the client gets a generated one. */
export const isMalformedCall = ({ input, name, type }: JsonObject): boolean =>
  type === "tool_use" &&
  (typeof name !== "string" || name === "" || !(input === undefined || input === null || isJsonObject(input)))

/** True for a malformed piece of a call's arguments. */
export const isMalformedPiece = ({ partial_json: piece, type }: JsonObject): boolean =>
  type === "input_json_delta" && typeof piece !== "string"

/** Starts a block with any content it already has. Ends the previous block if its stop event is missing. */
export const startBlock = (before: BlocksState, index: number, block: JsonObject, facts: BlocksFacts): Step => {
  const [state, closing] = endBlock(before, facts)
  const [next, deltas] = openBlock({ ...state, blocks: state.blocks + 1 }, index, block, facts)
  return [next, closing.length === 0 ? deltas : [...closing, ...deltas]]
}

const openBlock = (state: BlocksState, index: number, block: JsonObject, facts: BlocksFacts): Step => {
  switch (block["type"]) {
    case "text": {
      const sources = growBy<Json>(undefined, Array.isArray(block["citations"]) ? block["citations"] : [])
      return addText(
        { ...state, open: { kind: "text", index, sources }, sources: beginText(state.sources) },
        textIn(block, "text"),
        facts
      )
    }
    case "thinking":
      return addThinking(
        { ...state, open: { kind: "thinking", index, thinking: "", signature: "", shown: false } },
        textIn(block, "thinking"),
        facts.unsigned ? "" : textIn(block, "signature")
      )
    case "redacted_thinking": {
      if (facts.unsigned) return [{ ...state, open: { kind: "nothing", index } }, []]
      const data = textIn(block, "data")
      const thoughts = grow(state.thoughts, { type: "redacted_thinking", data })
      return [{ ...state, thoughts, open: { kind: "nothing", index } }, [blockDelta(index, { data })]]
    }
    case "tool_use":
      return startCall(state, index, block, facts)
    default:
      return [{ ...state, open: { kind: "own", index, block, text: "" } }, []]
  }
}

const startCall = (state: BlocksState, index: number, block: JsonObject, facts: BlocksFacts): Step => {
  const { input } = block
  const whole = isJsonObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ""
  const name = textIn(block, "name")
  if (name === facts.output?.name) {
    // The first structured answer counts; a second one would be appended to the same text.
    const open: Open = state.answered ? { kind: "nothing", index } : { kind: "output", index, pieces: false, text: "" }
    return addPiece({ ...state, answered: true, open }, whole, facts)
  }
  const call = state.calls
  const signature = packThinking(itemsOf(state.thoughts))
  const clientName = facts.unmangle(name)
  const open: Open = {
    kind: "call",
    index,
    call,
    name: clientName,
    renamed: facts.properties.get(clientName),
    pieces: false,
    text: ""
  }
  const [next, pieces] = addPiece({ ...state, calls: call + 1, thoughts: undefined, open }, whole, facts)
  if (facts.legacy) return [next, pieces]
  const called = {
    name: clientName,
    arguments: "",
    ...(signature === undefined ? {} : { thought_signature: signature })
  }
  return [
    next,
    [{ tool_calls: [{ index: call, id: facts.callId(call), type: "function", function: called }] }, ...pieces]
  ]
}

/** Adds a delta to the open block; deltas of another kind are skipped. */
export const growBlock = (state: BlocksState, index: number, delta: JsonObject, facts: BlocksFacts): Step => {
  const { open } = state
  if (open === undefined || open.index !== index) return [state, []]
  switch (delta["type"]) {
    case "text_delta":
      return addText(state, textIn(delta, "text"), facts)
    case "thinking_delta":
      return addThinking(state, textIn(delta, "thinking"), "")
    case "signature_delta":
      return addThinking(state, "", facts.unsigned ? "" : textIn(delta, "signature"))
    case "input_json_delta":
      return addPiece(state, textIn(delta, "partial_json"), facts)
    case "citations_delta":
      return open.kind === "text" && delta["citation"] !== undefined
        ? [{ ...state, open: { ...open, sources: grow(open.sources, delta["citation"]) } }, []]
        : [state, []]
    default:
      return [state, []]
  }
}

const addText = (state: BlocksState, text: string, facts: BlocksFacts): Step => {
  const { open } = state
  if (open?.kind !== "text" || text === "") return [state, []]
  const sources = withText(state.sources, text)
  if (facts.output === undefined) return [{ ...state, sources }, [textDelta(open.index, text)]]
  return [{ ...state, sources, content: state.content + text, waitingAt: state.waitingAt ?? open.index }, []]
}

/** Thinking may be signed but hidden; its block is sent even without text. */
const addThinking = (state: BlocksState, thinking: string, signature: string): Step => {
  const { open } = state
  if (open?.kind !== "thinking" || (thinking === "" && signature === "")) return [state, []]
  const next: BlocksState = {
    ...state,
    open: {
      ...open,
      thinking: open.thinking + thinking,
      signature: signature === "" ? open.signature : signature,
      shown: true
    }
  }
  const block = blockDelta(open.index, {
    ...(thinking !== "" || !open.shown ? { thinking } : {}),
    ...(signature === "" ? {} : { signature })
  })
  return [next, [thinking === "" ? block : { reasoning_content: thinking, ...block }]]
}

/** Sends pieces of arguments as they arrive, split anywhere; legacy calls and wrapped answers are sent whole. */
const addPiece = (state: BlocksState, piece: string, facts: BlocksFacts): Step => {
  const { open } = state
  if (open === undefined || piece === "") return [state, []]
  switch (open.kind) {
    case "call": {
      const isHeld = facts.legacy || open.renamed !== undefined
      const next: BlocksState = { ...state, open: { ...open, pieces: true, text: isHeld ? open.text + piece : "" } }
      return [next, isHeld ? [] : [{ tool_calls: [{ index: open.call, function: { arguments: piece } }] }]]
    }
    case "output": {
      const isWrapped = facts.output?.wrapped === true
      const next: BlocksState = { ...state, open: { ...open, pieces: true, text: isWrapped ? open.text + piece : "" } }
      return [next, isWrapped ? [] : [textDelta(open.index, piece)]]
    }
    case "own":
      return [{ ...state, open: { ...open, text: open.text + piece } }, []]
    default:
      return [state, []]
  }
}

/** Ends the open block and sends its held-back content. */
export const endBlock = (before: BlocksState, facts: BlocksFacts): Step => {
  const { open } = before
  if (open === undefined) return [before, []]
  const state: BlocksState = { ...before, open: undefined }
  switch (open.kind) {
    case "text":
      return [{ ...state, sources: withSources(state.sources, itemsOf(open.sources)) }, []]
    case "thinking": {
      const thought = { type: "thinking", thinking: open.thinking, signature: open.signature }
      return [open.signature === "" ? state : { ...state, thoughts: grow(state.thoughts, thought) }, []]
    }
    case "call":
      return [state, closeCall(open, facts)]
    case "output":
      return [state, closeAnswer(open, facts)]
    case "own":
      return [
        state,
        [
          blockDelta(open.index, {
            provider_part: { provider: claudeProvider, part: withInput(open.block, open.text) }
          })
        ]
      ]
    case "nothing":
      return [state, []]
  }
}

const closeCall = (open: Open & { readonly kind: "call" }, facts: BlocksFacts): ReadonlyArray<Delta> => {
  const text = open.pieces ? inOwnNames(open) : "{}"
  if (facts.legacy) return open.call === 0 ? [{ function_call: { name: open.name, arguments: text } }] : []
  return open.pieces && open.renamed === undefined
    ? []
    : [{ tool_calls: [{ index: open.call, function: { arguments: text } }] }]
}

/** Arguments under the client's own names; a cut text stays as it is. */
const inOwnNames = ({ renamed, text }: Open & { readonly kind: "call" }): string => {
  const whole = renamed === undefined ? undefined : parseExactJsonText(text)
  return whole === undefined || Result.isFailure(whole)
    ? text
    : JSON.stringify(withNames(whole.success, (name) => renamed?.get(name) ?? name))
}

const closeAnswer = (open: Open & { readonly kind: "output" }, facts: BlocksFacts): ReadonlyArray<Delta> => {
  if (facts.output?.wrapped === true) return open.pieces ? [textDelta(open.index, unwrapAnswer(open.text))] : []
  return open.pieces ? [] : [textDelta(open.index, "{}")]
}

const opening = /^\s*\{\s*"value"\s*:\s*/

/** Unwraps the value under `value`; a cut answer keeps its incomplete text. */
const unwrapAnswer = (text: string): string => {
  const whole = parseExactJsonText(text)
  if (Result.isFailure(whole)) return text.replace(opening, "")
  const value = isJsonObject(whole.success) ? whole.success["value"] : undefined
  return value === undefined ? text : JSON.stringify(value)
}

/** A server tool's input arrives in pieces too. */
const withInput = (block: JsonObject, text: string): JsonObject => {
  const input = text === "" ? undefined : parseExactJsonText(text)
  return input !== undefined && Result.isSuccess(input) ? { ...block, input: input.success } : block
}

/** Ends the answer: held-back text becomes the answer when no structured answer followed, and is dropped otherwise. */
export const endBlocks = (before: BlocksState, facts: BlocksFacts): Step => {
  const [state, closing] = endBlock(before, facts)
  if (state.waitingAt === undefined) return [state, closing]
  return state.answered
    ? [{ ...state, sources: noSources }, closing]
    : [state, [...closing, textDelta(state.waitingAt, state.content)]]
}
