// Milliseconds of a monotonic clock, for measuring durations.
// Must not be used for the time of day.
import * as Context from "effect/Context"
import { endingText } from "../domain/models/modelLife.ts"
import { dayMillis } from "../domain/time.ts"
import { type Book, type Called, calledLast, type CountedTarget, type Ended, settle, usedBy } from "./Settlement.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Prices } from "../catalog/Prices.ts"
import { operationAt } from "../domain/operations.ts"
import { type ContentMode, endedMillisOf, type RequestRow } from "../domain/RequestRow.ts"
import { Limits } from "../domain/Limits.ts"
import type { LogSetting } from "../domain/settings/Settings.ts"
import { ContentStore } from "../store/ContentStore.ts"
import { UsageLog } from "../keys/UsageLog.ts"
import { LogWriter } from "../telemetry/LogWriter.ts"
import { RouteMeters } from "../telemetry/Meters.ts"
import { metrics } from "../telemetry/metrics.ts"
import {
  attemptLine,
  levelOf,
  type LogLevel,
  prettyAttempt,
  prettyLine,
  requestLine
} from "../telemetry/requestLines.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { Tracing } from "../telemetry/Tracing.ts"
import { type ContentCapture, contentCapture } from "./ContentCapture.ts"
import { type RequestMeta, RequestRecord } from "./RequestRecord.ts"
import { type KeptOfRequest, requestRow } from "./requestRow.ts"
import { requestSpans, RequestTrace } from "./RequestTrace.ts"

/** A reference, so that tests can fix the durations. */
export const Stopwatch: Context.Reference<() => number> = Context.Reference<() => number>(
  "gateway/telemetry/Stopwatch",
  {
    defaultValue: () => () => performance.now()
  }
)

// The log line about a model in use that ends: once an hour for each model of an account (M-703).

const hourMillis = dayMillis / 24

/** Upstreams may report an end of any model that clients name, so that the memory is bounded. A full one is cleared. */
const mostModels = 512

/** The line, where one is due; undefined for a model without an end in sight, and within an hour of the last line. */
export const endingNews = (): ((called: Called, nowMillis: number) => string | undefined) => {
  const loggedAt = new Map<string, number>()
  return ({ ending, modelId, slug }, nowMillis) => {
    if (ending === undefined) return undefined
    const name = `${slug}/${modelId}`
    const before = loggedAt.get(name)
    if (before !== undefined && nowMillis - before < hourMillis) return undefined
    if (loggedAt.size >= mostModels) loggedAt.clear()
    loggedAt.set(name, nowMillis)
    return `Requests go to a model that ends: ${modelId} of "${slug}" is ${endingText(ending)}. Send them to another model.`
  }
}

/** The accounting of one route. */
export interface RouteAccounts {
  /** Called when a request arrives. */
  readonly open: () => RequestRecord
  /** Called when the request's metadata is known; absent without tracing. */
  readonly begin?: (record: RequestRecord, meta: RequestMeta) => void
  /** Called when the request has ended; `gone`: the client disconnected first. */
  readonly close: (record: RequestRecord, meta: RequestMeta, gone: boolean) => Effect.Effect<void>
}

interface Accounts {
  /** Called once per route; `path` is the template of the route, never a path from a client. */
  readonly route: (method: string, path: string) => RouteAccounts
}

/** Stands for the template of a path that no route has. */
export const unmatchedRoute = "unmatched"

export interface AccountingOptions extends KeptOfRequest {
  readonly log: Required<Omit<LogSetting, "content">>
  /** Whose content is kept where the key of a request states nothing. */
  readonly content: ContentMode
  /** Whether requests are kept for the list of requests. */
  readonly keep: boolean
  /** Whether models that end are logged. */
  readonly warns: boolean
  /** Whether metrics are labelled with the key. */
  readonly byKey: boolean
  /** Whether upstream calls carry the trace headers. */
  readonly propagate: boolean
}

/** Undefined without `accountingLayer`: requests are not accounted. */
export const Accounting: Context.Reference<Accounts | undefined> = Context.Reference<Accounts | undefined>(
  "gateway/http/Accounting",
  {
    defaultValue: () => undefined
  }
)

