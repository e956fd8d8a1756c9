// Translates a streamed Claude answer to chat chunks in full form.
// Must not depend on bytes or frames; reads the JSON of each event.
import { hasShape } from "../../wire/hasShape.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { ClaudeMessageEvent } from "../../wire/anthropic.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, Delta } from "../../wire/openai/ChatReply.ts"
import { itemsOf } from "../../wire/grownList.ts"
import { cutAnswer, excessOf, malformedCall, unreadableEvent } from "../shared/reply/upstreamError.ts"
import { claudeUsage, mergeUsage } from "../shared/reply/usage.ts"
import { buildChunk, buildUsageChunk } from "../shared/reply/completion.ts"
import {
  type Fold,
  noProgress,
  openContext,
  type StreamFailed,
  streamFailed,
  type TranslateContext
} from "../Translator.ts"
import {
  type BlocksFacts,
  blocksFacts,
  type BlocksState,
  endBlock,
  endBlocks,
  growBlock,
  isMalformedCall,
  isMalformedPiece,
  noBlocks,
  startBlock
} from "./blocks.ts"
import { claudeEnd, type ClaudeEndState, claudeFailureInside, noClaudeEnd, readClaudeEnd } from "./response.ts"

export interface ClaudeStreamState {
  /** `begun`: the first event arrived. `over`: the last event arrived, or the stream failed. */
  readonly stage: "silent" | "begun" | "over"
  readonly model: string | undefined
  /** True after the delta with the role. */
  readonly opened: boolean
  readonly blocks: BlocksState
  readonly end: ClaudeEndState
  readonly usage: JsonObject | undefined
}

const initial: ClaudeStreamState = {
  stage: "silent",
  model: undefined,
  opened: false,
  blocks: noBlocks,
  end: noClaudeEnd,
  usage: undefined
}

const isEvent = hasShape(ClaudeMessageEvent)

type Output = ChatChunk | StreamFailed
type Step = readonly [ClaudeStreamState, ReadonlyArray<Output>]
interface Facts {
  readonly context: TranslateContext
  readonly blocks: BlocksFacts
}

/**
 * The role is sent with the first block, so an error right after the start can still become an HTTP error. The usage
 * chunk is always last; the caller filters it for clients that did not request it. A stream without `message_stop`
 * fails.
 */
export const streamFromClaude = (
  context: TranslateContext,
  request: ChatRequest
): Fold<ClaudeStreamState, Json, Output> => {
  const facts: Facts = { context: openContext(context), blocks: blocksFacts(context, request) }
  return {
    initial: () => initial,
    step: (state, event) => (state.stage === "over" ? [state, []] : readEvent(state, event, facts)),
    onHalt: (state) => (state.stage === "over" ? [] : [streamFailed(state.stage === "silent" ? empty : cutAnswer)]),
    usage: ({ usage }) => (usage === undefined ? undefined : claudeUsage(usage)),
    // The event with the stop reason has the last counts.
    progress: ({ end }) => (end.reason === undefined ? noProgress : { isCounted: true, characters: 0 })
  }
}

const readEvent = (state: ClaudeStreamState, json: Json, facts: Facts): Step => {
  const type = isJsonObject(json) ? json["type"] : undefined
  // Google's own errors have no type. Unlisted events have no meaning for a chat.
  if (isJsonObject(json) && isJsonObject(json["error"]) && (type === "error" || type === undefined))
    return failStream(state, claudeFailureInside(json["error"]))
  if (typeof type !== "string" || !knownEventTypes.has(type)) return [state, []]
  return isEvent(json) ? readKnownEvent(state, type, json, facts) : failStream(state, unreadableEvent)
}

const knownEventTypes = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "error"
])

