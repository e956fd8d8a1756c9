// Parts of one candidate to deltas, in order. The unary answer is read the same way, as one event.
// It must not know finish reasons, usage or envelopes.
import type * as Types from "effect/Types"
import { grown } from "../../domain/text/grown.ts"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Candidate, FunctionCall, Part } from "../../wire/google/GenerateContent.ts"
import type { Delta, ToolCallDelta } from "../../wire/openai/ChatReply.ts"
import type { ContentBlockDelta, ContentPart } from "../../wire/openai/Extensions.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { geminiNames, type ToolNames, toolNamesOf } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { isAudio, wantsAudio } from "./audio.ts"
import { addPieces, argsOf, isPartial, type OpenCall, openCall } from "./partialArgs.ts"

/** What must be remembered of one choice between its events. */
export interface PartsState {
  /** Blocks given out so far. */
  readonly blocks: number
  /** The kind of the last block while more of the same may join it. */
  readonly growing: Kind | undefined
  /** Calls given out so far. */
  readonly calls: number
  readonly open: OpenCall | undefined
  /** The content so far, or a beginning of it where that is enough, and where in it each part of the answer begins. */
  readonly content: string
  readonly partStarts: ReadonlyArray<number>
  readonly lastPart: PartKind | undefined
  readonly media: boolean
  /** The chain of thought in `content` of the old experimental models: not begun, waiting for its separator, over. */
  readonly joined: "none" | "thoughts" | "over"
  /** White space that is only given out when more text follows. */
  readonly blank: string
  /** A call came that cannot be passed on. */
  readonly malformed: boolean
}

export const noParts: PartsState = {
  blocks: 0,
  growing: undefined,
  calls: 0,
  open: undefined,
  content: "",
  partStarts: [],
  lastPart: undefined,
  media: false,
  joined: "none",
  blank: "",
  malformed: false
}

/** What stays the same for a whole answer. */
export interface PartsFacts {
  readonly provider: string
  readonly unmangle: (name: string) => string
  /** Thoughts go into `content` too, before the answer. */
  readonly joins: boolean
  /** The client speaks the legacy `functions` dialect, which knows one call. */
  readonly legacy: boolean
  readonly audio: boolean
  /** The answer is one word of an enum: white space around it is not part of it. */
  readonly trims: boolean
  /** Sources are told with their places in the content, so all of it is kept. Else it only matters whether there is any. */
  readonly keepsContent: boolean
}

/** Of a whole answer, or of a stream. A strict stream tells no sources, and would keep a text that nobody asks for. */
export const partsFacts = (context: TranslateContext, request: ChatRequest, isWhole: boolean): PartsFacts => ({
  provider: context.target.kind,
  unmangle: unmangling(request),
  joins: context.target.facts.joinsThoughts && !context.strict,
  legacy: (request.functions?.length ?? 0) > 0 && (request.tools?.length ?? 0) === 0,
  audio: wantsAudio(request),
  trims: wantsWord(request),
  keepsContent: isWhole || !context.strict
})

/** Most answers call nothing. */
const unmangling = (request: ChatRequest): PartsFacts["unmangle"] => {
  let names: ToolNames | undefined
  return (name) => (names ??= toolNamesOf(request, geminiNames)).unmangle(name)
}

const wantsWord = ({ response_format: format }: ChatRequest): boolean => {
  const named = format?.["json_schema"]
  const schema = isJsonObject(named) ? named["schema"] : undefined
  return isJsonObject(schema) && Array.isArray(schema["enum"]) && schema["type"] === "string"
}

type Kind = "thinking" | "text"
type PartKind = Kind | "call" | "image" | "draft" | "audio" | "provider_part" | "nothing"
interface Work extends Types.Mutable<PartsState> {
  readonly facts: PartsFacts
  readonly callId: () => string
  readonly deltas: Array<Types.Mutable<Delta>>
}