export const accountingLayer = (
  options: AccountingOptions
): Layer.Layer<never, never, Prices | UsageLog | ContentStore> =>
  Layer.effect(
    Accounting,
    Effect.gen(function* () {
      const prices = yield* Prices
      const { captureOf, list } = yield* listing(options.content)
      const now = yield* Stopwatch
      const registry = SeriesRegistry.of(yield* Effect.context<never>())
      const log = yield* requestLog(options.log, registry)
      const tracing = { tracer: yield* Tracing, propagate: options.propagate }
      const news = options.warns ? endingNews() : () => undefined
      const route = (method: string, path: string): RouteAccounts => {
        const meters = new RouteMeters(registry, method, path)
        const streams = () => meters.activeStreams
        const operation = operationAt(path) ?? path
        const keep = options.keep && isListed(path)
        const counted = (called: Called, nowMillis: number, keyId?: string): CountedTarget | undefined => {
          const model = prices.counted(called.slug, called.modelId, nowMillis)
          return model === undefined
            ? undefined
            : {
                called,
                label: model.label,
                price: model.price,
                meters: meters.target(called, operation, model.label, options.byKey ? keyId : undefined)
              }
        }
        const book: Book = { route: path, meters, counted }
        const account = (ended: Ended, target: CountedTarget | undefined): Effect.Effect<void> => {
          const settled = settle(ended, book, target)
          const { admitted, trace } = ended.record
          if (trace !== undefined)
            tracing.tracer?.record(requestSpans(ended, settled, trace.context.traceId, method, path), trace.context)
          if (log !== undefined || keep) {
            const row = requestRow(ended, path, settled, options)
            log?.(row)
            if (keep) list(row, target?.label ?? "", ended)
          }
          const line = target === undefined ? undefined : news(target.called, ended.meta.startedMillis)
          return logged(line, admitted === undefined ? Effect.void : admitted.settle(usedBy(ended, settled)))
        }
        return {
          open: () => {
            meters.activeRequests.value++
            return new RequestRecord(now, streams, keep ? captureOf : undefined, prices)
          },
          ...(tracing.tracer !== undefined || tracing.propagate
            ? {
                begin: (record: RequestRecord, meta: RequestMeta) => {
                  record.trace = new RequestTrace(tracing, meta)
                }
              }
            : {}),
          close: (record, meta, gone) => {
            const ended: Ended = { record, meta, at: now(), gone }
            meters.activeRequests.value--
            record.closed()
            const called = calledLast(record)
            if (called === undefined) return account(ended, undefined)
            const target = counted(called, meta.startedMillis, record.keyId)
            const later = () => account(ended, counted(called, meta.startedMillis, record.keyId))
            return target === undefined ? Effect.flatMap(prices.load, later) : account(ended, target)
          }
        }
      }
      return { route }
    })
  )

const isListed = (path: string): boolean => /^\/v1(beta)?\//.test(path) || path === unmatchedRoute

/** Keeps requests for the list of requests, with the content of those whose content is kept. */
const listing = Effect.fnUntraced(function* (usual: ContentMode) {
  const usageLog = yield* UsageLog
  const contents = yield* ContentStore
  SeriesRegistry.of(yield* Effect.context<never>()).read(metrics.contentDropped, {}, contents.dropped)
  const captureOf = contentCapture(usual, (yield* Limits).contentBytes)
  const list = (row: RequestRow, label: string, ended: Ended): void => {
    usageLog.append(row, label)
    const { content } = ended.record
    if (content !== undefined) keepContent(contents, ended, content, row)
  }
  return { captureOf, list }
})

/** Keeps the content of a request, if it is of those that are kept. */
const keepContent = (
  contents: ContentStore["Service"],
  { meta, record }: Ended,
  content: ContentCapture,
  row: RequestRow
): void => {
  if (!content.isKept(row.status >= 400 || record.error !== undefined)) return
  const { key_id: keyId = "" } = row
  const read = () => content.read(meta.headers)
  contents.append({ id: row.id, keyId, endedMillis: endedMillisOf(row), bytes: content.bytes, read })
}

/** The same after a warning, where there is one. */
const logged = (line: string | undefined, rest: Effect.Effect<void>): Effect.Effect<void> =>
  line === undefined ? rest : Effect.andThen(Effect.logWarning(line), rest)

/** Writes the log lines of a request; undefined when the log is off. */
const requestLog = (
  { format, level: least }: AccountingOptions["log"],
  registry: SeriesRegistry
): Effect.Effect<((row: RequestRow) => void) | undefined, never, Scope.Scope> => {
  if (format === "off") return Effect.succeed(undefined)
  return Effect.map(LogWriter.make, (writer) => {
    registry.read(metrics.logQueue, {}, () => writer.depth)
    registry.read(metrics.logDropped, {}, () => writer.dropped)
    const [line, failedAttempt] =
      format === "json" ? ([requestLine, attemptLine] as const) : ([prettyLine, prettyAttempt] as const)
    const shown: Readonly<Record<LogLevel, boolean>> = { info: least === "info", warn: least !== "error", error: true }
    return (row) => {
      const level = levelOf(row)
      if (shown.warn) {
        for (const [position, attempt] of row.attempts.entries()) {
          if (attempt.error_code !== undefined) writer.write(failedAttempt(row, attempt, position))
        }
      }
      if (shown[level]) writer.write(line(row, level))
    }
  })
}
