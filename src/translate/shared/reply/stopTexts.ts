// Ends an answer at stop texts that its upstream was not asked to look for, in complete answers and in streams.
// Must not depend on a family: the caller names the texts.
import { hasKeys, type Json } from "../../../domain/text/json.ts"
import type {
  ChatChunk,
  ChatCompletion,
  Choice,
  ChunkChoice,
  ContentBlock,
  ContentPart,
  Delta
} from "../../../wire/openai/ChatReply.ts"
import { type Fold, isStreamFailed, type StreamFailed } from "../../Translator.ts"

type Output = ChatChunk | StreamFailed

/** The place of the first of the texts; -1 for none. */
const firstOf = (text: string, stops: ReadonlyArray<string>): number =>
  stops.reduce((first, stop) => {
    const at = text.indexOf(stop)
    return at >= 0 && (first < 0 || at < first) ? at : first
  }, -1)

/** The number of characters at the end with which one of the texts may begin. */
const openAtEnd = (text: string, stops: ReadonlyArray<string>): number =>
  stops.reduce((most, stop) => {
    for (let length = Math.min(stop.length - 1, text.length); length > most; length--)
      if (text.endsWith(stop.slice(0, length))) return length
    return most
  }, 0)

/** The first characters of the texts among the blocks; blocks after them are dropped. */
const cutTexts = <Block extends ContentBlock | ContentPart>(
  blocks: ReadonlyArray<Block>,
  length: number
): ReadonlyArray<Block> => {
  let left = length
  return blocks.flatMap((block): ReadonlyArray<Block> => {
    if (block.type !== "text") return left > 0 || block.type === "thinking" ? [block] : []
    const text = block.text.slice(0, left)
    left -= text.length
    return text === "" ? [] : [{ ...block, text }]
  })
}

const cutChoice = (choice: Choice, stops: ReadonlyArray<string>): Choice => {
  const {
    content,
    content_blocks: blocks,
    content_parts: parts,
    tool_calls: _calls,
    item_order: _order,
    ...message
  } = choice.message
  const at = content === null ? -1 : firstOf(content, stops)
  if (content === null || at < 0) return choice
  return {
    ...choice,
    message: {
      ...message,
      content: content.slice(0, at),
      ...(blocks === undefined ? {} : { content_blocks: cutTexts(blocks, at) }),
      ...(parts === undefined ? {} : { content_parts: cutTexts(parts, at) })
    },
    finish_reason: "stop"
  }
}

/** A complete answer, each choice up to the first of the texts. */
export const cutCompletion = (full: ChatCompletion, stops: ReadonlyArray<string>): ChatCompletion =>
  stops.length === 0 ? full : { ...full, choices: full.choices.map((choice) => cutChoice(choice, stops)) }

/** What is known of a choice: text that may be the beginning of a stop text, or that the choice is over. */
interface Waiting {
  readonly text: string
  readonly isOver: boolean
}

export interface StopState<State> {
  readonly inner: State
  readonly choices: ReadonlyMap<number, Waiting>
  /** The envelope for text that is held back at the end. */
  readonly last: ChatChunk | undefined
}

const fresh: Waiting = { text: "", isOver: false }

/** The delta with its text replaced, in the block of the text as well. */
const withText = (delta: Delta, text: string): Delta => {
  const { content: _content, content_blocks: blocks, ...others } = delta
  const index = blocks?.find(({ delta: { text: own } }) => own !== undefined)?.index
  const otherBlocks = blocks?.filter(({ delta: { text: blockText } }) => blockText === undefined) ?? []
  const changed = index === undefined || text === "" ? otherBlocks : [...otherBlocks, { index, delta: { text } }]
  return {
    ...others,
    ...(text === "" ? {} : { content: text }),
    ...(changed.length === 0 ? {} : { content_blocks: changed })
  }
}

