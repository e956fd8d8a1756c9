// Reads one stream of an upstream: the bytes of its network reads in, chunks out. A reader holds the stream's mutable state.
// Must not depend on a dialect, or on where bytes come from.
import * as Result from "effect/Result"
import { answerBounds } from "../domain/Limits.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { isJsonObject, type Json, parseExactJsonText } from "../domain/text/json.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"
import { type FrameFault, type FrameState, type SseEvent, splitJson, sseEvents } from "../wire/frames.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { largeEvent, tooManyEvents, tooSilent, withOrigin } from "./shared/reply/upstreamError.ts"
import { type Fold, isStreamFailed, noProgress, type Progress, type StreamFailed, streamFailed } from "./Translator.ts"

/** Reads the bytes of one response. A failure is the last output. */
export interface StreamReader<Chunk> {
  readonly read: (bytes: Uint8Array) => ReadonlyArray<Chunk | StreamFailed>
  /** What is due where the input ends. It changes nothing, so that counts stay those of the input. */
  readonly end: () => ReadonlyArray<Chunk | StreamFailed>
  /** The upstream's counts so far. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
  /** Asked at the end of the input; undefined: the answer is over, or cannot be continued. */
  readonly next: () => NextHop<Chunk> | undefined
}

/** The token that asks for the rest of an answer, and what reads the rest. */
export interface NextHop<Chunk> {
  readonly token: string
  readonly reader: StreamReader<Chunk>
}

type Origin = "caller" | "stored"

/** The reader of a fold. `origin` is the owner of the credential, which the fold does not know. */
export const streamReader = <State, Chunk>(
  fold: Fold<State, Uint8Array, Chunk | StreamFailed>,
  origin: Origin = "stored"
): StreamReader<Chunk> => new FoldReader(fold, fold.initial(), origin)

/** A class: each open stream has one. */
class FoldReader<State, Chunk> implements StreamReader<Chunk> {
  private readonly fold: Fold<State, Uint8Array, Chunk | StreamFailed>
  private readonly origin: Origin
  private state: State

  constructor(fold: Fold<State, Uint8Array, Chunk | StreamFailed>, state: State, origin: Origin) {
    this.fold = fold
    this.state = state
    this.origin = origin
  }

  read(bytes: Uint8Array): ReadonlyArray<Chunk | StreamFailed> {
    const [state, outputs] = this.fold.step(this.state, bytes)
    this.state = state
    return this.setOrigin(outputs)
  }

  end(): ReadonlyArray<Chunk | StreamFailed> {
    return this.setOrigin(this.fold.onHalt(this.state))
  }

  usage(): Usage | undefined {
    return this.fold.usage?.(this.state)
  }

  progress(): Progress {
    return this.fold.progress?.(this.state) ?? noProgress
  }

  next(): NextHop<Chunk> | undefined {
    const hop = this.fold.next?.(this.state)
    return hop && { token: hop.token, reader: new FoldReader(this.fold, hop.state, this.origin) }
  }

  private setOrigin(outputs: ReadonlyArray<Chunk | StreamFailed>): ReadonlyArray<Chunk | StreamFailed> {
    const last = outputs.at(-1)
    return isStreamFailed(last)
      ? [...outputs.slice(0, -1), streamFailed(withOrigin(last.reason, this.origin))]
      : outputs
  }
}

/** Ignores every input and returns nothing: an operation without streams. */
export const noStream: StreamReader<never> = {
  read: () => [],
  end: () => [],
  usage: () => undefined,
  progress: () => noProgress,
  next: () => undefined
}

/** All outputs of a reader for these bytes, and of their end. */
export const readStream = <Chunk>(
  reader: StreamReader<Chunk>,
  pieces: Iterable<Uint8Array>
): ReadonlyArray<Chunk | StreamFailed> => {
  const out: Array<Chunk | StreamFailed> = []
  for (const bytes of pieces) out.push(...reader.read(bytes))
  return [...out, ...reader.end()]
}

/** A stream of events while it comes. `isOver`: it has failed. */
export interface EventsState<State> {
  readonly frames: FrameState
  readonly state: State
  readonly isOver: boolean
}

interface EventOptions {
  readonly eventBytes: number
  /** Hides secrets in the event that a failure is read from. */
  readonly redaction?: Redaction
}

/**
 * The fold of the bytes of server-sent events, by a fold of their JSON. Every object sent as an event is an event; other
 * values are skipped. A payload that is not valid JSON is a failure.
 */
export const eventFold = <State, Chunk>(
  fold: Fold<State, Json, Chunk | StreamFailed>,
  options: EventOptions
): Fold<EventsState<State>, Uint8Array, Chunk | StreamFailed> => new EventFold(fold, options)

