// Translates the parts of a Gemini candidate (text, thoughts, calls, images, audio) to chat deltas, in order.
// Must not depend on finish reasons, usage or envelopes. A unary answer is read as one event.
import type * as Types from "effect/Types"
import { appendPiece, grow, type GrownList, sizeOf } from "../../wire/grownList.ts"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Candidate, FunctionCall, Part } from "../../wire/google.ts"
import type { AudioDelta, ContentBlockDelta, ContentPart, Delta, ToolCallDelta } from "../../wire/openai/ChatReply.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { excessOf, malformedCall } from "../shared/reply/upstreamError.ts"
import { geminiNames, type ToolNames, toolNamesOf } from "../shared/chat-request/toolCalls.ts"
import type { TranslateContext } from "../Translator.ts"
import { audioFacts, isAudio, wantsAudio } from "./speech.ts"
import { insertsTurn } from "./messages.ts"
import { addPieces, buildArgs, isPartial, type PartialCall, startPartialCall } from "./partialArgs.ts"

/** State of one choice between its events. */
export interface PartsState {
  /** Number of blocks sent so far. */
  readonly blocks: number
  /** The kind of the last block, while more of the same kind may extend it. */
  readonly growing: Kind | undefined
  /** Number of calls sent so far. */
  readonly calls: number
  readonly open: PartialCall | undefined
  /** The content so far (or only its start, see `keepsContent`), and the position of each part in it. */
  readonly content: string
  readonly partStarts: GrownList<number>
  readonly lastPart: PartKind | undefined
  readonly media: boolean
  /** State of the thoughts inside `content` (old experimental models): not begun, before the separator, over. */
  readonly joined: "none" | "thoughts" | "over"
  /** White space that is sent only when more text follows. */
  readonly blank: string
  /** After a call that cannot be passed on, or too many parts. */
  readonly fault: Reason | undefined
}

export const noParts: PartsState = {
  blocks: 0,
  growing: undefined,
  calls: 0,
  open: undefined,
  content: "",
  partStarts: undefined,
  lastPart: undefined,
  media: false,
  joined: "none",
  blank: "",
  fault: undefined
}

/** Constants of a whole answer. */
export interface PartsFacts {
  readonly provider: string
  readonly unmangle: (name: string) => string
  /** Thoughts also go into `content`, before the answer. */
  readonly joins: boolean
  /** True for legacy `functions` requests: one call per answer. */
  readonly legacy: boolean
  /** Spoken answers: joined at the end, or streamed with these facts in the first chunk. */
  readonly audio: "joined" | Pick<AudioDelta, "id" | "expires_at"> | undefined
  /** The answer is one word of an enum: surrounding white space is not part of it. */
  readonly trims: boolean
  /** Annotations need positions in the content, so all of it is kept. Otherwise only its emptiness matters. */
  readonly keepsContent: boolean
  /** A delta holds thinking, text, calls and pictures in this order only, so that its reader knows what came first. */
  readonly ordered: boolean
  /** False for an answer to a turn of ours: its signatures are bound to a history the client lacks (M-303). */
  readonly signs: () => boolean
}

/**
 * For a whole answer or a stream. A strict stream sends no annotations, so it does not keep the content. What most
 * answers do not ask for is found on first use, but not from a request that a stream would keep.
 */
export const partsFacts = (context: TranslateContext, request: ChatRequest, isWhole: boolean): PartsFacts => ({
  provider: context.target.kind,
  unmangle: isWhole ? lazyUnmangle(request) : toolNamesOf(request, geminiNames).unmangle,
  joins: context.target.facts.joinsThoughts && !context.strict,
  legacy: (request.functions?.length ?? 0) > 0 && (request.tools?.length ?? 0) === 0,
  audio: wantsAudio(request, context.target) ? (isWhole ? "joined" : audioFacts(context)) : undefined,
  trims: wantsWord(request),
  keepsContent: isWhole || !context.strict,
  ordered: context.ordered === true,
  signs: isWhole ? lazySigns(context, request) : constant(!insertsTurn(request, context))
})

const constant = (value: boolean) => () => value

