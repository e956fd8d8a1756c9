// Parses the network bytes of a Gemini stream (SSE) to the JSON of its events.
// Must not depend on the content of an event.
import * as Result from "effect/Result"
import { type Json, isJsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { type FrameState, type SseEvent, splitJson, sseEvents } from "../wire/frames.ts"
import { type Fold, type StreamFailed, streamFailed } from "./Translator.ts"

export interface JsonEventsState {
  readonly frames: FrameState
  readonly failed: boolean
}

/**
 * Emits every object sent as an event and skips other values. A payload that is not valid JSON ends the stream as
 * failed.
 */
export const jsonEvents = (limits: {
  readonly eventBytes: number
}): Fold<JsonEventsState, Uint8Array, Json | StreamFailed> => {
  const framing = sseEvents(limits)
  const read = (outputs: ReturnType<typeof framing.onHalt>): readonly [boolean, ReadonlyArray<Json | StreamFailed>] => {
    const out: Array<Json | StreamFailed> = []
    for (const output of outputs) {
      const fault = output._tag === "FrameFault" ? faults[output.kind] : readPayload(output, out)
      if (fault === undefined) continue
      out.push(streamFailed(fault))
      return [true, out]
    }
    return [false, out]
  }
  return {
    initial: () => ({ frames: framing.initial(), failed: false }),
    step: (state, bytes) => {
      if (state.failed) return [state, []]
      const [frames, outputs] = framing.step(state.frames, bytes)
      const [failed, out] = read(outputs)
      return [{ frames, failed }, out]
    },
    onHalt: (state) => (state.failed ? [] : read(framing.onHalt(state.frames))[1])
  }
}

const badReply = (kind: "unreadable" | "too_large", message: string): Reason => ({ _tag: "BadReply", kind, message })
const faults = {
  unreadable: badReply("unreadable", "The upstream sent an event that is not JSON text."),
  too_large: badReply("too_large", "The upstream sent an event over the size limit.")
}

/** Some proxies append OpenAI's end mark; it is not an event. */
const isMark = (data: string): boolean => data === "" || data === "[DONE]"

const readPayload = (event: SseEvent, out: Array<Json | StreamFailed>): Reason | undefined => {
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

const pushObjects = (value: Json, out: Array<Json | StreamFailed>): void => {
  if (isJsonObject(value)) out.push(value)
  else if (Array.isArray(value)) for (const one of value) if (isJsonObject(one)) out.push(one)
}
