// Tests the texts of readiness: each reason has what is wrong, what still works and what to do.
// Must not depend on a socket.
import { describe, expect, it } from "vitest"
import { redisState, storeState, workersState } from "../../../src/http/edge/Readiness.ts"

describe("readiness", () => {
  it("readiness: an available dependency has no text", () => {
    expect([
      storeState(true, undefined),
      redisState(true),
      workersState({ ready: 2, silent: 0, count: 2 }, false)
    ]).toEqual([true, true, true])
  })

  it("readiness: each reason of the store has its text, and an outage comes before a refusal", () => {
    expect([
      storeState(false, "disk_full"),
      storeState(true, "disk_full"),
      storeState(true, "read_only"),
      storeState(true, "disk_error")
    ]).toEqual([
      {
        state: "down",
        message:
          "The store does not answer: requests of known keys are served, unknown keys and changes are refused. Look at the database of store.url; the gateway continues with it by itself."
      },
      {
        state: "disk_full",
        message:
          "The disk of the store is full: reads answer, changes are refused and rows of requests wait in memory. Make room; no restart is needed."
      },
      {
        state: "read_only",
        message:
          "The store is read-only: reads answer, changes are refused and rows of requests wait in memory. Allow writes to the file, or use the primary server; no restart is needed."
      },
      {
        state: "disk_error",
        message:
          "The disk of the store fails: reads may answer, changes are refused and rows of requests wait in memory. Look at the disk, and have a backup at hand."
      }
    ])
  })

  it("readiness: a store that lags is named with the rows that wait, after an outage and a refusal (F72)", () => {
    const backlog = { rows: 12, most: 10_000, isFailing: true }
    const lagging = storeState(true, undefined, backlog)
    expect([
      lagging,
      storeState(true, undefined, { ...backlog, isFailing: false }),
      storeState(true, "read_only", backlog),
      storeState(false, undefined, backlog)
    ]).toEqual([
      {
        state: "lagging",
        message:
          "12 of at most 10000 rows of requests wait in memory, because the store did not take the last batch in time: requests are served, and rows beyond that number are dropped. Look at the load and the latency of the database of store.url."
      },
      {
        state: "lagging",
        message:
          "12 of at most 10000 rows of requests wait in memory, because the store takes them more slowly than requests end: requests are served, and rows beyond that number are dropped. Look at the load and the latency of the database of store.url."
      },
      storeState(true, "read_only"),
      storeState(false, undefined)
    ])
  })

  it("readiness: missing workers and a missing Redis have their texts", () => {
    expect([redisState(false), workersState({ ready: 1, silent: 0, count: 2 }, false)]).toEqual([
      {
        state: "down",
        message:
          "Redis does not answer: each gateway uses its own memory for limits, circuits and caches. Look at the server of redis.url; the gateway returns to it by itself."
      },
      {
        state: "down",
        message: "1 of 2 workers are ready: the others serve. A worker that ended is replaced; the log has its reason."
      }
    ])
  })

  it("readiness: workers that do not answer and a first process that does not have their texts", () => {
    expect([
      workersState({ ready: 2, silent: 1, count: 4 }, false),
      workersState({ ready: 2, silent: 0, count: 2 }, true)
    ]).toEqual([
      {
        state: "down",
        message:
          "2 of 4 workers are ready: the others serve. Workers that do not answer: 1; they are killed unless they do, and their clients wait until then. A worker that ended is replaced; the log has its reason."
      },
      {
        state: "down",
        message:
          "The first process does not answer: each worker serves and counts limits for itself, and workers that end are not replaced. Look at that process; the workers return to it by themselves."
      }
    ])
  })
})
