// The queries that the lists of the admin API take: from the query of a URL to checked values.
// It must not depend on what answers them.
import * as Result from "effect/Result"
import { isNoId } from "../../admin/resourceReader.ts"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { mostGraceSeconds } from "../../domain/GatewayKey.ts"
import { type NativeCall, readNativePath } from "../../domain/native/nativePath.ts"
import { parseJsonText } from "../../domain/text/json.ts"
import { isDay, momentMillis } from "../../domain/time.ts"
import {
  bucketNames,
  seriesGroupings,
  type SeriesQuery,
  type SeriesScope,
  type TopQuery,
  topSums
} from "../../domain/usage/usageSeries.ts"
import {
  type Grouping,
  groupings,
  isPlain,
  type RequestDeletion,
  type RequestQuery,
  type UsageQuery
} from "../../domain/usage/usageSums.ts"

const invalid = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_value", param, message: `${param} ${message}` }))

/** The fields of a query; a name that is not among those known is refused, for it would be passed over in silence. */
const read = <Name extends string>(
  url: string,
  names: ReadonlyArray<Name>
): Result.Result<{ readonly [Key in Name]?: string }, BodyInvalid> => {
  const at = url.indexOf("?")
  const fields: { [Key in Name]?: string } = {}
  for (const [name, value] of new URLSearchParams(at < 0 ? "" : url.slice(at + 1))) {
    const known = names.find((one) => one === name)
    if (known === undefined) return invalid(name.slice(0, 64), `is not known here; there are ${names.join(", ")}.`)
    fields[known] = value
  }
  return Result.succeed(fields)
}

const whole = (name: string, text: string | undefined, most: number): Result.Result<number | undefined, BodyInvalid> =>
  text === undefined
    ? Result.succeed(undefined)
    : /^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= most
      ? Result.succeed(Number(text))
      : invalid(name, `is a whole number from 1 to ${most}.`)

const mostRows = 1000
const usualRows = 100

/** A page of any list. */
export const pageQuery = (
  url: string
): Result.Result<{ readonly limit: number; readonly cursor: string | undefined }, BodyInvalid> =>
  Result.gen(function* () {
    const { cursor, limit } = yield* read(url, ["limit", "cursor"])
    if (cursor !== undefined && isNoId(cursor))
      return yield* invalid("cursor", "is the next_cursor of the page before.")
    return { limit: (yield* whole("limit", limit, mostRows)) ?? usualRows, cursor }
  })

const name = (field: string, text: string | undefined): Result.Result<string | undefined, BodyInvalid> =>
  text === undefined || !isNoId(text)
    ? Result.succeed(text)
    : invalid(field, "is a name of at most 256 characters, without control characters.")

/** The filters whose values are names. */
const namedFilters = [
  ["provider", "provider"],
  ["model", "model"],
  ["key", "key"],
  ["user", "user"],
  ["route", "route"],
  ["client", "client"],
  ["config", "config"],
  ["cache", "cache"],
  ["error", "error"],
  ["request_id", "requestId"],
  ["trace_id", "traceId"]
] as const
const filterNames = [
  "status",
  ...namedFilters.map(([name]) => name),
  "min_duration_ms",
  "min_cost_usd",
  "since",
  "until",
  "limit",
  "cursor"
] as const

const dollars = (name: string, text: string | undefined): Result.Result<number | undefined, BodyInvalid> =>
  text === undefined
    ? Result.succeed(undefined)
    : /^\d{1,9}(\.\d{1,9})?$/.test(text)
      ? Result.succeed(Math.ceil(Number((Number(text) * 1000 * 1000).toFixed(3))))
      : invalid(name, "is an amount in US dollars, such as 0.05.")

/** `metadata` has the names by which the operator counts, which are those of the rows. */
export const requestQuery = (url: string, metadata: ReadonlyArray<string>): Result.Result<RequestQuery, BodyInvalid> =>
  Result.gen(function* () {
    const counted = metadata.map((one) => `metadata.${one}` as const)
    const fields = yield* read<(typeof filterNames)[number] | `metadata.${string}`>(url, [...filterNames, ...counted])
    const named: { [Field in (typeof namedFilters)[number][1]]?: string | undefined } = {}
    for (const [from, to] of namedFilters) named[to] = yield* name(from, fields[from])
    const values: Array<readonly [string, string]> = []
    for (const one of metadata) {
      const value = yield* name(`metadata.${one}`, fields[`metadata.${one}`])
      if (value !== undefined) values.push([one, value])
    }
    return {
      ...named,
      status: yield* whole("status", fields.status, 599),
      metadata: values,
      minDurationMillis: yield* whole("min_duration_ms", fields.min_duration_ms, Number.MAX_SAFE_INTEGER),
      minCostMicros: yield* dollars("min_cost_usd", fields.min_cost_usd),
      since: yield* moment("since", fields.since),
      until: yield* moment("until", fields.until),
      limit: (yield* whole("limit", fields.limit, mostRows)) ?? usualRows,
      cursor: yield* whole("cursor", fields.cursor, Number.MAX_SAFE_INTEGER)
    }
  })

