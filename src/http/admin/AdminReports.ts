// The reports of the admin API: the latest requests, one of them with its cost and its captured content, requests as they end, and the usage of all.
// It must not depend on how requests run, are counted or kept.
import * as Effect from "effect/Effect"
import { Prices } from "../../catalog/Prices.ts"
import { type ContentText, type KeptContent, ownIdOf, type RequestRow } from "../../domain/RequestRow.ts"
import { type CostLine, invoice } from "../../domain/Usage.ts"
import { ContentStore } from "../../store/content/ContentStore.ts"
import { listOf, shownCostLine, shownRequest, usageColumns, usagePages } from "./AdminRows.ts"
import { Administration } from "../../admin/Administration.ts"
import type { AdminRequestContent } from "../../api/AdminResources.ts"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import * as Context from "effect/Context"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { UsageLog } from "../../keys/UsageLog.ts"
import { printCsv } from "../../domain/text/printable.ts"
import { eventsQuery, requestQuery, usageQuery } from "./adminQuery.ts"
import { allowedMethods, together } from "../edge/Route.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { baseHeaders, eventStreamHeaders } from "../response/responseHeaders.ts"
import * as Stream from "effect/Stream"
import { type RecentRequests, type RequestQuery, takes } from "../../domain/usage/usageSums.ts"
import { frame, pingFrame } from "../../wire/frames.ts"
import { Traffic } from "../node/Traffic.ts"

/** Undefined without usage or price. Requests without usage do not load the price list. */
const linesOf =
  (prices: Prices["Service"]) =>
  ({ endedMillis, model, place, provider, usage }: RequestRow): Effect.Effect<ReadonlyArray<CostLine> | undefined> =>
    model === undefined || provider === undefined || usage === undefined
      ? Effect.succeed(undefined)
      : Effect.map(prices.load, () => {
          const price = prices.counted(provider, model, endedMillis)?.price
          return price === undefined ? undefined : invoice(usage, price, place).lines
        })

const requestDetails = Effect.gen(function* () {
  const contents = yield* ContentStore
  const read = linesOf(yield* Prices)
  return Effect.fnUntraced(function* (row: RequestRow) {
    const lines = yield* read(row)
    const content = yield* contents.find(ownIdOf(row))
    return {
      ...shownRequest(row),
      cost_lines: lines?.map(shownCostLine),
      has_content: content === undefined ? undefined : true
    }
  })
})

// GET /admin/v1/requests/{id}/content: the captured bodies and answer of a request. Each read is in the audit log.

/** A request id has no other letters. */
const contentPath = /^\/admin\/v1\/requests\/[\w-]{1,128}\/content$/

const shownText = ({ bytes, isCut, text }: ContentText) => ({ text, bytes, is_cut: isCut })

const shownContent = ({ content, expiresMillis, id }: KeptContent): AdminRequestContent => ({
  object: "request_content",
  id,
  expires_at: new Date(expiresMillis).toISOString(),
  request: shownText(content.request),
  calls: content.calls.map(({ adjusted, body, ignored, ...call }) => ({
    ...call,
    body: shownText(body),
    ignored_params: ignored,
    adjusted_params: adjusted
  })),
  ...(content.answer === undefined ? {} : { answer: shownText(content.answer) })
})

/** The audit entry is written first, so that no content leaves without one. */
const RequestContents = keyedRoute(
  "GET",
  "/admin/v1/requests/:id/content",
  Effect.gen(function* () {
    const contents = yield* ContentStore
    const { noteRead } = yield* Administration
    return Effect.fnUntraced(function* ({ incoming, key }) {
      const id = incoming.path.split("/")[4] ?? ""
      const found = contentPath.test(incoming.path) ? yield* contents.find(id) : undefined
      if (found === undefined) return yield* new RecordUnknown({ kind: "request_content", id: id.slice(0, 128) })
      yield* noteRead(id, { id: key.id, requestId: incoming.requestId })
      return yield* json(shownContent(found), incoming)
    })
  }),
  "admin"
)

// The reports of the admin API: the latest requests and the usage of all requests.

const requestsPath = "/admin/v1/requests"

/** Effect's wildcard takes the path without its rest as well. */
const requestsRoute = keyedRoute(
  "GET",
  `${requestsPath}/*`,
  Effect.gen(function* () {
    const log = yield* UsageLog
    const metadata = yield* CountedMetadata
    const details = yield* requestDetails
    return ({ incoming }) => {
      if (incoming.path === requestsPath) {
        return Effect.flatMap(Effect.fromResult(requestQuery(incoming.url, metadata)), (query) =>
          Effect.flatMap(log.requests(query), ({ next, rows }) => json(listOf(rows.map(shownRequest), next), incoming))
        )
      }
      if (allowedMethods(incoming.path).length === 0)
        return Effect.fail(new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) }))
      const id = incoming.path.slice(requestsPath.length + 1)
      return Effect.gen(function* () {
        const row = yield* log.request(id)
        if (row === undefined) return yield* new RecordUnknown({ kind: "request", id })
        return yield* json(yield* details(row), incoming)
      })
    }
  }),
  "admin"
)