/** Read at the first signature only. */
const lazySigns = (context: TranslateContext, request: ChatRequest): PartsFacts["signs"] => {
  let signs: boolean | undefined
  return () => (signs ??= !insertsTurn(request, context))
}

/** Builds the name map on first use: most answers have no calls. */
const lazyUnmangle = (request: ChatRequest): PartsFacts["unmangle"] => {
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

/** A delta that is being made; its lists grow in place. */
interface OpenDelta extends Types.Mutable<Omit<Delta, "content_blocks" | "content_parts" | "tool_calls">> {
  content_blocks?: Array<ContentBlockDelta>
  content_parts?: Array<ContentPart>
  tool_calls?: Array<ToolCallDelta>
}

const added = <A>(list: Array<A> | undefined, item: A): Array<A> => {
  if (list === undefined) return [item]
  list.push(item)
  return list
}

interface Work extends Types.Mutable<PartsState> {
  readonly facts: PartsFacts
  readonly callId: () => string
  readonly deltas: Array<OpenDelta>
}

/** Reads the parts of one event. `callId` generates the id of the next call. */
export const readParts = (
  state: PartsState,
  candidate: Candidate,
  facts: PartsFacts,
  callId: () => string
): readonly [PartsState, ReadonlyArray<Delta>] => {
  const parts = candidate.content?.parts ?? []
  const only = parts[0]
  if (only === undefined) return [state, []]
  const plain = parts.length === 1 ? readPlainText(state, only, facts) : undefined
  if (plain !== undefined) return plain
  const excess = excessOf(sizeOf(state.partStarts) + parts.length, state.calls)
  if (excess !== undefined) return [{ ...state, fault: excess }, []]
  const work: Work = { ...state, facts, callId, deltas: [] }
  parts.forEach((part, position) => readPart(work, part, position))
  work.fault ??= excessOf(0, work.calls)
  const { facts: _facts, callId: _callId, deltas, ...next } = work
  return [next, deltas]
}

/** Fast path for the most frequent event, a text without a signature: a third of the general path's cost. */
const readPlainText = (
  state: PartsState,
  part: Part,
  facts: PartsFacts
): readonly [PartsState, ReadonlyArray<Delta>] | undefined => {
  const { text } = part
  if (typeof text !== "string" || text === "" || !isPlain(part, facts)) return undefined
  const { calls, open, media, joined, blank, fault } = state
  const blocks = state.growing === "text" ? state.blocks : state.blocks + 1
  return [
    {
      blocks,
      growing: "text",
      calls,
      open,
      content: extendContent(state.content, text, facts),
      partStarts: state.lastPart === "text" ? state.partStarts : grow(state.partStarts, state.content.length),
      lastPart: "text",
      media,
      joined,
      blank,
      fault
    },
    [{ content: text, content_blocks: [{ index: blocks - 1, delta: { text } }] }]
  ]
}

/** True for a part whose text, if it has any, is sent as it is. */
const isPlain = (part: Part, { joins, trims }: PartsFacts): boolean =>
  part.thought !== true && !part.thoughtSignature && !joins && !trims

const extendContent = (content: string, piece: string, { keepsContent }: PartsFacts): string =>
  keepsContent ? appendPiece(content, piece) : content === "" ? piece : content

/** Sends a call whose arguments were incomplete: a call that is open at the end counts as whole. */
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
  // The first part of an event continues the last part of the event before; the other parts are new.
  if (position > 0 || kind !== work.lastPart) work.partStarts = grow(work.partStarts, work.content.length)
  work.lastPart = kind
  const signature = part.thoughtSignature && work.facts.signs() ? part.thoughtSignature : undefined
  if (kind === "text" || kind === "thinking") return readText(work, kind, part.text ?? "", signature)
  if (kind === "nothing" || kind === "draft") return
  if (kind === "audio" && work.facts.audio !== undefined) return readAudio(work, part, work.facts.audio)
  work.growing = undefined
  if (kind === "call") return readCall(work, part.functionCall ?? {}, signature)
  if (kind === "image") return readImage(work, part, signature)
  const block = work.blocks++
  const { thoughtSignature: _dropped, ...unsigned } = part
  const sent = part.thoughtSignature && signature === undefined ? unsigned : part
  addBlock(delta(work), { index: block, delta: { provider_part: { provider: work.facts.provider, part: sent } } })
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

/** The order in which a delta is read. */
const ranks = { thinking: 0, text: 1, call: 2, image: 3 } as const

const rankOf = ({ content, content_parts, tool_calls }: Delta): number =>
  content_parts !== undefined
    ? ranks.image
    : tool_calls !== undefined
      ? ranks.call
      : content
        ? ranks.text
        : ranks.thinking

/** The delta to fill; several parts share one delta while their order stays recoverable. */
const delta = (work: Work, kind?: keyof typeof ranks): OpenDelta => {
  const last = work.deltas.at(-1)
  const follows = kind === undefined || !work.facts.ordered || (last !== undefined && rankOf(last) <= ranks[kind])
  if (last !== undefined && follows) return last
  const first: OpenDelta = {}
  work.deltas.push(first)
  return first
}

const readText = (work: Work, kind: Kind, text: string, signature: string | undefined): void => {
  if (text === "" && signature === undefined) return
  if (text !== "") {
    if (delta(work).content_parts !== undefined) work.deltas.push({})
    const into = delta(work, kind)
    if (kind === "thinking") into.reasoning_content = (into.reasoning_content ?? "") + text
    const content = contentOf(work, kind, text)
    if (content !== "") {
      into.content = (into.content ?? "") + content
      work.content = extendContent(work.content, content, work.facts)
    }
  }
  // A signature belongs to its own part: signed text starts a new block, a bare signature closes the previous block.
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

const addBlock = (into: OpenDelta, block: ContentBlockDelta): void => {
  into.content_blocks = added(into.content_blocks, block)
}

const readImage = (work: Work, part: Part, signature: string | undefined): void => {
  const image: ContentPart = {
    type: "image",
    image: { b64_json: part.inlineData?.data ?? "", mime_type: part.inlineData?.mimeType ?? "" },
    ...(signature === undefined ? {} : { thought_signature: signature })
  }
  if (delta(work).content !== undefined) work.deltas.push({})
  const into = delta(work)
  into.content_parts = added(into.content_parts, image)
  work.media = true
}

/** Each chunk has its samples in base64 of their own, as OpenAI's have. */
const readAudio = (work: Work, part: Part, facts: NonNullable<PartsFacts["audio"]>): void => {
  if (facts === "joined") return
  const data = part.inlineData?.data ?? ""
  work.deltas.push({ audio: work.media ? { data } : { ...facts, data, transcript: "" } })
  work.media = true
}

const readCall = (work: Work, call: FunctionCall, signature: string | undefined): void => {
  if (isMalformed(call, work.open !== undefined)) {
    work.fault = malformedCall
    return
  }
  if (call.name) {
    closeCall(work)
    if (!isPartial(call)) return emitCall(work, call.name, call.args ?? {}, signature)
    work.open = startPartialCall(call, call.name, signature)
  } else if (work.open !== undefined) {
    work.open = addPieces(work.open, call, signature)
  }
  if (call.willContinue !== true) closeCall(work)
}

/**
 * A nameless part continues the open call. A bare nameless part ends the open call, and is malformed without one
 * (T1316).
 */
const isMalformed = ({ args, id, name, partialArgs }: FunctionCall, isOpen: boolean): boolean => {
  const hasArguments = args !== undefined && args !== null
  if (name) return hasArguments && !isJsonObject(args)
  return !isOpen && (hasArguments || (partialArgs?.length ?? 0) > 0 || Boolean(id))
}

const closeCall = (work: Work): void => {
  const open = work.open
  if (open === undefined) return
  work.open = undefined
  emitCall(work, open.name, buildArgs(open), open.signature)
}

const emitCall = (work: Work, name: string, args: Json, signature: string | undefined): void => {
  const index = work.calls++
  const call = { name: work.facts.unmangle(name), arguments: isJsonObject(args) ? JSON.stringify(args) : "{}" }
  const into = delta(work, "call")
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
  into.tool_calls = added(into.tool_calls, given)
}
