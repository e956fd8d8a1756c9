// The reports of the admin API: the latest requests and the usage of all requests.
// It must not depend on how requests run or are counted.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Administration } from "../../admin/Administration.ts"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { printCsv } from "../../domain/text/csv.ts"
import { requestQuery, usageQuery } from "./adminQuery.ts"
import { requestDetails } from "./RequestDetails.ts"
import { RequestContents } from "./RequestContents.ts"
import { listOf, shownRequest, usageColumns } from "./adminRows.ts"
import { usagePages } from "./UsagePages.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { baseHeaders } from "../response/baseHeaders.ts"
import { json } from "../response/Reply.ts"
import { allowedMethods } from "../edge/routes.ts"

const list = "/admin/v1/requests"

/** Effect's wildcard takes the path without its rest as well. */
const requests = keyedRoute(
  "GET",
  `${list}/*`,
  Effect.gen(function* () {
    const log = yield* UsageLog
    const metadata = yield* CountedMetadata
    const details = yield* requestDetails
    return ({ incoming }) => {
      if (incoming.path === list) {
        return Effect.flatMap(Effect.fromResult(requestQuery(incoming.url, metadata)), (query) =>
          Effect.flatMap(log.requests(query), ({ next, rows }) => json(listOf(rows.map(shownRequest), next), incoming))
        )
      }
      if (allowedMethods(incoming.path).length === 0)
        return Effect.fail(new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) }))
      const id = incoming.path.slice(list.length + 1)
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

const csv = (
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

const usage = keyedRoute(
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
            ? Effect.succeed(csv(usageColumns(query), { cursor, rows }, incoming))
            : json(listOf(rows, cursor), incoming)
        )
      )
  }),
  "admin"
)

export const AdminHandlers = together(requests, RequestContents, usage)
