// The reports of the admin API: the latest requests, one of them with its cost and its captured content, requests as they end, and the usage of all.
// It must not depend on how requests run, are counted or kept.
import * as Effect from "effect/Effect"
import { Prices } from "../../catalog/Prices.ts"
import {
  type ContentText,
  endedMillisOf,
  type KeptContent,
  type RequestRow,
  usageOfRow
} from "../../domain/RequestRow.ts"
import { invoice } from "../../domain/Usage.ts"
import { ContentStore } from "../../store/ContentStore.ts"
import { actorOf, adminRoute, listAnswer, valueAnswer } from "./AdminRoute.ts"
import { shownCostLine, shownRequest, usageColumns, usagePages } from "./AdminRows.ts"
import { Administration } from "../../admin/Administration.ts"
import { withEndUser } from "../../accounting/EndUser.ts"
import { deleteRequests } from "../../admin/RequestDeletion.ts"
import type { AdminRequestContent } from "../../api/AdminResources.ts"
import { RecordUnknown } from "../../domain/GatewayError.ts"
import type { Call } from "../edge/GatewayAuth.ts"
import * as Context from "effect/Context"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { UsageLog } from "../../keys/UsageLog.ts"
import { printCsv } from "../../domain/text/printable.ts"
import { deletionQuery, eventsQuery, requestQuery, usageQuery } from "./adminQuery.ts"
import { together } from "../edge/Route.ts"
import { type IncomingRequest, pathUnknown } from "../request/IncomingRequest.ts"
import { baseHeaders, eventStreamHeaders } from "../response/responseHeaders.ts"
import * as Stream from "effect/Stream"
import { type RecentRequests, type RequestQuery, takes } from "../../domain/usage/usageSums.ts"
import { frame, pingFrame } from "../../wire/frames.ts"
import { Traffic } from "../node/Traffic.ts"

/** The names of metadata by which requests are counted. */
export const CountedMetadata: Context.Reference<ReadonlyArray<string>> = Context.Reference<ReadonlyArray<string>>(
  "gateway/http/CountedMetadata",
  { defaultValue: () => [] }
)

const requestsRoute = adminRoute("GET", "/admin/v1/requests", function* ({ incoming }) {
  const query = yield* Effect.fromResult(requestQuery(incoming.url, yield* CountedMetadata))
  const { next, rows } = yield* (yield* UsageLog).requests(withEndUser(query))
  return listAnswer(rows.map(shownRequest), incoming, next)
})

const deletedRoute = adminRoute("DELETE", "/admin/v1/requests", function* (call) {
  const deletion = yield* Effect.fromResult(deletionQuery(call.incoming.url))
  return valueAnswer(yield* deleteRequests(deletion, actorOf(call)), call.incoming)
})

/** A request id has no other letters. */
const idGrammar = /^[\w-]{1,128}$/

/** The cost of a request line by line. Undefined without usage or price. Requests without usage do not load the price list. */
const costLines = Effect.fnUntraced(function* (row: RequestRow) {
  const { model, place, provider, usage } = row
  if (model === undefined || provider === undefined || usage === undefined) return undefined
  const { counted, load } = yield* Prices
  yield* load
  const price = counted(provider, model, endedMillisOf(row))?.price
  return price === undefined ? undefined : invoice(usageOfRow(usage), price, place).lines
})

/** One request in full: its row, its cost by the prices of the day on which it ended, and whether its content is kept. */
const shownInFull = Effect.fnUntraced(function* (row: RequestRow) {
  const lines = yield* costLines(row)
  const content = yield* (yield* ContentStore).find(row.id)
  return {
    ...shownRequest(row),
    cost_lines: lines?.map(shownCostLine),
    has_content: content === undefined ? undefined : true
  }
})

const requestRoute = adminRoute("GET", "/admin/v1/requests/:id", function* ({ incoming }) {
  const id = incoming.path.split("/")[4] ?? ""
  if (!idGrammar.test(id)) return yield* pathUnknown(incoming)
  const row = yield* (yield* UsageLog).request(id)
  if (row === undefined) return yield* new RecordUnknown({ kind: "request", id })
  return valueAnswer(yield* shownInFull(row), incoming)
})

// GET /admin/v1/requests/{id}/content: the captured bodies and answer of a request. Each read is in the audit log.

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
const contentRoute = adminRoute("GET", "/admin/v1/requests/:id/content", function* (call) {
  const id = call.incoming.path.split("/")[4] ?? ""
  const content = idGrammar.test(id) ? yield* (yield* ContentStore).find(id) : undefined
  if (content === undefined) return yield* new RecordUnknown({ kind: "request_content", id: id.slice(0, 128) })
  yield* (yield* Administration).noteRead(id, actorOf(call))
  return valueAnswer(shownContent(content), call.incoming)
})

// GET /admin/v1/usage: what all requests used, as JSON or CSV.

/** Whether the client takes CSV, and would not rather have JSON. */
const asksCsv = ({ headers }: IncomingRequest): boolean => /^\s*text\/csv\s*(?:[;,]|$)/i.test(headers["accept"] ?? "")

/** A page of CSV has its cursor in a link (RFC 8288), at the address that the client asked. */
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
        ...(cursor === undefined ? {} : { link: nextPage(incoming.exchange.url, cursor) })
      }
    }
  )

const usageRoute = adminRoute("GET", "/admin/v1/usage", function* ({ incoming }) {
  const query = yield* Effect.fromResult(usageQuery(incoming.url, yield* CountedMetadata))
  const { nameOf } = (yield* Administration).keys
  const { cursor, rows } = yield* usagePages(yield* UsageLog, nameOf)(query)
  return asksCsv(incoming)
    ? csvAnswer(usageColumns(query), { cursor, rows }, incoming)
    : listAnswer(rows, incoming, cursor)
})

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

const eventsRoute = adminRoute("GET", "/admin/v1/requests/events", function* (call) {
  const traffic = yield* Traffic
  const query = withEndUser(yield* Effect.fromResult(eventsQuery(call.incoming.url, yield* CountedMetadata)))
  const read = yield* (yield* UsageLog).follow(query.limit)
  /** The next event, or none for now; undefined ends the stream. */
  const turn = Effect.gen(function* () {
    yield* Effect.sleep(turnMillis)
    if (traffic.drainingSince !== undefined || !(yield* isStillKnown(call))) return undefined
    return eventOf(yield* Effect.orElseSucceed(read, () => noRequests), query)
  })
  // The first frame sends the headers.
  const events = Stream.fromEffectRepeat(turn).pipe(
    Stream.takeWhile((text) => text !== undefined),
    Stream.filter((text) => text !== ""),
    Stream.prepend([pingFrame])
  )
  return yield* eventsAnswer(call.incoming, events)
})

export const AdminReports = together(requestsRoute, deletedRoute, requestRoute, contentRoute, usageRoute, eventsRoute)
