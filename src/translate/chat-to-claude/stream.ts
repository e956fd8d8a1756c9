// The streamed answer of Claude as chat chunks in full form.
// It must not know bytes or frames; it reads the JSON of each event.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { MessageEvent } from "../../wire/anthropic/MessageEvent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, Delta } from "../../wire/openai/ChatReply.ts"
import { cutAnswer, malformedCall, unreadableEvent } from "../shared/reply/badStream.ts"
import { usageOf } from "../shared/claude/claudeUsage.ts"
import { mergeUsage } from "../shared/reply/counts.ts"
import { chunkOf, usageChunkOf } from "../shared/reply/envelope.ts"
import { type Fold, noProgress, type StreamFailed, streamFailed, type TranslateContext } from "../Translator.ts"
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
import { failureInside } from "./failure.ts"
import { endOf, type EndState, noEnd, readEnd } from "./finish.ts"

export interface StreamState {
  /** `begun`: the upstream has said something; `over`: it has said its last, or failed. */
  readonly stage: "silent" | "begun" | "over"
  readonly model: string | undefined
  /** The delta with the role is out. */
  readonly opened: boolean
  readonly blocks: BlocksState
  readonly end: EndState
  readonly usage: JsonObject | undefined
}

const initial: StreamState = {
  stage: "silent",
  model: undefined,
  opened: false,
  blocks: noBlocks,
  end: noEnd,
  usage: undefined
}

const decodeEvent = Schema.decodeUnknownResult(MessageEvent)

type Output = ChatChunk | StreamFailed
type Step = readonly [StreamState, ReadonlyArray<Output>]
interface Facts {
  readonly context: TranslateContext
  readonly blocks: BlocksFacts
}

/**
 * The role goes out with the first block, so that an error right after the start is still an ordinary error. The usage
 * chunk always comes last, the caller shows it to those who asked. A stream without `message_stop` ends as failed.
 */
export const streamFromClaude = (context: TranslateContext, request: ChatRequest): Fold<StreamState, Json, Output> => {
  const facts: Facts = { context, blocks: blocksFacts(context, request) }
  return {
    initial: () => initial,
    step: (state, event) => (state.stage === "over" ? [state, []] : readEvent(state, event, facts)),
    onHalt: (state) => (state.stage === "over" ? [] : [streamFailed(state.stage === "silent" ? empty : cutAnswer)]),
    usage: ({ usage }) => (usage === undefined ? undefined : usageOf(usage)),
    // The event with the stop reason has the last counts.
    progress: ({ end }) => (end.reason === undefined ? noProgress : { isCounted: true, characters: 0 })
  }
}

const readEvent = (state: StreamState, json: Json, facts: Facts): Step => {
  const type = isJsonObject(json) ? json["type"] : undefined
  // Google's own errors name no type. Other events that are not listed say nothing to a chat.
  if (isJsonObject(json) && isJsonObject(json["error"]) && (type === "error" || type === undefined))
    return failed(state, failureInside(json["error"]))
  if (typeof type !== "string" || !known.has(type)) return [state, []]
  const decoded = decodeEvent(json)
  return Result.isFailure(decoded) ? failed(state, unreadableEvent) : read(state, type, decoded.success, facts)
}

const known = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "error"
])

const read = (state: StreamState, type: string, event: MessageEvent, facts: Facts): Step => {
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
      if (block && isMalformedCall(block)) return failed(state, malformedCall)
      return block
        ? opening(state, startBlock(state.blocks, event.index ?? 0, block, facts.blocks), facts)
        : [state, []]
    case "content_block_delta":
      if (delta && isMalformedPiece(delta)) return failed(state, malformedCall)
      return delta ? giving(state, growBlock(state.blocks, event.index ?? 0, delta, facts.blocks), facts) : [state, []]
    case "content_block_stop":
      return giving(state, endBlock(state.blocks, facts.blocks), facts)
    case "message_delta": {
      const end = delta ? readEnd(state.end, delta["stop_reason"], delta["stop_details"]) : state.end
      return [{ ...state, stage: "begun", end, usage: usage ? mergeUsage(state.usage, usage) : state.usage }, []]
    }
    case "message_stop":
      return state.stage === "silent" ? failed(state, empty) : finish(state, facts)
    default:
      return failed(state, failureInside(event.error ?? {}))
  }
}

const failed = (state: StreamState, reason: Reason): Step => [{ ...state, stage: "over" }, [streamFailed(reason)]]

type Blocks = readonly [BlocksState, ReadonlyArray<Delta>]

const opening = (state: StreamState, blocks: Blocks, facts: Facts): Step => {
  if (state.opened) return giving(state, blocks, facts)
  const [next, chunks] = giving({ ...state, stage: "begun", opened: true }, blocks, facts)
  return [next, [roleChunk(state, facts), ...chunks]]
}

const giving = (state: StreamState, [blocks, deltas]: Blocks, facts: Facts): Step => [
  { ...state, blocks },
  deltas.map((delta) => chunkOf(facts.context, modelOf(state, facts), { index: 0, delta, finish_reason: null }))
]

const modelOf = ({ model }: StreamState, { context }: Facts): string => model ?? context.target.modelId

const roleChunk = (state: StreamState, facts: Facts): ChatChunk =>
  chunkOf(facts.context, modelOf(state, facts), {
    index: 0,
    delta: { role: "assistant", content: "" },
    finish_reason: null
  })

/** Every chunk that is owed at the end. */
const finish = (state: StreamState, facts: Facts): Step => {
  const [last, chunks] = giving(state, endBlocks(state.blocks, facts.blocks), facts)
  const { blocks } = last
  const end = endOf(state.end, blocks.calls, facts.blocks.legacy)
  const { citations, annotations } = blocks.sources
  const model = modelOf(state, facts)
  const chunk = (delta: Delta) => chunkOf(facts.context, model, { index: 0, delta, finish_reason: null })
  return [
    { ...last, stage: "over" },
    [
      ...(state.opened ? [] : [roleChunk(state, facts)]),
      ...chunks,
      ...(end.refusal === undefined ? [] : [chunk({ refusal: end.refusal })]),
      chunkOf(facts.context, model, {
        index: 0,
        delta: annotations.length > 0 ? { annotations } : {},
        finish_reason: end.finish_reason,
        ...(end.native === undefined ? {} : { native_finish_reason: end.native }),
        ...(citations.length > 0 ? { citations } : {})
      }),
      usageChunkOf(facts.context, model, usageOf(state.usage))
    ]
  ]
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer before it began. Try again."
}
