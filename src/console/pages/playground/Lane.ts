// A chat with one model: its turns, and the answer that is coming.
// Must not know how turns are shown.
import { type Signal, signal } from "@preact/signals"
import { messageOf } from "../../parts/Query.ts"
import * as chat from "./ChatClient.ts"
import { chatOf, type Entry } from "./chatBody.ts"
import { noAnswer } from "./chatStream.ts"

/** What the next request of a chat is made of, next to its turns. */
export interface Options {
  readonly key: string
  readonly system: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Lane {
  readonly model: Signal<string>
  readonly entries: Signal<ReadonlyArray<Entry>>
  readonly running: Signal<AbortController | undefined>
  readonly fault: Signal<string>
  /** The options of the last request, which tool results go with. */
  readonly options: Signal<Options | undefined>
}

export const makeLane = (): Lane => ({
  model: signal(""),
  entries: signal([]),
  running: signal(undefined),
  fault: signal(""),
  options: signal(undefined)
})

/** Adds a turn of the user, asks, and adds the answer as it grows. A turn without an answer is taken back. */
export const ask = async (lane: Lane, options: Options, turn: Entry): Promise<void> => {
  const before = lane.entries.value
  const asked = [...before, turn]
  const started = performance.now()
  let answer: Entry & { readonly kind: "answer" } = {
    kind: "answer",
    answer: noAnswer,
    requestId: "",
    millis: 0,
    firstMillis: undefined
  }
  const show = (change: Partial<typeof answer>): void => {
    answer = { ...answer, ...change, millis: performance.now() - started }
    lane.entries.value = [...asked, answer]
  }
  const abort = new AbortController()
  lane.running.value = abort
  lane.options.value = options
  lane.fault.value = ""
  show({})
  try {
    const body = chatOf(lane.model.value, options.system, asked, options.parameters)
    const requestId = await chat.stream(
      options.key,
      body,
      (grown) => show({ answer: grown, firstMillis: answer.firstMillis ?? performance.now() - started }),
      abort.signal
    )
    show({ requestId })
    lane.fault.value = answer.answer.fault
  } catch (error) {
    lane.fault.value = abort.signal.aborted ? "Stopped." : messageOf(error)
    if (answer.answer === noAnswer) lane.entries.value = before
  }
  lane.running.value = undefined
}

export const clear = (lane: Lane): void => {
  lane.running.value?.abort()
  lane.entries.value = []
  lane.fault.value = ""
}
