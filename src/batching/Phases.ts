// Batches the work of concurrent requests by phase: arrivals, bodies, calls, replies, answers, ends.
// It must not know what a phase does.

/** The phases of a request between its waits, in this order. */
const phases = ["arrival", "body", "call", "reply", "answer", "end"] as const
export type Phase = (typeof phases)[number]

type Work = () => void

/**
 * Arrivals of one turn; the others wait for the next. Without a bound thousands of clients that are refused and ask
 * again make turns of seconds, and each step of a running request waits for one.
 */
const mostArrivals = 128

const waiting: Readonly<Record<Phase, Array<Work>>> = {
  arrival: [],
  body: [],
  call: [],
  reply: [],
  answer: [],
  end: []
}
/** Tasks of large requests, of any phase, the oldest first. */
const large: Array<{ readonly work: Work; readonly bytes: number }> = []
/** A task of so many bytes takes about a millisecond, so it waits for its share of a turn. */
const largeBytes = 64 * 1024
/** Bytes of large tasks in one turn, which takes at least one of them: sockets, health and small requests wait for no more. */
const mostLargeBytes = 512 * 1024
let isPlanned = false

const plan = (): void => {
  if (isPlanned) return
  isPlanned = true
  setImmediate(run)
}

/** Large tasks run after the small ones, within the bytes of a turn. */
const runLarge = (): void => {
  let left = mostLargeBytes
  while (left > 0) {
    const next = large.shift()
    if (next === undefined) return
    left -= next.bytes
    next.work()
  }
}

const run = (): void => {
  isPlanned = false
  try {
    runPhases()
    if (large.length > 0) runLarge()
  } finally {
    if (large.length > 0) plan()
  }
}

const runPhases = (): void => {
  for (const step of phases) {
    const list = waiting[step]
    if (list.length === 0) continue
    const some = list.splice(0, step === "arrival" ? mostArrivals : list.length)
    if (list.length > 0) plan()
    let done = 0
    try {
      for (const work of some) {
        done++
        work()
      }
    } finally {
      // A task that throws does not drop the remaining tasks.
      if (done < some.length) {
        list.unshift(...some.slice(done))
        plan()
      }
    }
  }
}

/**
 * Runs the task after the event loop has polled its sockets, together with all other tasks of its phase. The code of a
 * whole request exceeds the instruction cache. Running phase by phase loads each part of the code once for all waiting
 * requests (`bench`, unary). That saves a third of the CPU time per request where other processes share the caches, 4 %
 * where none do. A single request does not wait for others. Tasks of many bytes share a turn with few like them.
 */
export const schedulePhase = (step: Phase, work: Work, bytes = 0): void => {
  if (bytes < largeBytes) waiting[step].push(work)
  else large.push({ work, bytes })
  plan()
}
