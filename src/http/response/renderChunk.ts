// Chunks of a chat stream as frames, in the form the client asked for.
// It must not depend on streams, sockets or the source of a chunk.
import { charactersOf } from "../../domain/estimateTokens.ts"
import {
  type AnswerCost,
  CustomCalls,
  picturedChunk,
  type PictureForm,
  strictlyChunk,
  withCost
} from "../../translate/shared/reply/clientForm.ts"
import { frame } from "../../wire/frames.ts"
import type { ChatChunk } from "../../wire/openai/ChatReply.ts"

/**
 * Adds the output of a chunk: text, thoughts and arguments of calls. `content_blocks` repeats the thoughts, but has what
 * stands for hidden ones: their signature, or their encrypted form.
 */
export const countOutput = (recorder: OutputCounts, { choices }: ChatChunk): void => {
  for (const { delta } of choices) {
    const { content, content_blocks: blocks, reasoning_content: thought, tool_calls: calls } = delta
    if (typeof content === "string") recorder.characters += charactersOf(content)
    if (thought !== undefined) recorder.characters += charactersOf(thought)
    if (calls !== undefined)
      for (const call of calls) recorder.characters += charactersOf(call.function.arguments ?? "")
    if (blocks !== undefined)
      for (const { delta: block } of blocks)
        recorder.characters += (block.signature?.length ?? 0) + (block.data?.length ?? 0)
    recorder.hasMedia ||= delta.audio !== undefined
    if (delta.content_parts !== undefined)
      recorder.hasMedia ||= delta.content_parts.some(({ type }) => type === "image")
  }
}

/** What has been sent of a stream of chunks. */
export interface OutputCounts {
  characters: number
  hasMedia: boolean
}

/** The form of a stream that the client asks for. */
export interface StreamOptions {
  readonly strict: boolean
  /** `stream_options.include_usage`: the usage chunk is sent, and all others have `usage: null`. */
  readonly usage: boolean
  /** Pictures are put into the text. */
  readonly images?: PictureForm
  readonly asksForImages?: boolean
  /** Read once, for the last chunk; undefined where that has no place for it. */
  readonly cost?: (() => AnswerCost | undefined) | undefined
  /** Custom tools of the request. */
  readonly customs?: ReadonlySet<string> | undefined
}

/** One chunk as a frame; empty for a chunk without visible content. */
export const renderChunk = (
  chunk: ChatChunk,
  options: StreamOptions,
  form: (chunk: ChatChunk) => object | undefined = (plain) => plain
): string => {
  const closing = chunk.choices.length === 0
  if (closing && !options.usage) return ""
  const shown = !options.usage ? chunk : closing ? withCost(chunk, options.cost?.()) : { ...chunk, usage: null }
  const pictured = picturedChunk(shown, options.images, options.strict)
  const out = options.strict ? strictlyChunk(pictured) : pictured
  const formed = out === undefined ? undefined : form(out)
  return formed === undefined ? "" : frame(JSON.stringify(formed))
}

/** What all chunks of a stream have in common. */
interface Envelope extends Pick<ChatChunk, "id" | "object" | "created" | "model"> {
  readonly system_fingerprint: string | undefined
}

/**
 * The same for all chunks of one stream. Nearly every strict chunk is a piece of text in the same envelope, so the
 * envelope is written once and the text put into it: a third of the cost of an event (`bench`, streams in a burst).
 */
export const chunkRenderer = (options: StreamOptions): ((chunk: ChatChunk) => string) => {
  const { customs } = options
  if (customs !== undefined && customs.size > 0) {
    const calls = new CustomCalls(customs)
    return (chunk) => renderChunk(chunk, options, (shown) => calls.shown(shown))
  }
  if (!options.strict) return (chunk) => renderChunk(chunk, options)
  let envelope: Envelope | undefined
  let head = ""
  return (chunk) => {
    const text = onlyText(chunk)
    if (text === undefined) return renderChunk(chunk, options)
    if (
      envelope?.id !== chunk.id ||
      envelope.created !== chunk.created ||
      envelope.model !== chunk.model ||
      envelope.system_fingerprint !== chunk.system_fingerprint
    ) {
      // Not the chunk, which would be kept for as long as the stream is open.
      const { created, id, model, object, system_fingerprint } = chunk
      envelope = { id, object, created, model, system_fingerprint }
      head = headOf(envelope, options)
    }
    return `${head}${JSON.stringify(text)}}}]}\n\n`
  }
}

const headOf = (envelope: Envelope, { usage }: StreamOptions): string => {
  const fields = JSON.stringify({ ...envelope, ...(usage ? { usage: null } : {}) })
  return `data: ${fields.slice(0, -1)},"choices":[{"index":0,"finish_reason":null,"delta":{"content":`
}

/** The text of a chunk whose strict form contains only text. */
const onlyText = (chunk: ChatChunk): string | undefined => {
  const choice = chunk.choices[0]
  if (choice === undefined || chunk.choices.length !== 1 || choice.index !== 0 || choice.finish_reason !== null)
    return undefined
  const { delta } = choice
  const isPlain =
    typeof delta.content === "string" &&
    delta.content !== "" &&
    delta.role === undefined &&
    delta.tool_calls === undefined &&
    delta.refusal === undefined &&
    delta.function_call === undefined &&
    choice.logprobs === undefined &&
    chunk.usage === undefined
  return isPlain && !tellsMore(chunk) ? delta.content : undefined
}

/** Fields of the envelope that strict clients see too, of upstreams that speak OpenAI's dialect themselves. */
const tellsMore = (chunk: ChatChunk): boolean =>
  "service_tier" in chunk || "moderation" in chunk || "obfuscation" in chunk