/** The filters of events, and the most requests of one of them. */
export const eventsQuery = (url: string, metadata: ReadonlyArray<string>): Result.Result<RequestQuery, BodyInvalid> =>
  Result.flatMap(requestQuery(url, metadata), (query) =>
    query.cursor === undefined
      ? Result.succeed(query)
      : invalid("cursor", "has no meaning here; events begin with the requests that end from now on.")
  )

/** Which requests are deleted. */
export const deletionQuery = (
  url: string
): Result.Result<RequestDeletion & { readonly user: string | undefined }, BodyInvalid> =>
  Result.gen(function* () {
    const fields = yield* read(url, ["user", "key", "before"])
    const deletion = {
      user: yield* name("user", fields.user),
      key: yield* name("key", fields.key),
      until: yield* moment("before", fields.before)
    }
    return Object.values(deletion).every((value) => value === undefined)
      ? yield* invalid("before", "is required, or key or user is: requests are not deleted all together.")
      : deletion
  })

/** The routes whose bodies a dry run reads. */
export const dryRunRoutes = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/images/generations"
] as const

export interface DryRunQuery {
  /** A route of the gateway, or a call in a dialect of Google's, whose path names the model. */
  readonly route: (typeof dryRunRoutes)[number] | NativeCall
  readonly path: string
  /** What follows the path of such a call. */
  readonly query: string
  readonly key: string | undefined
  readonly config: string | undefined
  readonly provider: string | undefined
}

export const dryRunQuery = (url: string): Result.Result<DryRunQuery, BodyInvalid> =>
  Result.gen(function* () {
    const fields = yield* read(url, ["route", "key", "config", "provider"])
    const [path = "", query = ""] = (fields.route ?? dryRunRoutes[0]).split("?")
    const native = readNativePath("POST", path, true)
    const route = dryRunRoutes.find((known) => known === path) ?? (native?._tag === "Call" ? native : undefined)
    if (route === undefined)
      return yield* invalid(
        "route",
        `is one of ${dryRunRoutes.join(", ")}, or the path of a call to Google, such as /v1beta/models/gemini-3.8-flash:generateContent.`
      )
    return {
      route,
      path,
      query,
      key: yield* name("key", fields.key),
      config: yield* name("config", fields.config),
      provider: yield* name("provider", fields.provider)
    }
  })

const day = (name: string, text: string | undefined): Result.Result<string | undefined, BodyInvalid> =>
  text === undefined || isDay(text) ? Result.succeed(text) : invalid(name, "is a day, such as 2027-01-31.")

/** The cursor of a page of sums in a URL. */
export const usageCursor = (values: ReadonlyArray<string>): string =>
  Buffer.from(JSON.stringify(values)).toString("base64url")

const readUsageCursor = (text: string, dimensions: number): Result.Result<ReadonlyArray<string>, BodyInvalid> => {
  const values = parseJsonText(Buffer.from(text, "base64url").toString())
  return Result.isSuccess(values) && isTexts(values.success) && values.success.length === dimensions
    ? Result.succeed(values.success)
    : invalid("cursor", "is the next_cursor of the page before, of the same query.")
}

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => one === "" || (typeof one === "string" && !isNoId(one)))

/** The cursor of a page of points in a URL. */
export const seriesCursor = ({ name, startMillis }: NonNullable<SeriesQuery["cursor"]>): string =>
  usageCursor([String(startMillis), name])

const readSeriesCursor = (text: string): Result.Result<SeriesQuery["cursor"], BodyInvalid> =>
  Result.flatMap(readUsageCursor(text, 2), ([start = "", name = ""]) =>
    /^\d{1,15}$/.test(start)
      ? Result.succeed({ startMillis: Number(start), name })
      : invalid("cursor", "is the next_cursor of the page before, of the same query.")
  )

const moment = (name: string, text: string | undefined): Result.Result<number | undefined, BodyInvalid> => {
  const millis = text === undefined ? undefined : momentMillis(text)
  return text !== undefined && millis === undefined
    ? invalid(name, "is a moment as RFC 3339 has it, such as 2027-01-31T12:00:00Z.")
    : Result.succeed(millis)
}

type UsageField = (typeof usageFields)[number] | Grouping
type UsageFields = { readonly [Name in UsageField]?: string }
const usageFields = ["bucket", "from", "to", "group_by", "top", "limit", "cursor"] as const

/** The dimensions of sums, with the names of metadata that the operator counts. */
const dimensionsOf = (metadata: ReadonlyArray<string>): ReadonlyArray<Grouping> => [
  ...groupings,
  ...metadata.map((name) => `metadata.${name}` as const)
]