/** Reads the parts of one event. `callId` names the next call of the answer. */
export const readParts = (
  state: PartsState,
  candidate: Candidate,
  facts: PartsFacts,
  callId: () => string
): readonly [PartsState, ReadonlyArray<Delta>] => {
  const parts = candidate.content?.parts ?? []
  const only = parts[0]
  if (only === undefined) return [state, []]
  const more = parts.length === 1 ? moreText(state, only, facts) : undefined
  if (more !== undefined) return more
  const work: Work = { ...state, facts, callId, deltas: [] }
  parts.forEach((part, position) => readPart(work, part, position))
  const { facts: _facts, callId: _callId, deltas, ...next } = work
  return [next, deltas]
}

/** What nearly every event of a stream is: more of the text before it. The general way would read it alike, at three times the cost. */
const moreText = (
  state: PartsState,
  part: Part,
  facts: PartsFacts
): readonly [PartsState, ReadonlyArray<Delta>] | undefined => {
  const { text } = part
  const isMore =
    typeof text === "string" &&
    text !== "" &&
    part.thought !== true &&
    !part.thoughtSignature &&
    state.lastPart === "text" &&
    state.growing === "text" &&
    !facts.joins &&
    !facts.trims
  if (!isMore) return undefined
  const { blocks, calls, open, partStarts, media, joined, blank, malformed } = state
  return [
    {
      blocks,
      growing: "text",
      calls,
      open,
      content: longer(state.content, text, facts),
      partStarts,
      lastPart: "text",
      media,
      joined,
      blank,
      malformed
    },
    [{ content: text, content_blocks: [{ index: blocks - 1, delta: { text } }] }]
  ]
}

const longer = (content: string, piece: string, { keepsContent }: PartsFacts): string =>
  keepsContent ? grown(content, piece) : content === "" ? piece : content

/** Gives out a call whose arguments were still coming: a call that is open at the end counts as whole. */
export const closeParts = (
  state: PartsState,
  facts: PartsFacts,
  callId: () => string
): readonly [PartsState, ReadonlyArray<Delta>] => {
  if (state.open === undefined) return [state, []]
  const work: Work = { ...state, facts, callId, deltas: [] }
  closeCall(work)
  const { facts: _facts, callId: _callId, deltas, ...next } = work
  return [next, deltas]
}

const readPart = (work: Work, part: Part, position: number): void => {
  const kind = kindOf(part)
  // The first part of an event goes on with the last part of the event before; the others begin.
  if (position > 0 || kind !== work.lastPart) work.partStarts = [...work.partStarts, work.content.length]
  work.lastPart = kind
  const signature = part.thoughtSignature ? part.thoughtSignature : undefined
  if (kind === "text" || kind === "thinking") return readText(work, kind, part.text ?? "", signature)
  if (kind === "nothing" || kind === "draft" || (kind === "audio" && work.facts.audio)) return
  work.growing = undefined
  if (kind === "call") return readCall(work, part.functionCall ?? {}, signature)
  if (kind === "image") return readImage(work, part, signature)
  const block = work.blocks++
  addBlock(delta(work), { index: block, delta: { provider_part: { provider: work.facts.provider, part } } })
}

const plainKeys = new Set(["text", "thought", "thoughtSignature"])

const kindOf = (part: Part): PartKind => {
  if (typeof part.text === "string") return part.thought === true ? "thinking" : "text"
  if (isJsonObject(part.functionCall)) return "call"
  if (isAudio(part)) return "audio"
  if (part.inlineData?.mimeType?.startsWith("image/") === true) return part.thought === true ? "draft" : "image"
  if (Object.keys(part).some((key) => !plainKeys.has(key) && part[key] !== null)) return "provider_part"
  if (!part.thoughtSignature) return "nothing"
  return part.thought === true ? "thinking" : "text"
}

/** The delta being filled; several parts share one where their order can still be told. */
const delta = (work: Work): Types.Mutable<Delta> => {
  const last = work.deltas.at(-1)
  if (last !== undefined) return last
  const first: Types.Mutable<Delta> = {}
  work.deltas.push(first)
  return first
}