const readKnownEvent = (state: ClaudeStreamState, type: string, event: ClaudeMessageEvent, facts: Facts): Step => {
  const { content_block: block, delta, usage } = event
  switch (type) {
    case "message_start": {
      const { message } = event
      const counts = message?.usage ? mergeUsage(state.usage, message.usage) : state.usage
      return [
        {
          ...state,
          stage: "begun",
          model: state.opened ? state.model : (message?.model ?? state.model),
          usage: counts
        },
        []
      ]
    }
    case "content_block_start":
      if (block && isMalformedCall(block)) return failStream(state, malformedCall)
      return block
        ? emitFirstBlocks(state, startBlock(state.blocks, event.index ?? 0, block, facts.blocks), facts)
        : [state, []]
    case "content_block_delta":
      if (delta && isMalformedPiece(delta)) return failStream(state, malformedCall)
      return delta
        ? emitBlocks(state, growBlock(state.blocks, event.index ?? 0, delta, facts.blocks), facts)
        : [state, []]
    case "content_block_stop":
      return emitBlocks(state, endBlock(state.blocks, facts.blocks), facts)
    case "message_delta": {
      const end = delta ? readClaudeEnd(state.end, delta["stop_reason"], delta["stop_details"]) : state.end
      return [{ ...state, stage: "begun", end, usage: usage ? mergeUsage(state.usage, usage) : state.usage }, []]
    }
    case "message_stop":
      return state.stage === "silent" ? failStream(state, empty) : finish(state, facts)
    default:
      return failStream(state, claudeFailureInside(event.error ?? {}))
  }
}

const failStream = (state: ClaudeStreamState, reason: Reason): Step => [
  { ...state, stage: "over" },
  [streamFailed(reason)]
]

type Blocks = readonly [BlocksState, ReadonlyArray<Delta>]

const emitFirstBlocks = (state: ClaudeStreamState, blocks: Blocks, facts: Facts): Step => {
  const excess = excessOf(blocks[0].blocks, blocks[0].calls)
  if (excess !== undefined) return failStream(state, excess)
  if (state.opened) return emitBlocks(state, blocks, facts)
  const [next, chunks] = emitBlocks({ ...state, stage: "begun", opened: true }, blocks, facts)
  return [next, [roleChunk(state, facts), ...chunks]]
}

const emitBlocks = (state: ClaudeStreamState, [blocks, deltas]: Blocks, facts: Facts): Step => [
  { ...state, blocks },
  deltas.map((delta) => buildChunk(facts.context, modelOf(state, facts), { index: 0, delta, finish_reason: null }))
]

const modelOf = ({ model }: ClaudeStreamState, { context }: Facts): string => model ?? context.target.modelId

const roleChunk = (state: ClaudeStreamState, facts: Facts): ChatChunk =>
  buildChunk(facts.context, modelOf(state, facts), {
    index: 0,
    delta: { role: "assistant", content: "" },
    finish_reason: null
  })

/** Emits the chunks due at the end. */
const finish = (state: ClaudeStreamState, facts: Facts): Step => {
  const [last, chunks] = emitBlocks(state, endBlocks(state.blocks, facts.blocks), facts)
  const { blocks } = last
  const end = claudeEnd(state.end, blocks.calls, facts.blocks.legacy)
  const citations = itemsOf(blocks.sources.citations)
  const annotations = itemsOf(blocks.sources.annotations)
  const model = modelOf(state, facts)
  const chunk = (delta: Delta) => buildChunk(facts.context, model, { index: 0, delta, finish_reason: null })
  return [
    { ...last, stage: "over" },
    [
      ...(state.opened ? [] : [roleChunk(state, facts)]),
      ...chunks,
      ...(end.refusal === undefined ? [] : [chunk({ refusal: end.refusal })]),
      buildChunk(facts.context, model, {
        index: 0,
        delta: annotations.length > 0 ? { annotations } : {},
        finish_reason: end.finish_reason,
        ...(end.native === undefined ? {} : { native_finish_reason: end.native }),
        ...(citations.length > 0 ? { citations } : {})
      }),
      buildUsageChunk(facts.context, model, claudeUsage(state.usage))
    ]
  ]
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer before it began. Try again."
}