/** The names of metadata by which requests are counted. */
export const CountedMetadata: Context.Reference<ReadonlyArray<string>> = Context.Reference<ReadonlyArray<string>>(
  "gateway/http/CountedMetadata",
  { defaultValue: () => [] }
)

/** Whether the client takes CSV, and would not rather have JSON. */
const asksCsv = ({ headers }: IncomingRequest): boolean => /^\s*text\/csv\s*(?:[;,]|$)/i.test(headers["accept"] ?? "")

/** A page of CSV has its cursor in a link (RFC 8288). */
const nextPage = (url: string, cursor: string): string => {
  const [path = "", query = ""] = url.split("?", 2)
  const fields = new URLSearchParams(query)
  fields.set("cursor", cursor)
  return `<${path}?${fields}>; rel="next"`
}

const csvAnswer = (
  columns: ReadonlyArray<string>,
  { cursor, rows }: { readonly rows: ReadonlyArray<object>; readonly cursor: string | undefined },
  incoming: IncomingRequest
) =>
  HttpServerResponse.text(
    printCsv(
      columns,
      rows.map((row) => ({ ...row }))
    ),
    {
      contentType: "text/csv; charset=utf-8",
      headers: {
        ...baseHeaders(incoming),
        ...(cursor === undefined ? {} : { link: nextPage(incoming.url, cursor) })
      }
    }
  )

const usageRoute = keyedRoute(
  "GET",
  "/admin/v1/usage",
  Effect.gen(function* () {
    const log = yield* UsageLog
    const { keys } = yield* Administration
    const metadata = yield* CountedMetadata
    const page = usagePages(log, keys.nameOf)
    return ({ incoming }) =>
      Effect.flatMap(Effect.fromResult(usageQuery(incoming.url, metadata)), (query) =>
        Effect.flatMap(page(query), ({ cursor, rows }) =>
          asksCsv(incoming)
            ? Effect.succeed(csvAnswer(usageColumns(query), { cursor, rows }, incoming))
            : json(listOf(rows, cursor), incoming)
        )
      )
  }),
  "admin"
)

export const AdminHandlers = together(requestsRoute, RequestContents, usageRoute)

// GET /admin/v1/requests/events: the requests as they end, as server-sent events for as long as the key is good.

/** Requests of this time are one event. */
const turnMillis = 500

const noRequests: RecentRequests = { rows: [], skipped: 0 }

/** The event about new requests; empty where the filter takes none of them. */
const eventOf = ({ rows, skipped }: RecentRequests, query: RequestQuery): string => {
  const taken = rows.filter(takes(query))
  return taken.length === 0 && skipped === 0
    ? ""
    : frame(JSON.stringify({ object: "request_event", data: taken.map(shownRequest), skipped }), "requests")
}

/** A slow reader makes no queue: it gets fewer, larger events. */
const eventsAnswer = (incoming: IncomingRequest, events: Stream.Stream<string>) => {
  const { exchange, method, pingMillis } = incoming
  const headers = eventStreamHeaders(baseHeaders(incoming))
  return method === "HEAD"
    ? Effect.succeed(HttpServerResponse.empty({ status: 200, headers }))
    : exchange.stream(events, {
        headers,
        render: (read) => read.join(""),
        ending: "",
        errorFrame: () => "",
        ping: { frame: pingFrame, millis: pingMillis }
      })
}

/** True while the key of the request may read. A store that does not answer is no reason to end. */
const isStillKnown = ({ known }: Call): Effect.Effect<boolean> =>
  Effect.match(known, {
    onSuccess: ({ key }) => key.scopes.includes("admin"),
    onFailure: ({ _tag }) => _tag === "StoreUnavailable"
  })

export const RequestEvents = keyedRoute(
  "GET",
  "/admin/v1/requests/events",
  Effect.gen(function* () {
    const log = yield* UsageLog
    const metadata = yield* CountedMetadata
    const traffic = yield* Traffic
    return Effect.fnUntraced(function* (call) {
      const { incoming } = call
      const query = yield* Effect.fromResult(eventsQuery(incoming.url, metadata))
      const read = yield* log.follow(query.limit)
      /** The next event, or none for now; undefined ends the stream. */
      const turn = Effect.gen(function* () {
        yield* Effect.sleep(turnMillis)
        if (traffic.drainingSince !== undefined || !(yield* isStillKnown(call))) return undefined
        return eventOf(yield* Effect.orElseSucceed(read, () => noRequests), query)
      })
      // The first frame sends the headers.
      const events = Stream.fromEffectRepeat(turn).pipe(
        Stream.takeWhile((text) => text !== undefined),
        Stream.prepend([pingFrame])
      )
      return yield* eventsAnswer(incoming, events)
    })
  }),
  "admin"
)
