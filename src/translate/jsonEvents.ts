// Parses the network bytes of a Gemini stream (SSE) to the JSON of its events.
// Must not depend on the content of an event.
import * as Result from "effect/Result"
import { type Json, isJsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { answerBounds } from "../domain/Limits.ts"
import { largeEvent, tooManyEvents, tooSilent } from "./shared/reply/upstreamError.ts"
import { type FrameFault, type FrameState, type SseEvent, splitJson, sseEvents } from "../wire/frames.ts"
import { EventForms, type RepeatedEvent, type RepeatPlace } from "./repeatedEvents.ts"
import { type Fold, type StreamFailed, streamFailed } from "./Translator.ts"

interface EventLimits {
  readonly eventBytes: number
}

export interface JsonEventsState {
  readonly frames: FrameState
  readonly failed: boolean
}

/**
 * Emits every object sent as an event and skips other values. A payload that is not valid JSON ends the stream as
 * failed. With a `place`, events that repeat each other but for the text at that place are not parsed.
 */
export function jsonEvents(limits: EventLimits): Fold<JsonEventsState, Uint8Array, Json | StreamFailed>
export function jsonEvents(
  limits: EventLimits,
  place: RepeatPlace | undefined
): Fold<JsonEventsState, Uint8Array, Output>
export function jsonEvents(limits: EventLimits, place?: RepeatPlace): Fold<JsonEventsState, Uint8Array, Output> {
  return new JsonEvents(limits, place)
}

/** A class: each open stream has one. */
class JsonEvents implements Fold<JsonEventsState, Uint8Array, Output> {
  private readonly framing: ReturnType<typeof sseEvents>
  private readonly place: RepeatPlace | undefined

  constructor(limits: EventLimits, place: RepeatPlace | undefined) {
    this.framing = sseEvents({ ...answerBounds, ...limits })
    this.place = place
  }

  initial(): JsonEventsState {
    return { frames: this.framing.initial(), failed: false }
  }

  step(state: JsonEventsState, bytes: Uint8Array): readonly [JsonEventsState, ReadonlyArray<Output>] {
    if (state.failed) return [state, []]
    const [frames, outputs] = this.framing.step(state.frames, bytes)
    const [failed, out] = this.read(outputs)
    return [{ frames, failed }, out]
  }

  onHalt(state: JsonEventsState): ReadonlyArray<Output> {
    return state.failed ? [] : this.read(this.framing.onHalt(state.frames))[1]
  }

  private read(outputs: Frames): readonly [failed: boolean, ReadonlyArray<Output>] {
    const { place } = this
    const out: Array<Output> = []
    const fault =
      place === undefined || outputs.length < leastRun ? readEach(outputs, out) : readRuns(outputs, place, out)
    if (fault === undefined) return [false, out]
    out.push(streamFailed(fault))
    return [true, out]
  }
}

/** An event as JSON, or one that repeats the event before. */
export type JsonEvent = Json | RepeatedEvent
type Output = JsonEvent | StreamFailed
type Frames = ReadonlyArray<SseEvent | FrameFault>

/** Two events give a form, and the last one of a run is read whole. */
const leastRun = 4

const readEach = (frames: Frames, out: Array<Output>): Reason | undefined => {
  for (const frame of frames) {
    const fault = readFrame(frame, out)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** An event that repeats the one before is sent as such when the next one does so too; the last of a run is read whole. */
const readRuns = (frames: Frames, place: RepeatPlace, out: Array<Output>): Reason | undefined => {
  const forms = new EventForms(place)
  let last: RepeatedEvent | undefined
  let lastFrame: SseEvent | undefined
  for (const frame of frames) {
    const repeated = frame._tag === "SseEvent" ? forms.repeated(frame.data) : undefined
    if (repeated === undefined) {
      const fault = (lastFrame === undefined ? undefined : readFrame(lastFrame, out)) ?? readFrame(frame, out, forms)
      if (fault !== undefined) return fault
      lastFrame = undefined
    } else {
      if (last !== undefined) out.push(last)
      lastFrame = frame._tag === "SseEvent" ? frame : undefined
    }
    last = repeated
  }
  return lastFrame === undefined ? undefined : readFrame(lastFrame, out)
}

const faults: Readonly<Record<FrameFault["kind"], Reason>> = {
  unreadable: { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." },
  too_large: largeEvent,
  too_many: tooManyEvents,
  silent: tooSilent
}

/** Some proxies append OpenAI's end mark; it is not an event. */
const isMark = (data: string): boolean => data === "" || data === "[DONE]"

const readFrame = (frame: SseEvent | FrameFault, out: Array<Output>, forms?: EventForms): Reason | undefined =>
  frame._tag === "FrameFault" ? faults[frame.kind] : readPayload(frame, out, forms)

const readPayload = (event: SseEvent, out: Array<Output>, forms: EventForms | undefined): Reason | undefined => {
  if (isMark(event.data)) return undefined
  const whole = parseExactJsonText(event.data)
  if (Result.isSuccess(whole)) {
    forms?.learn(event.data, () => whole.success)
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

const pushObjects = (value: Json, out: Array<Output>): void => {
  if (isJsonObject(value)) out.push(value)
  else if (Array.isArray(value)) for (const one of value) if (isJsonObject(one)) out.push(one)
}