/** What becomes of a choice of a chunk; several where the choice ends in it. */
const stepChoice = (
  choice: ChunkChoice,
  before: Waiting,
  stops: ReadonlyArray<string>
): readonly [Waiting, ReadonlyArray<ChunkChoice>] => {
  const { delta, finish_reason: finish } = choice
  if (before.isOver) return [before, []]
  const text = before.text + (delta.content ?? "")
  const at = firstOf(text, stops)
  if (at >= 0) {
    const { tool_calls: _calls, function_call: _call, ...others } = withText(delta, text.slice(0, at))
    const ended = { index: choice.index, delta: {}, finish_reason: "stop" } as const
    return [
      { text: "", isOver: true },
      hasKeys(others) ? [{ ...choice, delta: others, finish_reason: null }, ended] : [ended]
    ]
  }
  const isLast = finish !== null || delta.tool_calls !== undefined || delta.function_call !== undefined
  const heldLength = isLast ? 0 : openAtEnd(text, stops)
  const sent = withText(delta, text.slice(0, text.length - heldLength))
  const isEmpty = !hasKeys(sent) && hasKeys(delta) && finish === null
  return [{ text: text.slice(text.length - heldLength), isOver: false }, isEmpty ? [] : [{ ...choice, delta: sent }]]
}

/** The same for a stream. Counts are read to its end. */
export const cutStream = <State>(
  fold: Fold<State, Json, Output>,
  stops: ReadonlyArray<string>
): Fold<State | StopState<State>, Json, Output> => {
  // Cast: a fold is given no states but its own.
  type Either = Fold<State | StopState<State>, Json, Output>
  return stops.length === 0 ? (fold as Either) : (cutting(fold, stops) as Either)
}

const cutting = <State>(
  fold: Fold<State, Json, Output>,
  stops: ReadonlyArray<string>
): Fold<StopState<State>, Json, Output> => {
  const pass = (
    state: StopState<State>,
    inner: State,
    outputs: ReadonlyArray<Output>
  ): readonly [StopState<State>, ReadonlyArray<Output>] => {
    const choices = new Map(state.choices)
    let { last } = state
    const out = outputs.flatMap((chunk): ReadonlyArray<Output> => {
      if (isStreamFailed(chunk)) return [...heldBack(choices, last), chunk]
      last = chunk
      if (chunk.choices.length === 0) return [chunk]
      const steps = chunk.choices.flatMap((choice) => {
        const [next, given] = stepChoice(choice, choices.get(choice.index) ?? fresh, stops)
        choices.set(choice.index, next)
        return given
      })
      return steps.map((choice) => ({ ...chunk, choices: [choice] }))
    })
    return [{ inner, choices, last }, out]
  }
  const { next, progress, usage } = fold
  return {
    initial: () => ({ inner: fold.initial(), choices: new Map(), last: undefined }),
    step: (state, event) => pass(state, ...fold.step(state.inner, event)),
    onHalt: (state) => {
      const [{ choices, last }, out] = pass(state, state.inner, fold.onHalt(state.inner))
      return out.some(isStreamFailed) ? out : [...out, ...heldBack(choices, last)]
    },
    ...(usage === undefined ? {} : { usage: ({ inner }) => usage(inner) }),
    ...(progress === undefined ? {} : { progress: ({ inner }) => progress(inner) }),
    ...(next === undefined
      ? {}
      : {
          next: (state) => {
            const hop = next(state.inner)
            return hop === undefined ? undefined : { token: hop.token, state: { ...state, inner: hop.state } }
          }
        })
  }
}

/** Text that waited for the rest of a stop text which never came. */
const heldBack = (choices: ReadonlyMap<number, Waiting>, last: ChatChunk | undefined): ReadonlyArray<ChatChunk> => {
  if (last === undefined) return []
  const { usage: _usage, ...envelope } = last
  return [...choices].flatMap(([index, { text }]) =>
    text === "" ? [] : [{ ...envelope, choices: [{ index, delta: { content: text }, finish_reason: null }] }]
  )
}
