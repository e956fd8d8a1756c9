// A first process and its workers within one process: messages pass as JSON, as they do between processes.
// Must not start a process.
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import {
  layerPrimaryState,
  makeWorkersState,
  type StateCalls,
  type WorkersState
} from "../../src/state/WorkersState.ts"
import type { SharedState } from "../../src/state/SharedState.ts"
import { type Link, makeLink, type Port } from "../../src/state/Link.ts"

/** Both ends of a channel. A message to a closed channel fails. */
export const linkedPorts = (): {
  readonly ends: readonly [Port, Port]
  readonly sent: ReadonlyArray<string>
  readonly close: () => void
} => {
  const listeners: [Set<(message: unknown) => void>, Set<(message: unknown) => void>] = [new Set(), new Set()]
  const sent: Array<string> = []
  let isClosed = false
  const end = (mine: 0 | 1, theirs: 0 | 1): Port => ({
    send: (message, failed) => {
      if (isClosed) return failed(new Error("the channel is closed"))
      const text = JSON.stringify(message)
      sent.push(text)
      for (const listener of listeners[theirs]) listener(JSON.parse(text))
    },
    listen: (listener) => {
      listeners[mine].add(listener)
      return () => listeners[mine].delete(listener)
    }
  })
  return {
    ends: [end(0, 1), end(1, 0)],
    sent,
    close: () => {
      isClosed = true
    }
  }
}

export interface TestWorker {
  readonly link: Link<StateCalls>
  readonly state: Layer.Layer<SharedState>
}

export interface FirstProcess {
  readonly kept: WorkersState
  readonly worker: (number: number) => Effect.Effect<TestWorker, never, Scope.Scope>
}

export const firstProcess: Effect.Effect<FirstProcess> = Effect.map(makeWorkersState, (kept) => ({
  kept,
  worker: Effect.fnUntraced(function* (number: number) {
    const [here, there] = linkedPorts().ends
    yield* makeLink<StateCalls, object>(here, kept.of(number))
    const link = yield* makeLink<object, StateCalls>(there, {})
    return { link, state: layerPrimaryState(link) }
  })
}))
