// Blocks of one answer to deltas, in order. The unary answer is read the same way, block by block.
// It must not know finish reasons, usage or envelopes.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import type { BlockOut } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Delta } from "../../wire/openai/ChatReply.ts"
import type { ContentBlockDelta } from "../../wire/openai/Extensions.ts"
import { isLegacy } from "../shared/chat-request/readTools.ts"
import { claudeNames, toolNamesOf } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { noSources, type Sources, withSources } from "./citations.ts"
import { jsonOutputOf } from "./jsonOutput.ts"
import { packThinking } from "./packedThinking.ts"
import { ownProvider } from "./requestBlocks.ts"

/** The block whose deltas are coming. `text` is what was held back of it, `pieces` whether any came. */
type Open =
  | { readonly kind: "text"; readonly index: number; readonly start: number; readonly sources: ReadonlyArray<Json> }
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
      readonly pieces: boolean
      readonly text: string
    }
  | { readonly kind: "output"; readonly index: number; readonly pieces: boolean; readonly text: string }
  | { readonly kind: "own"; readonly index: number; readonly block: JsonObject; readonly text: string }
  | { readonly kind: "nothing"; readonly index: number }

/** What must be remembered of an answer between its events. */
export interface BlocksState {
  readonly open: Open | undefined
  /** Calls of the client's own tools given out so far. */
  readonly calls: number
  /** The structured answer has begun. */
  readonly answered: boolean
  /** Text so far. While a structured answer may come it waits, for beside one it does not count. */
  readonly content: string
  /** The first block of waiting text. */
  readonly waitingAt: number | undefined
  readonly sources: Sources
  /** The thinking since the last call, as it has to go back. */
  readonly thoughts: ReadonlyArray<BlockOut>
}

export const noBlocks: BlocksState = {
  open: undefined,
  calls: 0,
  answered: false,
  content: "",
  waitingAt: undefined,
  sources: noSources,
  thoughts: []
}

/** What stays the same for a whole answer. */
export interface BlocksFacts {
  readonly callId: (n: number) => string
  readonly unmangle: (name: string) => string
  /** Our own tool, whose arguments are the answer. */
  readonly output: { readonly name: string; readonly wrapped: boolean } | undefined
  /** The client speaks the legacy `functions` dialect, which knows one call and no pieces of it. */
  readonly legacy: boolean
}

export const blocksFacts = (context: TranslateContext, request: ChatRequest): BlocksFacts => ({
  callId: context.callId,
  unmangle: toolNamesOf(request, claudeNames).unmangle,
  output: Result.getOrElse(jsonOutputOf(request), () => undefined),
  legacy: isLegacy(request)
})

type Step = readonly [BlocksState, ReadonlyArray<Delta>]

const textIn = (holder: JsonObject, field: string): string => {
  const value = holder[field]
  return typeof value === "string" ? value : ""
}

const blockDelta = (index: number, delta: ContentBlockDelta["delta"]): Pick<Delta, "content_blocks"> => ({
  content_blocks: [{ index, delta }]
})

const textDelta = (index: number, text: string): Delta => ({ content: text, ...blockDelta(index, { text }) })

/** True for a call that cannot be passed on. Its id is not read: the client gets one of ours. */
export const isMalformedCall = ({ input, name, type }: JsonObject): boolean =>
  type === "tool_use" &&
  (typeof name !== "string" || name === "" || !(input === undefined || input === null || isJsonObject(input)))

/** The same of a piece of its arguments. */
export const isMalformedPiece = ({ partial_json: piece, type }: JsonObject): boolean =>
  type === "input_json_delta" && typeof piece !== "string"

/** A block begins, with whatever of it is there already; the one before it ends, should nobody have said so. */
export const startBlock = (before: BlocksState, index: number, block: JsonObject, facts: BlocksFacts): Step => {
  const [state, closing] = endBlock(before, facts)
  const [next, deltas] = start(state, index, block, facts)
  return [next, closing.length === 0 ? deltas : [...closing, ...deltas]]
}