type Taken<State, Chunk> = readonly [EventsState<State>, ReadonlyArray<Chunk | StreamFailed>]

/** A class: each open stream has one. */
class EventFold<State, Chunk> implements Fold<EventsState<State>, Uint8Array, Chunk | StreamFailed> {
  private readonly framing: ReturnType<typeof sseEvents>
  private readonly fold: Fold<State, Json, Chunk | StreamFailed>
  private readonly redaction: Redaction

  constructor(fold: Fold<State, Json, Chunk | StreamFailed>, { eventBytes, redaction = noRedaction }: EventOptions) {
    this.framing = sseEvents({ ...answerBounds, eventBytes })
    this.fold = fold
    this.redaction = redaction
  }

  initial(): EventsState<State> {
    return { frames: this.framing.initial(), state: this.fold.initial(), isOver: false }
  }

  step(before: EventsState<State>, bytes: Uint8Array): Taken<State, Chunk> {
    if (before.isOver) return [before, []]
    const [frames, outputs] = this.framing.step(before.frames, bytes)
    return this.take(before.state, frames, outputs)
  }

  onHalt(before: EventsState<State>): ReadonlyArray<Chunk | StreamFailed> {
    if (before.isOver) return []
    const [last, outputs] = this.take(before.state, before.frames, this.framing.onHalt(before.frames))
    return last.isOver ? outputs : [...outputs, ...this.fold.onHalt(last.state)]
  }

  usage({ state }: EventsState<State>): Usage | undefined {
    return this.fold.usage?.(state)
  }

  progress({ state }: EventsState<State>): Progress {
    return this.fold.progress?.(state) ?? noProgress
  }

  /** Another response brings the next hop. */
  next({ state }: EventsState<State>): { readonly token: string; readonly state: EventsState<State> } | undefined {
    const hop = this.fold.next?.(state)
    return hop && { token: hop.token, state: { frames: this.framing.initial(), state: hop.state, isOver: false } }
  }

  private take(before: State, frames: FrameState, read: ReadonlyArray<SseEvent | FrameFault>): Taken<State, Chunk> {
    const events: Array<Json> = []
    const fault = readFrames(read, events)
    const out: Array<Chunk | StreamFailed> = []
    let state = before
    for (const event of events) {
      const [next, outputs] = this.fold.step(state, event)
      for (const output of outputs) out.push(output)
      const last = outputs.at(-1)
      if (isStreamFailed(last)) {
        out[out.length - 1] = this.redacted(state, event, last)
        return [{ frames, state: next, isOver: true }, out]
      }
      state = next
    }
    if (fault !== undefined) out.push(streamFailed(fault))
    return [{ frames, state, isOver: fault !== undefined }, out]
  }

  /** The step is pure, so the failure is produced a second time, from the redacted event. */
  private redacted(state: State, event: Json, first: StreamFailed): StreamFailed {
    const again = this.fold.step(state, this.redaction.json(event))[1].at(-1)
    return isStreamFailed(again) && again.reason._tag === first.reason._tag ? again : first
  }
}

const faults: Readonly<Record<FrameFault["kind"], Reason>> = {
  unreadable: { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." },
  too_large: largeEvent,
  too_many: tooManyEvents,
  silent: tooSilent
}

/** Some proxies append OpenAI's end mark; it is not an event. */
const isMark = (data: string): boolean => data === "" || data === "[DONE]"

/** Reads the events of frames, and returns why no event follows them. */
const readFrames = (frames: ReadonlyArray<SseEvent | FrameFault>, out: Array<Json>): Reason | undefined => {
  for (const frame of frames) {
    const fault = frame._tag === "FrameFault" ? faults[frame.kind] : readPayload(frame, out)
    if (fault !== undefined) return fault
  }
  return undefined
}

const readPayload = (event: SseEvent, out: Array<Json>): Reason | undefined => {
  if (isMark(event.data)) return undefined
  const whole = parseExactJsonText(event.data)
  if (Result.isSuccess(whole)) {
    pushObjects(whole.success, out)
    return undefined
  }
  const split = splitJson(event.data)
  for (const text of split?.values ?? []) {
    const value = parseExactJsonText(text)
    if (Result.isFailure(value)) return event.ended ? faults.unreadable : undefined
    pushObjects(value.success, out)
  }
  // A cut last event is not a fault here: finish reasons decide whether the answer is complete.
  return event.ended && (split === undefined || split.rest) ? faults.unreadable : undefined
}

const pushObjects = (value: Json, out: Array<Json>): void => {
  if (isJsonObject(value)) out.push(value)
  else if (Array.isArray(value)) for (const one of value) if (isJsonObject(one)) out.push(one)
}
