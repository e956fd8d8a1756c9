// Work of many requests done step by step: all that have arrived, then everybody's bodies, calls, replies, answers and ends.
// It must not know what a step does.
import * as Effect from "effect/Effect"

/** What a request does between its waits, in this order. */
const steps = ["arrival", "body", "call", "reply", "answer", "end"] as const
export type Step = (typeof steps)[number]

type Work = () => void

const waiting: Record<Step, Array<Work>> = { arrival: [], body: [], call: [], reply: [], answer: [], end: [] }
let isPlanned = false

const plan = (): void => {
  if (isPlanned) return
  isPlanned = true
  setImmediate(run)
}

const run = (): void => {
  isPlanned = false
  for (const step of steps) {
    const some = waiting[step]
    if (some.length === 0) continue
    waiting[step] = []
    let done = 0
    try {
      for (const work of some) {
        done++
        work()
      }
    } finally {
      // Whoever throws takes nobody else's turn.
      if (done < some.length) {
        waiting[step].unshift(...some.slice(done))
        plan()
      }
    }
  }
}

/**
 * Does it when the event loop has looked at all its sockets, together with all other work of its step.
 *
 * The code of a whole request is more than a processor keeps near. Request by request each of its parts is fetched
 * anew; step by step it is fetched once for all who wait (`bench`, unary: a third of the CPU time of a request where
 * others share the caches, 4 % where none do). Who is alone waits for no one.
 */
export const inStep = (step: Step, work: Work): void => {
  waiting[step].push(work)
  plan()
}

const turnOf = (step: Step): Effect.Effect<void> => Effect.callback((resume) => inStep(step, () => resume(Effect.void)))

/** Goes on in a step. */
export const turn: { readonly [Name in "answer" | "end"]: Effect.Effect<void> } = {
  answer: turnOf("answer"),
  end: turnOf("end")
}
