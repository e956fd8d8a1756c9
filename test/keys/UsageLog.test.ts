// Tests the usage log: the latest requests by filter and page, and sums by grouping, in memory and in every database.
// Must not depend on HTTP, nor on real time.
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { expect } from "vitest"
import { RecordRefused, StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { defaultLimits, type LimitValues, Limits } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import type { RequestQuery } from "../../src/domain/usage/usageSums.ts"
import type { Bucket, SeriesPage, SeriesPoint, SeriesQuery, TopQuery } from "../../src/domain/usage/usageSeries.ts"
import type { UsageGroup, UsagePage, UsageQuery } from "../../src/domain/usage/usageSums.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import type { RequestBatch } from "../../src/store/RequestBatch.ts"
import { RequestTable, RowsRefused } from "../../src/store/RequestTable.ts"
import { databases, storeOn } from "../support/databases.ts"
import { type RowFacts, rowOf } from "../support/requestRows.ts"

const noon = Date.parse("2027-01-31T12:00:00Z")
const row = (at: number, more: Partial<RowFacts> = {}): RequestRow =>
  rowOf({
    endedMillis: noon + at,
    requestId: `r${at}`,
    traceId: "t",
    route: "/v1/chat/completions",
    status: 200,
    provider: "google",
    model: "m",
    target: 0,
    attempts: [
      {
        provider: "google",
        model: "m",
        target: 0,
        startedMillis: 0,
        durationMillis: 0.5,
        firstChunkMillis: undefined,
        errorCode: undefined,
        upstreamStatus: undefined
      }
    ],
    stream: false,
    cache: "DISABLED",
    durationMillis: 1.25,
    ttftMillis: undefined,
    overheadMillis: 1,
    usage: {
      input: 10,
      output: 5,
      cached: 2,
      cacheWritten: 0,
      reasoning: 0,
      audioInput: 0,
      audioOutput: 0,
      imageOutput: 0,
      images: 0
    },
    costMicros: 7,
    keyId: "ci",
    errorCode: undefined,
    ...more
  })

const bounded = (more: Partial<LimitValues> = {}) =>
  Layer.succeed(Limits, { ...defaultLimits, requestsKept: 4, usageEntries: 100, requestsStored: 4, ...more })
const logs: ReadonlyArray<readonly [name: string, layer: Layer.Layer<UsageLog>]> = [
  ["in memory", UsageLog.layerMemory.pipe(Layer.provide(bounded()))],
  ...databases.map(
    (database) =>
      [
        `on ${database.name}`,
        UsageLog.layer.pipe(
          Layer.provide(RequestTable.layer),
          Layer.provide(Layer.fresh(storeOn(database))),
          Layer.provide(bounded())
        )
      ] as const
  )
]

describe.each(logs)("request log %s", (_name, layer) => {
  it.effect("usage log: keeps the latest requests and answers newest first, page by page", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      expect(yield* log.requests({ limit: 10 })).toEqual({ rows: [], next: undefined })
      const filled = row(5, {
        status: 503,
        errorCode: "x",
        provider: "vertex-ai",
        stream: true,
        ttftMillis: 3.5,
        costMicros: 2 ** 40
      })
      // What leaves the store leaves in batches, as it was written.
      const written = log.requests({ limit: 1 })
      for (let at = 0; at < 5; at++) {
        log.append(row(at, at % 2 === 0 ? {} : { status: 503, errorCode: "x", provider: "vertex-ai" }), "m")
        if (at % 2 === 1) yield* written
      }
      log.append(filled, "m")
      yield* written
      const ids = (query: Partial<RequestQuery>) =>
        Effect.map(log.requests({ limit: 10, ...query }), ({ next, rows }) => [
          rows.map(({ request_id: requestId }) => requestId),
          next !== undefined
        ])
      expect(yield* ids({})).toEqual([["r5", "r4", "r3", "r2"], false])
      const { next } = yield* log.requests({ limit: 3 })
      expect([yield* ids({ limit: 3 }), yield* ids({ limit: 3, cursor: next })]).toEqual([
        [["r5", "r4", "r3"], true],
        [["r2"], false]
      ])
      expect(yield* ids({ status: 503 })).toEqual([["r5", "r3"], false])
      expect(yield* ids({ provider: "google", limit: 1 })).toEqual([["r4"], true])
      expect(yield* ids({ since: noon + 4 })).toEqual([["r5", "r4"], false])
      expect([yield* ids({ key: "other" }), yield* ids({ model: "n" })]).toEqual([
        [[], false],
        [[], false]
      ])
      expect([yield* log.request("r5"), yield* log.request("r1")]).toEqual([filled, undefined])
      expect([yield* log.lastUsed("ci"), yield* log.lastUsed("other")]).toEqual([noon + 5, undefined])
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "usage log: a reader gets the requests since its last read, the newest first, and a count of the rest",
    () =>
      Effect.gen(function* () {
        const log = yield* UsageLog
        // What is read is written first.
        const written = log.requests({ limit: 1 })
        log.append(row(0), "m")
        yield* written
        const read = yield* log.follow(2)
        const ids = Effect.map(read, ({ rows, skipped }) => [
          rows.map(({ request_id: requestId }) => requestId),
          skipped
        ])
        expect(yield* ids).toEqual([[], 0])
        log.append(row(1), "m")
        yield* written
        expect(yield* ids).toEqual([["r1"], 0])
        for (const at of [2, 3, 4]) log.append(row(at), "m")
        yield* written
        log.append(row(5), "m")
        yield* written
        expect(yield* ids).toEqual([["r5", "r4"], 2])
        expect(yield* ids).toEqual([[], 0])
      }).pipe(Effect.provide(layer))
  )

  it.effect(
    "usage log: finds a request by the gateway's id, and by the client's id where only one key sent it (TH20)",
    () =>
      Effect.gen(function* () {
        const log = yield* UsageLog
        const theirs = row(0, { requestId: "job-1", id: "own-0" })
        log.append(theirs, "m")
        expect([yield* log.request("own-0"), yield* log.request("job-1")]).toEqual([theirs, theirs])
        // A request that was refused for want of a key hides nothing.
        log.append(row(1, { requestId: "job-1", id: "own-1", keyId: undefined }), "m")
        expect(yield* log.request("job-1")).toEqual(theirs)
        // The other key takes the client's id, and the own id of that request as its client's.
        const others = [
          row(2, { requestId: "job-1", id: "own-2", keyId: "other" }),
          row(3, { requestId: "own-0", id: "own-3", keyId: "other" })
        ]
        for (const one of others) log.append(one, "m")
        expect(yield* Effect.flip(log.request("job-1"))).toEqual(
          new RecordRefused({
            code: "request_id_ambiguous",
            message:
              'Several keys sent the x-request-id "job-1": list them by GET /admin/v1/requests?request_id=job-1, and read one by its id.'
          })
        )
        expect([yield* log.request("own-0"), yield* log.request("own-2"), yield* log.request("own-3")]).toEqual([
          theirs,
          ...others
        ])
        const { rows } = yield* log.requests({ limit: 10, requestId: "job-1" })
        expect(rows.map(({ id }) => id)).toEqual(["own-2", "own-1", "own-0"])
        expect((yield* log.requests({ limit: 10, requestId: "job-1", key: "ci" })).rows).toEqual([theirs])
      }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: sums by day, key, provider and model", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      const nextDay = 24 * 3_600_000
      expect((yield* log.usage({ groupBy: [], limit: 100 })).groups).toEqual([])
      log.append(row(0), "a")
      log.append(row(1, { usage: undefined, costMicros: undefined, errorCode: "x" }), "a")
      log.append(row(2, { keyId: undefined, provider: undefined }), "b")
      yield* log.usage({ groupBy: [], limit: 100 })
      log.append(row(nextDay), "a")
      const one = { requests: 1, errors: 0, input: 10, output: 5, cached: 2, costMicros: 7 }
      expect((yield* log.usage({ groupBy: ["day", "key", "provider", "model"], limit: 100 })).groups).toEqual([
        { by: { day: "2027-01-31", key: "", provider: "", model: "b" }, ...one },
        { by: { day: "2027-01-31", key: "ci", provider: "google", model: "a" }, ...one, requests: 2, errors: 1 },
        { by: { day: "2027-02-01", key: "ci", provider: "google", model: "a" }, ...one }
      ])
      expect((yield* log.usage({ groupBy: ["model", "day"], where: [["key", "ci"]], limit: 100 })).groups).toEqual([
        { by: { model: "a", day: "2027-01-31" }, ...one, requests: 2, errors: 1 },
        { by: { model: "a", day: "2027-02-01" }, ...one }
      ])
      expect((yield* log.usage({ groupBy: [], limit: 100 })).groups).toEqual([
        { by: {}, requests: 4, errors: 1, input: 30, output: 15, cached: 6, costMicros: 21 }
      ])
      expect((yield* log.usage({ groupBy: ["model"], from: "2027-02-01", limit: 100 })).groups).toEqual([
        { by: { model: "a" }, ...one }
      ])
      expect((yield* log.usage({ groupBy: ["model"], to: "2027-01-30", limit: 100 })).groups).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: sums by config, client and metadata, filtered and in pages", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      const red = { team: "red", "cost-center": "7" }
      log.append(row(0, { config: "fast", client: "OpenAI/Python", metadata: red }), "a")
      log.append(row(1, { config: "fast", client: "curl", metadata: { team: "blue" } }), "a")
      log.append(row(2, { client: "curl", metadata: red, keyId: "other" }), "b")
      log.append(row(3), "b")
      const one = { requests: 1, errors: 0, input: 10, output: 5, cached: 2, costMicros: 7 }
      const two = { requests: 2, errors: 0, input: 20, output: 10, cached: 4, costMicros: 14 }
      const groups = (query: Omit<UsageQuery, "limit">) =>
        Effect.map(log.usage({ limit: 100, ...query }), (page) => page.groups)
      expect(yield* groups({ groupBy: ["config"] })).toEqual([
        { by: { config: "" }, ...two },
        { by: { config: "fast" }, ...two }
      ])
      expect(yield* groups({ groupBy: ["client", "metadata.team"] })).toEqual([
        { by: { client: "", "metadata.team": "" }, ...one },
        { by: { client: "OpenAI/Python", "metadata.team": "red" }, ...one },
        { by: { client: "curl", "metadata.team": "blue" }, ...one },
        { by: { client: "curl", "metadata.team": "red" }, ...one }
      ])
      expect(yield* groups({ groupBy: ["metadata.cost-center", "day"] })).toEqual([
        { by: { "metadata.cost-center": "", day: "2027-01-31" }, ...two },
        { by: { "metadata.cost-center": "7", day: "2027-01-31" }, ...two }
      ])
      expect(
        yield* groups({
          groupBy: ["key"],
          where: [
            ["metadata.team", "red"],
            ["client", "curl"]
          ]
        })
      ).toEqual([{ by: { key: "other" }, ...one }])
      expect(yield* groups({ groupBy: [], where: [["config", "slow"]] })).toEqual([])
      const { next } = yield* log.usage({ groupBy: ["metadata.team"], limit: 2 })
      expect(next).toEqual(["blue"])
      expect(yield* groups({ groupBy: ["metadata.team"], cursor: ["blue"] })).toEqual([
        { by: { "metadata.team": "red" }, ...two }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: has the usage of each minute, hour and day, of all and by each dimension", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      const hour = 3_600_000
      log.append(row(0, { durationMillis: 250 }), "a")
      log.append(row(59_000, { durationMillis: 251, keyId: undefined, status: 503, errorCode: "x" }), "a")
      log.append(row(60_000, { durationMillis: 40_000, usage: undefined, costMicros: undefined }), "b")
      log.append(row(hour, { durationMillis: 7_000, provider: undefined }), "b")
      const points = (query: Omit<SeriesQuery, "limit">) =>
        Effect.map(log.series({ ...query, limit: 100 }), (page) =>
          page.points.map(({ name, startMillis, sums: { bands, durationMillis, ...sums } }) => [
            (startMillis - noon) / 60_000,
            name,
            sums.requests,
            sums.errors,
            sums.input,
            sums.costMicros,
            durationMillis,
            bands.join(" ")
          ])
        )
      expect(yield* points({ bucket: "minute", scope: "all" })).toEqual([
        [0, "", 2, 1, 20, 14, 501, "0 0 0 0 1 1 0 0 0 0 0 0 0 0"],
        [1, "", 1, 0, 0, 0, 40_000, "0 0 0 0 0 0 0 0 0 0 0 1 0 0"],
        [60, "", 1, 0, 10, 7, 7_000, "0 0 0 0 0 0 0 0 0 1 0 0 0 0"]
      ])
      expect(yield* points({ bucket: "hour", scope: "status" })).toEqual([
        [0, "2xx", 2, 0, 10, 7, 40_250, "0 0 0 0 1 0 0 0 0 0 0 1 0 0"],
        [0, "5xx", 1, 1, 10, 7, 251, "0 0 0 0 0 1 0 0 0 0 0 0 0 0"],
        [60, "2xx", 1, 0, 10, 7, 7_000, "0 0 0 0 0 0 0 0 0 1 0 0 0 0"]
      ])
      expect(yield* points({ bucket: "day", scope: "key" })).toEqual([
        [-720, "", 1, 1, 10, 7, 251, "0 0 0 0 0 1 0 0 0 0 0 0 0 0"],
        [-720, "ci", 3, 0, 20, 14, 47_250, "0 0 0 0 1 0 0 0 0 1 0 1 0 0"]
      ])
      const named = (query: Omit<SeriesQuery, "limit">) =>
        Effect.map(points(query), (found) => found.map(([start, name, requests]) => [start, name, requests]))
      expect(yield* named({ bucket: "day", scope: "model" })).toEqual([
        [-720, "a", 2],
        [-720, "b", 2]
      ])
      expect(yield* named({ bucket: "hour", scope: "provider", from: noon + hour })).toEqual([[60, "", 1]])
      expect(yield* named({ bucket: "minute", scope: "all", from: noon + 1, to: noon + hour })).toEqual([[1, "", 1]])
      log.append(row(1), "a")
      expect(yield* named({ bucket: "minute", scope: "key", to: noon + 1 })).toEqual([
        [0, "", 1],
        [0, "ci", 2]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: has the waits, the overhead and the answers from the cache of a time", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      log.append(row(0, { overheadMillis: 0.25, cache: "HIT", durationMillis: 3 }), "a")
      log.append(row(1, { overheadMillis: 1.5, ttftMillis: 99, durationMillis: 60_001 }), "a")
      log.append(row(2, { overheadMillis: 1, ttftMillis: 120_001, durationMillis: 120_001 }), "a")
      const { points } = yield* log.series({ bucket: "hour", scope: "all", limit: 10 })
      expect(
        points.map(({ sums: { bands, firstBands, hits, overheadMillis } }) => [
          hits,
          overheadMillis,
          bands.join(" "),
          firstBands.join(" ")
        ])
      ).toEqual([[1, 2.75, "1 0 0 0 0 0 0 0 0 0 0 0 1 1", "0 0 0 1 0 0 0 0 0 0 0 0 0 1"]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: has the values of a dimension with the highest sums of a time", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      log.append(row(0, { costMicros: 1 }), "many")
      log.append(row(60_000, { costMicros: 1 }), "many")
      log.append(row(0, { costMicros: 9, errorCode: "x", usage: undefined }), "expensive")
      log.append(row(3_600_000, { costMicros: 100 }), "later")
      const named = (query: Omit<TopQuery, "bucket" | "scope" | "to">) =>
        Effect.map(log.top({ bucket: "minute", scope: "model", to: noon + 3_600_000, ...query }), (entries) =>
          entries.map(({ name, sums }) => [name, sums.requests, sums.errors, sums.costMicros, sums.bands[0]])
        )
      const many = ["many", 2, 0, 2, 2]
      const expensive = ["expensive", 1, 1, 9, 1]
      expect(yield* named({ top: "requests", limit: 10 })).toEqual([many, expensive])
      expect(yield* named({ top: "tokens", limit: 1 })).toEqual([many])
      expect(yield* named({ top: "cost", limit: 10 })).toEqual([expensive, many])
      expect(yield* named({ top: "errors", limit: 1 })).toEqual([expensive])
      expect(yield* named({ top: "cost", limit: 10, from: noon + 1 })).toEqual([["many", 1, 0, 1, 1]])
      const errors = yield* log.top({ bucket: "day", scope: "error", top: "errors", limit: 10 })
      expect(errors.map(({ name, sums }) => [name, sums.errors])).toEqual([
        ["x", 1],
        ["", 0]
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: usage over time comes page by page", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 20; at++) log.append(row(at * 30_000, { keyId: `key ${at % 3}` }), "m")
      const query = { bucket: "minute", scope: "key" } as const
      const whole = yield* log.series({ ...query, limit: 100 })
      const points: Array<SeriesPoint> = []
      let cursor: SeriesQuery["cursor"]
      do {
        const page: SeriesPage = yield* log.series({ ...query, limit: 3, cursor })
        points.push(...page.points)
        cursor = page.next
      } while (cursor !== undefined)
      expect([points.length, points, whole.next]).toEqual([20, whole.points, undefined])
    }).pipe(Effect.provide(layer))
  )

  it.effect("usage log: sums come page by page, by any grouping", () =>
    Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 24; at++) {
        log.append(row(at, { keyId: at % 2 === 0 ? undefined : `key ${at % 4}`, provider: `p${at % 3}` }), `m${at % 8}`)
      }
      for (const groupBy of [[], ["model"], ["provider", "key"], ["model", "day", "key"]] as const) {
        const whole = yield* log.usage({ groupBy, limit: 100 })
        const pages: Array<UsageGroup> = []
        let cursor: ReadonlyArray<string> | undefined
        do {
          const page: UsagePage = yield* log.usage({ groupBy, limit: 3, cursor })
          pages.push(...page.groups)
          cursor = page.next
        } while (cursor !== undefined)
        expect([pages, whole.next]).toEqual([whole.groups, undefined])
      }
      expect((yield* log.usage({ groupBy: ["provider"], limit: 2 })).next).toEqual(["p1"])
    }).pipe(Effect.provide(layer))
  )
})

it.effect("usage log: in memory the oldest sums are evicted first", () =>
  Effect.gen(function* () {
    const log = yield* UsageLog
    for (const [at, model] of ["a", "b", "c", "d"].entries()) log.append(row(at), model)
    expect((yield* log.usage({ groupBy: ["model"], limit: 100 })).groups.map(({ by }) => by.model)).toEqual([
      "b",
      "c",
      "d"
    ])
  }).pipe(Effect.provide(UsageLog.layerMemory.pipe(Layer.provide(bounded({ usageEntries: 3 })))))
)

it.effect("usage log: in memory the buckets of time that no request reaches any more are evicted first", () =>
  Effect.gen(function* () {
    const log = yield* UsageLog
    const of = (bucket: Bucket) =>
      Effect.map(log.series({ bucket, scope: "all", limit: 10 }), ({ points }) =>
        points.map(({ startMillis, sums }) => [startMillis - noon, sums.requests])
      )
    log.append(row(0), "m")
    expect(yield* of("minute")).toEqual([[0, 1]])
    log.append(row(60_000), "m")
    expect([yield* of("minute"), yield* of("hour")]).toEqual([[[60_000, 1]], [[0, 2]]])
    // One request has a point in each of three buckets, of all requests and by five dimensions.
  }).pipe(Effect.provide(UsageLog.layerMemory.pipe(Layer.provide(bounded({ usageEntries: 18 })))))
)

/** The ids of the requests of a batch. */
const idsOf = ({ bytes }: RequestBatch): ReadonlyArray<string> =>
  JSON.parse(bytes.toString()).map((one: RequestRow) => one.request_id)

/** A table with this write, and without reads. */
const writing = (write: RequestTable["Service"]["write"]): Layer.Layer<RequestTable> =>
  Layer.succeed(RequestTable, {
    write,
    latest: () => Effect.succeed(undefined),
    requests: () => Effect.succeed({ rows: [], next: undefined }),
    follow: () => Effect.succeed(Effect.succeed({ rows: [], skipped: 0 })),
    usage: () => Effect.succeed({ groups: [], next: undefined }),
    series: () => Effect.succeed({ points: [], next: undefined }),
    top: () => Effect.succeed([]),
    lastUsed: () => Effect.succeed(undefined),
    remove: () => Effect.succeed([])
  })

/** A table that refuses writes until the test enables them. */
const stubborn = (written: Array<ReadonlyArray<string>>, state: { isGone: boolean }): Layer.Layer<RequestTable> =>
  writing((batch) =>
    Effect.suspend(() => {
      if (state.isGone) return Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
      written.push(idsOf(batch))
      return Effect.succeed(batch.rows)
    })
  )

/** The log lines that the work prints. */
const linesOf = <A, E, R>(lines: Array<unknown>, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, Logger.CurrentLoggers, new Set([Logger.make(({ message }) => void lines.push(message))]))

describe("writer of the usage log", () => {
  it.effect("usage log writer: halves a batch that fails, and doubles it after each success (F71)", () => {
    const tried: Array<readonly [rows: number, id: string]> = []
    return Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 500; at++) log.append(row(at), "m")
      yield* TestClock.adjust(100)
      yield* TestClock.adjust(1_100)
      yield* TestClock.adjust(2_100)
      const [first] = tried
      expect(tried.map(([rows]) => rows)).toEqual([500, 250, 125, 250, 125])
      // The first rows keep the id of their batch, so that it counts once even if it was written after all.
      expect(tried.map(([, id]) => id === first?.[1])).toEqual([true, true, true, false, false])
      expect(log.backlog?.()).toBe(undefined)
    }).pipe(
      Effect.provide(
        UsageLog.layer.pipe(
          Layer.provide(
            writing(({ id, rows }) =>
              Effect.suspend(() => {
                tried.push([rows, id])
                return tried.length < 3
                  ? Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
                  : Effect.succeed(rows)
              })
            )
          )
        )
      )
    )
  })

  it.effect("usage log writer: rows that were stored with a batch whose end was lost are not sent again (F71)", () => {
    const tried: Array<number> = []
    return Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 100; at++) log.append(row(at), "m")
      yield* TestClock.adjust(100)
      yield* TestClock.adjust(1_100)
      expect([tried, log.backlog?.()]).toEqual([[100, 50], undefined])
    }).pipe(
      Effect.provide(
        UsageLog.layer.pipe(
          Layer.provide(
            writing(({ rows }) =>
              Effect.suspend(() => {
                tried.push(rows)
                return tried.length === 1
                  ? Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
                  : Effect.succeed(100)
              })
            )
          )
        )
      )
    )
  })

  it.effect("usage log writer: waits longer after each failure, and names the rows that wait (F72)", () => {
    let tries = 0
    return Effect.gen(function* () {
      const log = yield* UsageLog
      log.append(row(0), "m")
      yield* TestClock.adjust(100)
      const counts: Array<number> = []
      for (const pause of [1, 2, 4, 8, 8]) {
        counts.push(tries)
        yield* TestClock.adjust(pause * 1000 + 100)
      }
      expect(counts).toEqual([1, 2, 3, 4, 5])
      expect(log.backlog?.()).toEqual({ rows: 1, most: defaultLimits.usageQueue, isFailing: true })
    }).pipe(
      Effect.provide(
        UsageLog.layer.pipe(
          Layer.provide(
            writing(() =>
              Effect.suspend(() => {
                tries++
                return Effect.fail(new StoreUnavailable({ reason: "unreachable" }))
              })
            )
          )
        )
      )
    )
  })

  it.effect("usage log writer: a row that the database refuses is left out, and the others are stored (F71)", () => {
    const lines: Array<unknown> = []
    const written: Array<string> = []
    return Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 20; at++) log.append(row(at), "m")
      yield* linesOf(lines, log.requests({ limit: 1 }))
      expect(written).toEqual(Array.from({ length: 20 }, (_, at) => `r${at}`).filter((id) => id !== "r13"))
      expect(lines.flat()).toEqual([
        "store: 1 ended requests are in no list and no sum, because the database refuses them: not a text"
      ])
    }).pipe(
      Effect.provide(
        UsageLog.layer.pipe(
          Layer.provide(
            writing((batch) =>
              Effect.suspend(() => {
                const ids = idsOf(batch)
                if (ids.includes("r13")) return Effect.fail(new RowsRefused({ reason: "not a text" }))
                written.push(...ids)
                return Effect.succeed(batch.rows)
              })
            )
          )
        )
      )
    )
  })

  it.effect("usage log writer: names the number of rows that are lost when the process ends (F72)", () => {
    const lines: Array<unknown> = []
    const ended = Effect.gen(function* () {
      const log = yield* UsageLog
      for (let at = 0; at < 7; at++) log.append(row(at), "m")
    }).pipe(Effect.provide(UsageLog.layer.pipe(Layer.provide(stubborn([], { isGone: true })))), Effect.scoped)
    return Effect.gen(function* () {
      yield* linesOf(lines, ended)
      expect(lines.flat()).toEqual([
        "store: 7 ended requests are lost: the store did not take them before the process ended"
      ])
    })
  })

  it.effect("usage log writer: writes the rows of 100 ms together, and the rest when the process ends", () => {
    const written: Array<ReadonlyArray<string>> = []
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const log = yield* UsageLog
          log.append(row(0), "m")
          log.append(row(1), "m")
          yield* TestClock.adjust(99)
          expect(written).toEqual([])
          yield* TestClock.adjust(1)
          expect(written).toEqual([["r0", "r1"]])
          log.append(row(2), "m")
        }).pipe(Effect.provide(UsageLog.layer.pipe(Layer.provide(stubborn(written, { isGone: false })))))
      )
      expect(written).toEqual([["r0", "r1"], ["r2"]])
    })
  })

  it.effect(
    "usage log writer: during a store outage keeps what fits, drops the rest without a wait, and writes it after the outage",
    () => {
      const written: Array<ReadonlyArray<string>> = []
      const state = { isGone: true }
      return Effect.gen(function* () {
        const log = yield* UsageLog
        for (let at = 0; at < 4; at++) log.append(row(at), "m")
        yield* TestClock.adjust(100)
        expect((yield* Effect.exit(log.requests({ limit: 1 })))._tag).toBe("Failure")
        state.isGone = false
        yield* TestClock.adjust(1_100)
        expect(written).toEqual([["r0", "r1", "r2"]])
      }).pipe(
        Effect.provide(
          UsageLog.layer.pipe(Layer.provide(stubborn(written, state)), Layer.provide(bounded({ usageQueue: 3 })))
        )
      )
    }
  )
})