/** What a grouping is, and the setting that adds to the dimensions. */
const groupingRule = (dimensions: ReadonlyArray<Grouping>): string =>
  `is any of ${dimensions.join(", ")}, joined by commas${dimensions.every(isPlain) ? "; telemetry.usage_metadata adds names of metadata" : ""}.`

/** Usage over time, or the values of a dimension with the highest sums. */
const seriesQuery = (fields: UsageFields): Result.Result<SeriesQuery | TopQuery, BodyInvalid> =>
  Result.gen(function* () {
    const bucket = bucketNames.find((one) => one === fields.bucket)
    if (bucket === undefined) return yield* invalid("bucket", `is one of ${bucketNames.join(", ")}.`)
    const grouping = seriesGroupings.find((one) => one === fields.group_by)
    if (grouping === undefined && fields.group_by !== undefined)
      return yield* invalid("group_by", `is with a bucket one of ${seriesGroupings.join(", ")}.`)
    const scope: SeriesScope = grouping ?? "all"
    const query = {
      bucket,
      scope,
      from: yield* moment("from", fields.from),
      to: yield* moment("to", fields.to),
      limit: (yield* whole("limit", fields.limit, mostRows)) ?? mostRows
    }
    if (fields.top === undefined)
      return { ...query, cursor: fields.cursor === undefined ? undefined : yield* readSeriesCursor(fields.cursor) }
    const top = topSums.find((one) => one === fields.top)
    if (top === undefined) return yield* invalid("top", `is one of ${topSums.join(", ")}.`)
    if (fields.cursor !== undefined) return yield* invalid("cursor", "has no meaning with top, which is one page.")
    return { ...query, top }
  })

/** Sums of whole days, by any dimensions. */
const daysQuery = (fields: UsageFields, dimensions: ReadonlyArray<Grouping>): Result.Result<UsageQuery, BodyInvalid> =>
  Result.gen(function* () {
    if (fields.top !== undefined) return yield* invalid("top", "needs a bucket: minute, hour or day.")
    const groupBy: Array<Grouping> = []
    for (const asked of fields.group_by?.split(",") ?? ["day"]) {
      const grouping = dimensions.find((one) => one === asked)
      if (grouping === undefined) return yield* invalid("group_by", groupingRule(dimensions))
      if (!groupBy.includes(grouping)) groupBy.push(grouping)
    }
    const where: Array<readonly [Grouping, string]> = []
    for (const dimension of dimensions) {
      const value = yield* name(dimension, fields[dimension])
      if (value !== undefined) where.push([dimension, value])
    }
    return {
      from: yield* day("from", fields.from),
      to: yield* day("to", fields.to),
      where,
      groupBy,
      limit: (yield* whole("limit", fields.limit, mostRows)) ?? mostRows,
      cursor: fields.cursor === undefined ? undefined : yield* readUsageCursor(fields.cursor, groupBy.length)
    }
  })

/** `metadata` has the names by which the operator counts. */
export const usageQuery = (
  url: string,
  metadata: ReadonlyArray<string>
): Result.Result<UsageQuery | SeriesQuery | TopQuery, BodyInvalid> => {
  const dimensions = dimensionsOf(metadata)
  return Result.flatMap(
    read<UsageField>(url, [...usageFields, ...dimensions]),
    (fields): Result.Result<UsageQuery | SeriesQuery | TopQuery, BodyInvalid> => {
      if (fields.bucket === undefined) return daysQuery(fields, dimensions)
      const filter = dimensions.find((one) => fields[one] !== undefined)
      return filter === undefined
        ? seriesQuery(fields)
        : invalid(filter, "selects sums of whole days; leave out bucket.")
    }
  )
}

/** The names of metrics to list; undefined: all of them. */
export const metricsQuery = (url: string): Result.Result<ReadonlySet<string> | undefined, BodyInvalid> =>
  Result.map(read(url, ["name"]), ({ name }) => (name === undefined ? undefined : new Set(name.split(","))))

/** How long the old text of a rotated key is taken. */
export const rotateQuery = (url: string): Result.Result<number, BodyInvalid> =>
  Result.flatMap(read(url, ["grace_seconds"]), ({ grace_seconds: text }) =>
    Result.map(whole("grace_seconds", text, mostGraceSeconds), (seconds = 0) => seconds)
  )

/** The model of which facts are asked, as clients write it. */
export const factsQuery = (url: string): Result.Result<{ readonly model: string }, BodyInvalid> =>
  Result.gen(function* () {
    const model = yield* name("model", (yield* read(url, ["model"])).model)
    return model === undefined || model === ""
      ? yield* invalid("model", "is required: the id of a model, such as gemini-3.8-flash.")
      : { model }
  })
