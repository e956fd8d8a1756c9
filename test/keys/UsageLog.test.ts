// The latest requests by filters and pages, and sums by any grouping.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect } from "vitest"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"

const noon = Date.parse("2027-01-31T12:00:00Z")
const row = (at: number, more: Partial<RequestRow> = {}): RequestRow => ({
  endedMillis: noon + at,
  requestId: `r${at}`,
  traceId: "t",
  route: "/v1/chat/completions",
  status: 200,
  provider: "google",
  model: "m",
  target: 0,
  attempts: [],
  stream: false,
  cache: "DISABLED",
  durationMillis: 1,
  ttftMillis: undefined,
  overheadMillis: 1,
  usage: { input: 10, output: 5, cached: 2, cacheWritten: 0, reasoning: 0, audioInput: 0, audioOutput: 0, imageOutput: 0, images: 0 },
  costMicros: 7,
  keyId: "ci",
  errorCode: undefined,
  ...more
})
const layer = UsageLog.layerMemory.pipe(Layer.provide(Layer.succeed(Limits, { ...defaultLimits, requestsKept: 4, usageEntries: 3 })))

it.effect("keeps the latest, answers the newest first, page by page", () =>
  Effect.gen(function*() {
    const log = yield* UsageLog
    expect(log.requests({ limit: 10 })).toEqual({ rows: [], next: undefined })
    for (let at = 0; at < 6; at++) log.append(row(at, at % 2 === 0 ? {} : { status: 503, errorCode: "x", provider: "vertex-ai" }), "m")
    const ids = (query: Partial<Parameters<typeof log.requests>[0]>) => {
      const { next, rows } = log.requests({ limit: 10, ...query })
      return [rows.map(({ requestId }) => requestId), next]
    }
    expect(ids({})).toEqual([["r5", "r4", "r3", "r2"], undefined])
    expect(ids({ limit: 3 })).toEqual([["r5", "r4", "r3"], 3])
    expect(ids({ limit: 3, cursor: 3 })).toEqual([["r2"], undefined])
    expect(ids({ status: 503 })).toEqual([["r5", "r3"], undefined])
    expect(ids({ provider: "google", limit: 1 })).toEqual([["r4"], 3])
    expect(ids({ since: noon + 4 })).toEqual([["r5", "r4"], undefined])
    expect([ids({ key: "other" }), ids({ model: "n" })]).toEqual([[[], undefined], [[], undefined]])
    expect([log.request("r2")?.requestId, log.request("r1")]).toEqual(["r2", undefined])
  }).pipe(Effect.provide(layer)))

it.effect("sums by day, key, provider and model; the oldest sums leave first", () =>
  Effect.gen(function*() {
    const log = yield* UsageLog
    const nextDay = 24 * 3_600_000
    log.append(row(0), "a")
    log.append(row(1, { usage: undefined, costMicros: undefined, errorCode: "x" }), "a")
    log.append(row(2, { keyId: undefined, provider: undefined }), "b")
    log.append(row(nextDay), "a")
    const one = { requests: 1, errors: 0, input: 10, output: 5, cached: 2, costMicros: 7 }
    expect(log.usage({ groupBy: ["day", "key", "provider", "model"] })).toEqual([
      { by: { day: "2027-01-31", key: "", provider: "", model: "b" }, ...one },
      { by: { day: "2027-01-31", key: "ci", provider: "google", model: "a" }, ...one, requests: 2, errors: 1 },
      { by: { day: "2027-02-01", key: "ci", provider: "google", model: "a" }, ...one }
    ])
    expect(log.usage({ groupBy: [] })).toEqual([{ by: {}, requests: 4, errors: 1, input: 30, output: 15, cached: 6, costMicros: 21 }])
    expect(log.usage({ groupBy: ["model"], from: "2027-02-01" })).toEqual([{ by: { model: "a" }, ...one }])
    expect(log.usage({ groupBy: ["model"], to: "2027-01-30" })).toEqual([])
    log.append(row(nextDay), "c")
    expect(log.usage({ groupBy: ["model"] }).map(({ by }) => by.model)).toEqual(["a", "b", "c"])
    expect(log.usage({ groupBy: [], to: "2027-01-31" })).toEqual([{ by: {}, ...one }])
  }).pipe(Effect.provide(layer)))