const start = (state: BlocksState, index: number, block: JsonObject, facts: BlocksFacts): Step => {
  switch (block["type"]) {
    case "text": {
      const sources = Array.isArray(block["citations"]) ? block["citations"] : []
      return addText(
        { ...state, open: { kind: "text", index, start: state.content.length, sources } },
        textIn(block, "text"),
        facts
      )
    }
    case "thinking":
      return addThinking(
        { ...state, open: { kind: "thinking", index, thinking: "", signature: "", shown: false } },
        textIn(block, "thinking"),
        textIn(block, "signature")
      )
    case "redacted_thinking": {
      const data = textIn(block, "data")
      const thoughts = [...state.thoughts, { type: "redacted_thinking", data }]
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
    // The first answer counts; another one would make two of one text.
    const open: Open = state.answered ? { kind: "nothing", index } : { kind: "output", index, pieces: false, text: "" }
    return addPiece({ ...state, answered: true, open }, whole, facts)
  }
  const call = state.calls
  const signature = packThinking(state.thoughts)
  const open: Open = { kind: "call", index, call, name: facts.unmangle(name), pieces: false, text: "" }
  const [next, pieces] = addPiece({ ...state, calls: call + 1, thoughts: [], open }, whole, facts)
  if (facts.legacy) return [next, pieces]
  const called = {
    name: open.name,
    arguments: "",
    ...(signature === undefined ? {} : { thought_signature: signature })
  }
  return [
    next,
    [{ tool_calls: [{ index: call, id: facts.callId(call), type: "function", function: called }] }, ...pieces]
  ]
}

/** More of the block that is open; what does not belong to it is passed over. */
export const growBlock = (state: BlocksState, index: number, delta: JsonObject, facts: BlocksFacts): Step => {
  const { open } = state
  if (open === undefined || open.index !== index) return [state, []]
  switch (delta["type"]) {
    case "text_delta":
      return addText(state, textIn(delta, "text"), facts)
    case "thinking_delta":
      return addThinking(state, textIn(delta, "thinking"), "")
    case "signature_delta":
      return addThinking(state, "", textIn(delta, "signature"))
    case "input_json_delta":
      return addPiece(state, textIn(delta, "partial_json"), facts)
    case "citations_delta":
      return open.kind === "text" && delta["citation"] !== undefined
        ? [{ ...state, open: { ...open, sources: [...open.sources, delta["citation"]] } }, []]
        : [state, []]
    default:
      return [state, []]
  }
}

const addText = (state: BlocksState, text: string, facts: BlocksFacts): Step => {
  const { open } = state
  if (open?.kind !== "text" || text === "") return [state, []]
  const content = state.content + text
  return facts.output === undefined
    ? [{ ...state, content }, [textDelta(open.index, text)]]
    : [{ ...state, content, waitingAt: state.waitingAt ?? open.index }, []]
}

/** A thought may be signed without being shown; its block is begun all the same. */
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

/** Pieces of arguments go out as they come, split wherever they are; a legacy call and a wrapped answer wait to be whole. */
const addPiece = (state: BlocksState, piece: string, facts: BlocksFacts): Step => {
  const { open } = state
  if (open === undefined || piece === "") return [state, []]
  switch (open.kind) {
    case "call": {
      const next: BlocksState = {
        ...state,
        open: { ...open, pieces: true, text: facts.legacy ? open.text + piece : "" }
      }
      return [next, facts.legacy ? [] : [{ tool_calls: [{ index: open.call, function: { arguments: piece } }] }]]
    }
    case "output": {
      const held = facts.output?.wrapped === true
      const next: BlocksState = { ...state, open: { ...open, pieces: true, text: held ? open.text + piece : "" } }
      return [next, held ? [] : [textDelta(open.index, piece)]]
    }
    case "own":
      return [{ ...state, open: { ...open, text: open.text + piece } }, []]
    default:
      return [state, []]
  }
}

/** The open block is whole; what waited for that goes out. */
export const endBlock = (before: BlocksState, facts: BlocksFacts): Step => {
  const { open } = before
  if (open === undefined) return [before, []]
  const state: BlocksState = { ...before, open: undefined }
  switch (open.kind) {
    case "text":
      return [{ ...state, sources: withSources(state.sources, open.sources, state.content, open.start) }, []]
    case "thinking": {
      const thought = { type: "thinking", thinking: open.thinking, signature: open.signature }
      return [open.signature === "" ? state : { ...state, thoughts: [...state.thoughts, thought] }, []]
    }
    case "call":
      return [state, closingCall(open, facts)]
    case "output":
      return [state, closingAnswer(open, facts)]
    case "own":
      return [
        state,
        [blockDelta(open.index, { provider_part: { provider: ownProvider, part: withInput(open.block, open.text) } })]
      ]
    case "nothing":
      return [state, []]
  }
}

const closingCall = (open: Open & { readonly kind: "call" }, facts: BlocksFacts): ReadonlyArray<Delta> => {
  const text = open.pieces ? open.text : "{}"
  if (facts.legacy) return open.call === 0 ? [{ function_call: { name: open.name, arguments: text } }] : []
  return open.pieces ? [] : [{ tool_calls: [{ index: open.call, function: { arguments: text } }] }]
}

const closingAnswer = (open: Open & { readonly kind: "output" }, facts: BlocksFacts): ReadonlyArray<Delta> => {
  if (facts.output?.wrapped === true) return open.pieces ? [textDelta(open.index, unwrapped(open.text))] : []
  return open.pieces ? [] : [textDelta(open.index, "{}")]
}

const opening = /^\s*\{\s*"value"\s*:\s*/

/** What stands under `value`; of an answer that was cut, what there is of it. */
const unwrapped = (text: string): string => {
  const whole = parseExactJsonText(text)
  if (Result.isFailure(whole)) return text.replace(opening, "")
  const value = isJsonObject(whole.success) ? whole.success["value"] : undefined
  return value === undefined ? text : JSON.stringify(value)
}

/** A server tool's input comes in pieces, too. */
const withInput = (block: JsonObject, text: string): JsonObject => {
  const input = text === "" ? undefined : parseExactJsonText(text)
  return input !== undefined && Result.isSuccess(input) ? { ...block, input: input.success } : block
}

/** The end of the answer: text that waited for a structured one in vain is the answer, beside one it is nothing. */
export const endBlocks = (before: BlocksState, facts: BlocksFacts): Step => {
  const [state, closing] = endBlock(before, facts)
  if (state.waitingAt === undefined) return [state, closing]
  return state.answered
    ? [{ ...state, sources: noSources }, closing]
    : [state, [...closing, textDelta(state.waitingAt, state.content)]]
}
