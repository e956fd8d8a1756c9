// The dependencies of the gateway for the health routes: whether each is available, and the texts for operators where one is not.
// It must not look at a dependency; the composition of the service gives its state.
import * as Context from "effect/Context"
import type { Backlog } from "../../keys/RequestWriter.ts"

/** What is wrong with a dependency: in one word, and for people, with what still works and what to do. */
interface Unready {
  readonly state: string
  readonly message: string
}

/**
 * By name: true while it is available, else what is wrong with it; false is `down`. Each health request calls it, so it
 * must be a cheap read of memory.
 */
export type Readiness = Readonly<Record<string, () => boolean | string | Unready>>

/** The state of a dependency, and its text where it has one. */
export const checkOf = (state: ReturnType<Readiness[string]>): { readonly state: string; readonly message?: string } =>
  typeof state === "object" ? state : { state: typeof state === "string" ? state : state ? "ok" : "down" }

/** None but the configuration, which is there when the service is. */
export const Readiness: Context.Reference<Readiness> = Context.Reference<Readiness>("gateway/http/Readiness", {
  defaultValue: () => ({})
})

// The states of the gateway's own dependencies and their texts for operators: the store, Redis and workers.

const storeTexts = {
  down: "The store does not answer: requests of known keys are served, unknown keys and changes are refused. Look at the database of store.url; the gateway continues with it by itself.",
  disk_full:
    "The disk of the store is full: reads answer, changes are refused and rows of requests wait in memory. Make room; no restart is needed.",
  read_only:
    "The store is read-only: reads answer, changes are refused and rows of requests wait in memory. Allow writes to the file, or use the primary server; no restart is needed.",
  disk_error:
    "The disk of the store fails: reads may answer, changes are refused and rows of requests wait in memory. Look at the disk, and have a backup at hand."
} as const

const laggingText = ({ isFailing, most, rows }: Backlog): string =>
  `${rows} of at most ${most} rows of requests wait in memory, because the store ${
    isFailing ? "did not take the last batch in time" : "takes them more slowly than requests end"
  }: requests are served, and rows beyond that number are dropped. Look at the load and the latency of the database of store.url.`

/** The state of the store: unreachable or stale, refusing writes, late with rows of requests, or available. */
export const storeState = (
  isFresh: boolean,
  refusal: Exclude<keyof typeof storeTexts, "down"> | undefined,
  backlog?: Backlog
): true | Unready => {
  const state = isFresh ? refusal : "down"
  if (state !== undefined) return { state, message: storeTexts[state] }
  return backlog === undefined || { state: "lagging", message: laggingText(backlog) }
}

const redisDown: Unready = {
  state: "down",
  message:
    "Redis does not answer: each gateway uses its own memory for limits, circuits and caches. Look at the server of redis.url; the gateway returns to it by itself."
}

export const redisState = (isUp: boolean): true | Unready => isUp || redisDown

interface WorkerCounts {
  readonly ready: number
  /** Workers that have served and do not answer their first process. */
  readonly silent: number
  readonly count: number
}

const primaryText =
  "The first process does not answer: each worker serves and counts limits for itself, and workers that end are not replaced. Look at that process; the workers return to it by themselves."

/** The state of the processes of `serve --workers`; `isAlone` while the first of them does not answer. */
export const workersState = ({ count, ready, silent }: WorkerCounts, isAlone: boolean): true | Unready => {
  if (isAlone) return { state: "down", message: primaryText }
  const silence =
    silent === 0
      ? ""
      : ` Workers that do not answer: ${silent}; they are killed unless they do, and their clients wait until then.`
  return (
    ready >= count || {
      state: "down",
      message: `${ready} of ${count} workers are ready: the others serve.${silence} A worker that ended is replaced; the log has its reason.`
    }
  )
}