const readText = (work: Work, kind: Kind, text: string, signature: string | undefined): void => {
  if (text === "" && signature === undefined) return
  if (text !== "") {
    if (delta(work).content_parts !== undefined) work.deltas.push({})
    const into = delta(work)
    if (kind === "thinking") into.reasoning_content = (into.reasoning_content ?? "") + text
    const content = contentOf(work, kind, text)
    if (content !== "") {
      into.content = (into.content ?? "") + content
      work.content = longer(work.content, content, work.facts)
    }
  }
  // A signature belongs to its own part: signed text opens a block of its own, a bare signature closes the block before it.
  const joins = work.growing === kind && (text === "" || signature === undefined)
  if (!joins) work.blocks++
  work.growing = signature === undefined ? kind : undefined
  addBlock(delta(work), {
    index: work.blocks - 1,
    delta: {
      ...(joins && text === "" ? {} : kind === "thinking" ? { thinking: text } : { text }),
      ...(signature === undefined ? {} : { signature })
    }
  })
}

const separator = "\r\n\r\n"

const contentOf = (work: Work, kind: Kind, text: string): string => {
  if (kind === "text") {
    if (work.facts.trims) return trimmed(work, text)
    const between = work.joined === "thoughts" ? separator : ""
    if (work.facts.joins) work.joined = "over"
    return between + text
  }
  if (!work.facts.joins || work.joined === "over") return ""
  work.joined = "thoughts"
  return text
}

const trimmed = (work: Work, text: string): string => {
  const all = work.blank + text
  const from = work.content === "" ? all.trimStart() : all
  const shown = from.trimEnd()
  work.blank = from.slice(shown.length)
  return shown
}

const addBlock = (into: Types.Mutable<Delta>, block: ContentBlockDelta): void => {
  into.content_blocks = into.content_blocks === undefined ? [block] : [...into.content_blocks, block]
}

const readImage = (work: Work, part: Part, signature: string | undefined): void => {
  const image: ContentPart = {
    type: "image",
    image: { b64_json: part.inlineData?.data ?? "", mime_type: part.inlineData?.mimeType ?? "" },
    ...(signature === undefined ? {} : { thought_signature: signature })
  }
  if (delta(work).content !== undefined) work.deltas.push({})
  const into = delta(work)
  into.content_parts = into.content_parts === undefined ? [image] : [...into.content_parts, image]
  work.media = true
}

const readCall = (work: Work, call: FunctionCall, signature: string | undefined): void => {
  if (isMalformed(call, work.open !== undefined)) {
    work.malformed = true
    return
  }
  if (call.name) {
    closeCall(work)
    if (!isPartial(call)) return giveCall(work, call.name, call.args ?? {}, signature)
    work.open = openCall(call, call.name, signature)
  } else if (work.open !== undefined) {
    work.open = addPieces(work.open, call, signature)
  }
  if (call.willContinue !== true) closeCall(work)
}

/** Without a name it goes on with the call that is open; a bare one ends that, and is no call by itself (T1316). */
const isMalformed = ({ args, id, name, partialArgs }: FunctionCall, isOpen: boolean): boolean => {
  const hasArguments = args !== undefined && args !== null
  if (name) return hasArguments && !isJsonObject(args)
  return !isOpen && (hasArguments || (partialArgs?.length ?? 0) > 0 || Boolean(id))
}

const closeCall = (work: Work): void => {
  const open = work.open
  if (open === undefined) return
  work.open = undefined
  giveCall(work, open.name, argsOf(open), open.signature)
}

const giveCall = (work: Work, name: string, args: Json, signature: string | undefined): void => {
  const index = work.calls++
  const call = { name: work.facts.unmangle(name), arguments: isJsonObject(args) ? JSON.stringify(args) : "{}" }
  const into = delta(work)
  if (work.facts.legacy) {
    if (index === 0) into.function_call = call
    return
  }
  const given: ToolCallDelta = {
    index,
    id: work.callId(),
    type: "function",
    function: signature === undefined ? call : { ...call, thought_signature: signature },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } })
  }
  into.tool_calls = into.tool_calls === undefined ? [given] : [...into.tool_calls, given]
}
